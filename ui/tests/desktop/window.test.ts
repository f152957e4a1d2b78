// The real window: the built program on a display, the real engine with the small model, a real repository, real git.
// What takes a good patch is shown on a run that was recorded with a larger model.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Desk, type Window } from './desk'

/** A run of the small model takes this long on a machine that does other things as well. */
const A_RUN = 1_200_000
/**
 * As little work as a run can be. One thread: two would wait for each other wherever something else takes a core from
 * one of them.
 */
const SMALL = { default_model: 'smollm2-135m', top_k: 2, max_rounds: 1, threads: 1 }
const RECORDED = fileURLToPath(new URL('empty_report.run.json', import.meta.url))
const ISSUE =
  'list --until leaves out that day\n\n`tally list --until 2024-05-31` shows nothing of May 31st, only what was before.'

type Row = { id: number; root: string; status: string; head: { kind: string; name?: string } }

const folder = mkdtempSync(join(tmpdir(), 'magis-window-'))
const desk = new Desk()
let window: Window

const data = (): string => join(folder, 'data')
const sample = async (): Promise<Row> => {
  const [row] = await window.ask<Row[]>('repositories', {})
  if (row === undefined) throw new Error('there is no repository')
  return row
}
const git = (root: string, ...words: string[]): string =>
  execFileSync('git', ['-C', root, ...words], { encoding: 'utf8' })
const statusOf = async (run: number): Promise<string> =>
  (await window.ask<{ row: Row }>('run_view', { run })).row.status

beforeAll(async () => {
  await desk.open()
  window = await desk.start(data())
})
afterAll(async () => {
  await desk.close()
  rmSync(folder, { recursive: true, force: true })
})

test('the first start leads to a repository in one step', async () => {
  await window.reads('Your first issue')
  await window.click('Use the sample')
  await window.reads('tally is the current repository')
  expect((await sample()).head.kind).toBe('branch')
})

test(
  'an issue is pasted and solved; a run that is stopped goes on, also after the program was killed',
  async () => {
    const settings = await window.ask<Record<string, unknown>>('settings', {})
    await window.ask('put_settings', { settings: { ...settings, ...SMALL } })
    await window.press('Control+1')
    await window.fill('Issue', ISSUE)
    await window.press('Control+Enter')
    await window.click('Stop')
    await window.click('Resume')
    await expect.poll(() => statusOf(1), { timeout: A_RUN, interval: 500 }).toBe('running')

    window.kill()
    await window.close().catch(() => undefined)
    window = await desk.start(data())
    expect(await statusOf(1)).toBe('interrupted')
    await window.press('Control+2')
    await window.reads('Interrupted')
    await window.ask('resume_run', { run: 1 })
    await expect
      .poll(() => statusOf(1), { timeout: A_RUN, interval: 500 })
      .toMatch(/^(approved|not_approved|no_change)$/)
  },
  2 * A_RUN,
)

test('a recorded run is taken in, reviewed hunk by hunk, applied to a branch and taken back', async () => {
  const { root } = await sample()
  const before = git(root, 'rev-parse', 'HEAD')
  git(root, 'config', 'user.name', 'Ana')
  git(root, 'config', 'user.email', 'ana@example.org')
  await window.ask('import_run', { path: RECORDED })
  await find('nothing to report')
  await window.press('r')
  await window.reads('def table(sums)')
  await window.press('x')
  await window.press('a')
  await window.choose('Choose the repository…', 'tally')
  await window.reads('Apply 1 of 2 hunks in 1 file to new branch')
  await window.click('Apply')
  await window.reads('On branch ')

  const branch = git(root, 'branch', '--format=%(refname:short)', '--list', 'magis/*').trim()
  expect(branch).not.toBe('')
  const change = git(root, 'diff', `${before.trim()}..${branch}`)
  expect(change).toContain('+    if not sums:')
  expect(change).not.toContain('+    if sums:')
  expect(git(root, 'status', '--porcelain')).toBe('')

  await window.click('Undo')
  await window.reads('Taken back')
  expect(git(root, 'branch', '--list', 'magis/*')).toBe('')
})

test('a run is found by its words and exported', async () => {
  await find('nothing to report')
  const path = join(folder, 'run.md')
  await window.ask('export_run', { run: 2, format: 'markdown', path })
  expect(readFileSync(path, 'utf8')).toContain('nothing to report')
})

/** Goes to the list of runs, searches, and puts the focus on the first run found. */
async function find(words: string): Promise<void> {
  await window.press('Control+2')
  await window.fill('Search issues, words, files and patches', words)
  await window.reads('1 run found')
  await window.press('Enter')
}
