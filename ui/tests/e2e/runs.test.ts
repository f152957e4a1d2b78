// The list of runs as a place to work in: finding, ordering, comparing, tagging, deleting, carrying elsewhere, running
// again.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { go, ground, open, settled, type Ground, type Look } from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

const last = (page: Page, name: string): Promise<unknown[] | undefined> =>
  page.evaluate(
    (wanted) =>
      window.magis.asked
        .filter((one) => one.name === wanted)
        .map((one) => one.given)
        .at(-1),
    name,
  )

async function openRuns(look: Look = {}): Promise<Page> {
  const { page } = await open(on, { width: 1600, ...look })
  page.setDefaultTimeout(10_000)
  await go(page, 'runs')
  await page.getByRole('grid').waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('Home')
  await settled(page)
  return page
}

const titles = (page: Page): Promise<string[]> =>
  page.getByRole('grid').locator('.two .title .ellipsis').allInnerTexts()

test('what is typed narrows the list, and the match stands in its place', async () => {
  const page = await openRuns()
  await page.keyboard.press('/')
  await page.keyboard.type('redirects')
  await page.getByText('1 run found').waitFor()
  await expect.poll(() => page.locator('mark').allInnerTexts()).toEqual(['redirects'])
  await page.keyboard.press('Escape')
  await page.getByText('11 runs', { exact: true }).waitFor()
  await page.context().close()
})

test('filters stay when one goes to a run and back', async () => {
  const page = await openRuns()
  await page.getByRole('combobox', { name: /^Status/ }).click()
  await page.getByRole('option', { name: 'Failed' }).click()
  await page.getByText('1 run found').waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Back to the list' }).click()
  await page.getByText('1 run found').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('11 runs', { exact: true }).waitFor()
  await page.context().close()
})

test('a column orders all runs, also those that were not read yet', async () => {
  const page = await openRuns({ scene: 'many' })
  await page.getByRole('columnheader', { name: 'Tokens' }).getByRole('button').click()
  await page.getByText(/of 10,000 loaded/).waitFor({ state: 'detached' })
  await page.getByRole('columnheader', { name: 'Tokens' }).and(page.locator('[aria-sort=descending]')).waitFor()
  const first = (await titles(page))[0]
  expect(first).toContain('Tide tables')
  await page.context().close()
})

test('two chosen runs stand beside each other', async () => {
  const page = await openRuns()
  await page.keyboard.press(' ')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press(' ')
  await page.keyboard.press('c')
  await page.getByRole('heading', { name: 'Compare runs' }).waitFor()
  for (const part of ['Request', 'Costs', 'Candidates', 'Tasks', 'Patch'])
    await page.getByRole('heading', { name: part, exact: true }).waitFor()
  await page.context().close()
})

test('a deleted run can be brought back until the next action', async () => {
  const page = await openRuns()
  const before = await titles(page)
  await page.keyboard.press('Delete')
  await page.getByText('10 runs', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('11 runs', { exact: true }).waitFor()
  expect(await titles(page)).toEqual(before)
  expect(await last(page, 'undoDelete')).toEqual([5])
  await page.context().close()
})

test('a run is tagged, exported and imported', async () => {
  const page = await openRuns()
  await page.getByLabel('Edit tags').fill('later, money')
  await page.keyboard.press('Enter')
  await expect.poll(() => last(page, 'setTags')).toEqual([5, ['money', 'later']])
  await page.getByRole('complementary').getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Export as Markdown' }).click()
  await expect
    .poll(() => last(page, 'exportRun'))
    .toMatchObject([5, 'markdown', expect.stringMatching(/run-5-.*\.md$/)])
  await page.getByRole('button', { name: 'Import a run' }).click()
  await page.getByText('Imported as run 5.').waitFor()
  await page.context().close()
})

test('a run again with changes begins at the form with what was asked', async () => {
  const page = await openRuns()
  await page.keyboard.press('n')
  await page.getByRole('heading', { level: 1, name: 'Solve' }).waitFor()
  await expect.poll(() => page.locator('textarea').first().inputValue()).toContain('Categories should not care')
  await page.context().close()
})

test('groups have their heads, and charts their numbers as a table', async () => {
  const page = await openRuns()
  await page.getByRole('combobox', { name: /^Group/ }).click()
  await page.getByRole('option', { name: 'By repository' }).click()
  await page.getByRole('gridcell', { name: 'harbour · 3' }).waitFor()
  await page.getByRole('button', { name: 'Show charts' }).click()
  expect(await page.getByRole('table', { name: 'Minutes a day, by stage' }).locator('tbody tr').count()).toBe(21)
  await page.context().close()
})
