// The real transport over a Tauri that is played: problems are thrown, and following ends when it should.
import { beforeEach, expect, test, vi } from 'vitest'
import { IpcError, problemOf } from '../../src/ipc/ipc'

const tauri = vi.hoisted(() => ({
  asked: [] as [string, unknown][],
  listeners: new Map<string, (event: unknown) => void>(),
  answer: (): Promise<unknown> => Promise.resolve(null),
}))
const invoke = (name: string, given: unknown): Promise<unknown> => {
  tauri.asked.push([name, given])
  return tauri.answer()
}
vi.mock('@tauri-apps/api/core', () => ({
  invoke: (name: string, given: unknown) => invoke(name, given),
  Channel: class {
    onmessage: ((news: unknown) => void) | null = null
  },
}))
vi.mock('@tauri-apps/api/event', () => ({
  listen: async (name: string, handler: (event: unknown) => void) => {
    tauri.listeners.set(name, handler)
    return () => tauri.listeners.delete(name)
  },
  TauriEvent: { DRAG_ENTER: 'enter', DRAG_OVER: 'over', DRAG_DROP: 'drop', DRAG_LEAVE: 'leave' },
}))
vi.mock('@tauri-apps/plugin-dialog', () => ({ open: vi.fn(), save: vi.fn() }))

const { ipc } = await import('../../src/ipc/transport')

beforeEach(() => {
  tauri.asked.length = 0
  tauri.answer = () => Promise.resolve(null)
})

test('a problem from Rust is thrown with its sentence and remedy', async () => {
  tauri.answer = () => Promise.reject({ code: 'gone', message: 'The folder is gone.', remedy: 'Bring it back.' })
  const thrown: unknown = await ipc.repositories().catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(IpcError)
  expect(problemOf(thrown)).toEqual({ code: 'gone', message: 'The folder is gone.', remedy: 'Bring it back.' })
})

test('what Tauri itself refuses is a problem, too', async () => {
  tauri.answer = () => Promise.reject('command not allowed')
  expect(problemOf(await ipc.models().catch((error: unknown) => error))).toEqual({
    code: 'ipc',
    message: 'command not allowed',
    remedy: null,
  })
  tauri.answer = () => Promise.reject(new Error('no window'))
  expect(problemOf(await ipc.models().catch((error: unknown) => error))).toEqual({
    code: 'ipc',
    message: 'no window',
    remedy: null,
  })
})

test('a command gets its arguments by the names Rust knows', async () => {
  await ipc.openInEditor(3, 'src/a.py', 12)
  expect(tauri.asked).toEqual([['open_in_editor', { repo: 3, path: 'src/a.py', line: 12 }]])
})

test('an old screen that leaves does not end what a new one follows', () => {
  const old = ipc.followRun(7, () => undefined)
  const next = ipc.followRun(7, () => undefined)
  old()
  expect(tauri.asked.map(([name]) => name)).not.toContain('unfollow_run')
  next()
  next()
  expect(tauri.asked.filter(([name]) => name === 'unfollow_run')).toHaveLength(1)
})

test('a run that cannot be followed says so as news', async () => {
  tauri.answer = () => Promise.reject({ code: 'no_run', message: 'There is no run 9.', remedy: null })
  const news = await new Promise((heard) => ipc.followRun(9, heard))
  expect(news).toEqual({ kind: 'problem', problem: { code: 'no_run', message: 'There is no run 9.', remedy: null } })
})

test("what is dragged is told in the page's own pixels, until nobody listens", async () => {
  vi.stubGlobal('devicePixelRatio', 2)
  const told: unknown[] = []
  const stop = ipc.onDrop((news) => told.push(news))
  tauri.listeners.get('enter')?.({ payload: { paths: ['/a'], position: { x: 10, y: 20 } } })
  tauri.listeners.get('drop')?.({ payload: { paths: ['/a'], position: { x: 30, y: 40 } } })
  tauri.listeners.get('leave')?.({ payload: null })
  expect(told).toEqual([
    { kind: 'over', x: 5, y: 10 },
    { kind: 'dropped', paths: ['/a'], x: 15, y: 20 },
    { kind: 'left' },
  ])
  stop()
  await vi.waitFor(() => expect(tauri.listeners.size).toBe(0))
  vi.unstubAllGlobals()
})
