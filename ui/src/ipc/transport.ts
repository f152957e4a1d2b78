// Owns the calls to Tauri: each unwraps Rust's result and throws its problem as an IpcError.
// It keeps no state and knows no screen. Names and arguments are the contract's.
import { Channel } from '@tauri-apps/api/core'
import { listen, TauriEvent } from '@tauri-apps/api/event'
import { open, save } from '@tauri-apps/plugin-dialog'
import { commands, events } from './bindings'
import { IpcError, type Ipc, type Stop } from './ipc'
import type * as T from './types'

/** Every command, with its data unwrapped and its problem thrown. */
const unwrapped = Object.fromEntries(
  Object.entries(commands).map(([name, command]) => [
    name,
    (...given: unknown[]) => call((command as (...given: unknown[]) => Promise<Result<unknown>>)(...given)),
  ]),
) as unknown as T.Commands

export const ipc: Ipc = {
  ...unwrapped,

  followRun: (run, onUpdate) => {
    let following = true
    const turn = (turns.get(run) ?? 0) + 1
    turns.set(run, turn)
    const channel = new Channel<T.RunUpdate>()
    channel.onmessage = (update) => {
      if (following) onUpdate(update)
    }
    unwrapped.followRun(run, channel).catch((thrown: unknown) => {
      if (following && thrown instanceof IpcError) onUpdate({ kind: 'problem', problem: thrown.problem })
    })
    return () => {
      if (!following) return
      following = false
      // Rust has one follower a run: whoever followed later goes on.
      if (turns.get(run) === turn) unwrapped.unfollowRun(run).catch(() => undefined)
    }
  },
  fetchModel: (id, onNews) => {
    const channel = new Channel<T.FetchNews>()
    channel.onmessage = onNews
    return unwrapped.fetchModel(id, channel)
  },

  onEvent: (handlers) => all(Object.keys(events).map((name) => listenTo(name as T.AppEvent['name'], handlers))),
  onDrop: (handler) => {
    const over = ({ payload }: { payload: Dragged }): void => handler({ kind: 'over', ...place(payload) })
    return all([
      listen<Dragged>(TauriEvent.DRAG_ENTER, over),
      listen<Dragged>(TauriEvent.DRAG_OVER, over),
      listen<Dragged>(TauriEvent.DRAG_DROP, ({ payload }) =>
        handler({ kind: 'dropped', paths: payload.paths ?? [], ...place(payload) }),
      ),
      listen(TauriEvent.DRAG_LEAVE, () => handler({ kind: 'left' })),
    ])
  },

  pickFolder: (title) => open({ title, directory: true }),
  pickFile: (title, extensions) =>
    open({ title, filters: extensions.length > 0 ? [{ name: extensions.join(', '), extensions }] : [] }),
  pickSavePath: (title, name) => save({ title, defaultPath: name }),
}

/** Hears one kind of event; what is heard has the type that its own handler takes. */
function listenTo<Name extends T.AppEvent['name']>(name: Name, handlers: T.AppEventHandlers): Promise<() => void> {
  const handle = handlers[name] as (payload: unknown) => void
  return events[name].listen(({ payload }: { payload: unknown }) => handle(payload))
}

/** How often each run was followed, so that an old screen's leaving does not end a new one's following. */
const turns = new Map<T.RunId, number>()

type Result<Data> = { status: 'ok'; data: Data } | { status: 'error'; error: T.Problem }

async function call<Data>(result: Promise<Result<Data>>): Promise<Data> {
  let answer: Result<Data>
  try {
    answer = await result
  } catch (thrown) {
    throw new IpcError({
      code: 'ipc',
      message: thrown instanceof Error ? thrown.message : String(thrown),
      remedy: null,
    })
  }
  if (answer.status === 'ok') return answer.data
  // What Tauri itself refuses comes as plain text, not as one of Rust's problems.
  throw new IpcError(
    isProblem(answer.error) ? answer.error : { code: 'ipc', message: String(answer.error), remedy: null },
  )
}

function isProblem(thrown: unknown): thrown is T.Problem {
  return typeof thrown === 'object' && thrown !== null && 'code' in thrown && 'message' in thrown
}

/** One function that ends several subscriptions, also those that are still being made. */
function all(pending: Promise<() => void>[]): Stop {
  return () => {
    for (const one of pending) one.then((stop) => stop()).catch(() => undefined)
  }
}

type Dragged = { paths?: string[]; position: { x: number; y: number } }

/** Tauri gives device pixels; the page counts in its own. */
function place({ position }: Dragged): { x: number; y: number } {
  return { x: position.x / window.devicePixelRatio, y: position.y / window.devicePixelRatio }
}
