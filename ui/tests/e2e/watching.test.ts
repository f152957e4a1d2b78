// The current repository is watched: what memory and the list of repositories show of it, and the summaries made in
// advance.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { WatchView } from '../../src/ipc/types'
import { go, ground, open, settled, type Ground } from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

const asked = (page: Page, name: string): Promise<unknown[][]> =>
  page.evaluate((wanted) => window.magis.asked.filter((one) => one.name === wanted).map((one) => one.given), name)
const view: WatchView = {
  repo: 1,
  polling: null,
  index: { kind: 'right', files: 1_482, took_ms: 44 },
  unreadable: null,
  memory: null,
  summarising: { kind: 'off' },
  described: 0,
  spent: 0,
  problem: null,
}
const say = (page: Page, change: Partial<WatchView>): Promise<void> =>
  page.evaluate((view) => window.magis.emit({ name: 'watchChanged', payload: { view } }), { ...view, ...change })

test('files are summarised when idle once a person wants it, within a budget, and a pause ends it', async () => {
  const { page } = await open(on)
  await go(page, 'memory')
  await settled(page)
  const summarising = page.getByRole('group', { name: 'Summarise when idle' })
  await summarising.getByRole('button', { name: 'Summarise when idle' }).click()
  await summarising.getByText(/^Summarising /).waitFor()
  await summarising.getByText('3 written, 4.2k tokens').waitFor()
  await summarising.getByRole('combobox', { name: /^Token limit/ }).click()
  await page.getByRole('option', { name: 'No limit' }).click()
  await expect
    .poll(async () => (await asked(page, 'putSettings')).at(-1))
    .toMatchObject([{ summarise_when_idle: true, summarise_tokens: null, summarise_minutes: 30 }])
  await summarising.getByRole('button', { name: 'Pause' }).click()
  await summarising.getByRole('button', { name: 'Summarise when idle' }).waitFor()
  expect((await asked(page, 'putSettings')).at(-1)).toMatchObject([{ summarise_when_idle: false }])
  await page.context().close()
})

test('why nothing is summarised is said, and a spent budget can be reset', async () => {
  const { page } = await open(on)
  await go(page, 'memory')
  const summarising = page.getByRole('group', { name: 'Summarise when idle' })
  await summarising.getByRole('button', { name: 'Summarise when idle' }).click()
  await summarising.getByRole('button', { name: 'Pause' }).waitFor()
  await say(page, { summarising: { kind: 'waiting', why: 'run' } })
  await summarising.getByText('Waiting for the run').waitFor()
  await say(page, { summarising: { kind: 'waiting', why: 'tokens' } })
  const before = (await asked(page, 'putSettings')).length
  await summarising.getByRole('button', { name: 'Reset the budget' }).click()
  await expect.poll(async () => (await asked(page, 'renewSummarisationBudget')).length).toBe(1)
  expect((await asked(page, 'putSettings')).length, 'it is not switched off in between').toBe(before)
  await page.context().close()
})

test('files that need no summary are counted apart, and each says why', async () => {
  const { page } = await open(on)
  await go(page, 'memory')
  await settled(page)
  const lead = await page.getByText(/have a current one: \d+ of \d+\.$/).textContent()
  const tab = page.getByRole('tab', { name: /^Not needed/ })
  const numbers = (text: string | null): number[] => (text ?? '').match(/\d+/g)?.map(Number) ?? []
  const [all, needless] = [numbers(lead).at(-1) ?? 0, numbers(await tab.textContent()).at(-1) ?? 0]
  expect(needless).toBeGreaterThan(2)
  await page.getByText(`${String(all + needless)} files`, { exact: true }).waitFor()
  await tab.click()
  await page.getByText(`${String(needless)} files`, { exact: true }).waitFor()
  const files = page.getByRole('grid', { name: 'Files of the repository' })
  await files.getByText('month.png').click()
  await page.getByText('it is not text that a run reads').waitFor()
  await page.getByRole('searchbox', { name: 'Filter by path' }).fill('setup.cfg')
  await files.getByText('setup.cfg').click()
  await page.getByText('it is short enough to be read whole').waitFor()
  expect(await page.getByRole('button', { name: 'Summarise now' }).count()).toBe(0)
  await page.context().close()
})

test('the list of repositories shows live how the index of the current one stands', async () => {
  const { page } = await open(on)
  await go(page, 'repositories')
  await settled(page)
  expect(await asked(page, 'watchRepository')).toHaveLength(1)
  const detail = page.getByRole('complementary')
  await detail.getByText('Reported by the system.').waitFor()
  await say(page, { index: { kind: 'reading', done: 312, total: 1_482 } })
  await detail.getByText('Indexing: 312 of 1,482 done.').waitFor()
  await say(page, {})
  await detail.getByText('Up to date, 1,482 files.').waitFor()
  await say(page, {
    polling: {
      code: 'watch_folders',
      message: 'The repository has more folders than the system lets you watch.',
      remedy: "Run 'sudo sysctl fs.inotify.max_user_watches=524288'.",
    },
  })
  await detail.getByText('max_user_watches=524288').waitFor()
  await say(page, { unreadable: { count: 5, first: ['keys/a.pem', 'keys/b.pem', 'keys/c.pem'] } })
  await detail
    .getByText('5 files that the system does not let Magis read: keys/a.pem, keys/b.pem, keys/c.pem and 2 more')
    .waitFor()
  await say(page, {})
  await detail.getByText('keys/a.pem').waitFor({ state: 'detached' })
  await page.context().close()
})
