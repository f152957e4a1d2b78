// The repository at hand is watched: what memory and the list of repositories show of it, and the describing in advance.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { WatchView } from '../../src/ipc/types'
import { go, ground, open, settled, type Ground } from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

const asked = (page: Page, name: string): Promise<unknown[][]> => page.evaluate((wanted) => window.magis.asked.filter((one) => one.name === wanted).map((one) => one.given), name)
const view: WatchView = {
  repo: 1,
  polling: null,
  index: { kind: 'right', files: 1_482, took_ms: 44 },
  memory: null,
  warming: { kind: 'off' },
  described: 0,
  spent: 0,
  problem: null,
}
const say = (page: Page, change: Partial<WatchView>): Promise<void> => page.evaluate((view) => window.magis.emit({ kind: 'watch_changed', view }), { ...view, ...change })

test('files are described when idle once a person wants it, within a budget, and a pause ends it', async () => {
  const { page } = await open(on)
  await go(page, 'memory')
  await settled(page)
  const warming = page.getByRole('group', { name: 'Describe when idle' })
  await warming.getByRole('button', { name: 'Describe when idle' }).click()
  await warming.getByText(/^Describing /).waitFor()
  await warming.getByText('3 described, 4.2k tokens').waitFor()
  await warming.getByRole('combobox', { name: /^Tokens at most/ }).click()
  await page.getByRole('option', { name: 'No limit' }).click()
  await expect.poll(async () => (await asked(page, 'putSettings')).at(-1)).toMatchObject([{ warm: true, warm_tokens: null, warm_minutes: 30 }])
  await warming.getByRole('button', { name: 'Pause' }).click()
  await warming.getByRole('button', { name: 'Describe when idle' }).waitFor()
  expect((await asked(page, 'putSettings')).at(-1)).toMatchObject([{ warm: false }])
  await page.context().close()
})

test('why nothing is described is said, and a spent budget can be given again', async () => {
  const { page } = await open(on)
  await go(page, 'memory')
  const warming = page.getByRole('group', { name: 'Describe when idle' })
  await warming.getByRole('button', { name: 'Describe when idle' }).click()
  await warming.getByRole('button', { name: 'Pause' }).waitFor()
  await say(page, { warming: { kind: 'resting', why: 'run' } })
  await warming.getByText('Waits for the run').waitFor()
  await say(page, { warming: { kind: 'resting', why: 'tokens' } })
  const before = (await asked(page, 'putSettings')).length
  await warming.getByRole('button', { name: 'Give the budget again' }).click()
  await expect.poll(async () => (await asked(page, 'putSettings')).slice(before)).toMatchObject([[{ warm: false }], [{ warm: true }]])
  await page.context().close()
})

test('the list of repositories shows live how the index of the one at hand stands', async () => {
  const { page } = await open(on)
  await go(page, 'repositories')
  await settled(page)
  expect(await asked(page, 'watchRepository')).toHaveLength(1)
  const detail = page.getByRole('complementary')
  await detail.getByText('The system tells of each.').waitFor()
  await say(page, { index: { kind: 'reading', done: 312, total: 1_482 } })
  await detail.getByText('Reading 312 of 1,482 files.').waitFor()
  await say(page, {})
  await detail.getByText('1,482 files, right 44 ms after the last change.').waitFor()
  await say(page, { polling: { code: 'watch_folders', message: 'The repository has more folders than the system lets you watch.', remedy: "Run 'sudo sysctl fs.inotify.max_user_watches=524288'." } })
  await detail.getByText('max_user_watches=524288').waitFor()
  await page.context().close()
})
