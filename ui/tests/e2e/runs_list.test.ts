// The list of runs as it opens: what is chosen, what waits from before, and groups that fold.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { go, ground, open, settled, type Ground } from '../window/open'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

const asked = (page: Page, name: string): Promise<unknown[][]> =>
  page.evaluate((wanted) => window.magis.asked.filter((one) => one.name === wanted).map((one) => one.given), name)
const shown = (page: Page): Promise<number> => page.locator('[role=row] .two').count()

test('the first run is in the inspector when the list opens, and no key deletes what nobody chose', async () => {
  const { page } = await open(on)
  await go(page, 'runs')
  await settled(page)
  const first = await page.locator('[role=row] .two .title .ellipsis').first().innerText()
  await page.getByRole('complementary').getByRole('heading', { name: first }).waitFor()
  await page.keyboard.press('Delete')
  expect(await asked(page, 'deleteRun'), 'nobody chose it yet').toEqual([])
  await page.context().close()
})

test('groups fold by click and by arrow keys, and stay so when one comes back', async () => {
  const { page } = await open(on)
  await go(page, 'runs')
  await settled(page)
  const all = await shown(page)
  await page.getByRole('combobox', { name: /^Group/ }).click()
  await page.getByRole('option', { name: 'By repository' }).click()
  const heads = page.locator('[role=row][aria-expanded]')
  await heads.first().waitFor()
  const many = await heads.count()
  await heads.first().click()
  await expect.poll(() => heads.first().getAttribute('aria-expanded')).toBe('false')
  const left = await shown(page)
  expect(left).toBeLessThan(all)
  await page.getByRole('treegrid').focus()
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => heads.first().getAttribute('aria-expanded')).toBe('true')
  expect(await shown(page)).toBe(all)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  await expect.poll(() => heads.first().getAttribute('aria-expanded')).toBe('false')
  await go(page, 'models')
  await go(page, 'runs')
  await expect.poll(() => heads.count()).toBe(many)
  expect(await heads.first().getAttribute('aria-expanded')).toBe('false')
  expect(await shown(page)).toBe(left)
  await page.getByRole('treegrid').focus()
  await page.keyboard.press('f')
  await expect.poll(() => shown(page)).toBe(0)
  await page.context().close()
})

test('runs that an ended window left in its queue are named, and begin when the person says so', async () => {
  const { page } = await open(on, { scene: 'waiting' })
  await page.getByText('2 runs were waiting for their turn when Magis was closed.').waitFor()
  expect(await asked(page, 'resumeRun')).toEqual([])
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.getByRole('button', { name: 'Start all 2' }).waitFor()
  expect(await page.getByRole('grid').getByText('Waiting').count()).toBe(2)
  await page.getByRole('button', { name: 'Start all 2' }).click()
  await expect.poll(() => asked(page, 'resumeRun')).toEqual([[31], [32]])
  await page
    .getByRole('button', { name: /^Start/ })
    .first()
    .waitFor({ state: 'detached' })
  await page.context().close()
})

test('runs that were left waiting can be removed, and come back', async () => {
  const { page } = await open(on, { scene: 'waiting' })
  await go(page, 'runs')
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await expect.poll(() => asked(page, 'deleteRun')).toEqual([[31], [32]])
  await page.getByText('were waiting for their turn').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('2 runs were waiting for their turn when Magis was closed.').waitFor()
  await page.context().close()
})

test('a run that was left waiting says so on its own screen, and can be started or removed there', async () => {
  const { page } = await open(on, { scene: 'waiting' })
  await go(page, 'runs')
  await page.getByRole('grid').focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await page.getByText('It begins when you start it.').waitFor()
  await page.getByText('The files were not ranked yet.').waitFor()
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByRole('row', { name: /Dates before 1970/ }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('row', { name: /Dates before 1970/ }).waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await page.getByText('It begins when you start it.').waitFor()
  await page.keyboard.press('p')
  await expect.poll(() => asked(page, 'resumeRun')).toEqual([[32]])
  await page.context().close()
})

type Violation = { id: string; nodes: { html: string; failureSummary: string }[] }

test.each(['light', 'dark'] as const)(
  'folded groups and the line about waiting runs have no violation in the %s theme',
  async (theme) => {
    const { page, errors } = await open(on, { scene: 'waiting', theme })
    await go(page, 'runs')
    await page.getByRole('combobox', { name: /^Group/ }).click()
    await page.getByRole('option', { name: 'By repository' }).click()
    await page.locator('[role=row][aria-expanded]').first().click()
    await settled(page)
    await page.evaluate(axe)
    const violations = await page.evaluate(async () => {
      const run = (
        window as unknown as {
          axe: { run: (context: Document, options: object) => Promise<{ violations: Violation[] }> }
        }
      ).axe
      return (await run.run(document, { resultTypes: ['violations'] })).violations
    })
    await page.context().close()
    expect(
      violations.map(
        (one) =>
          `${one.id}: ${one.nodes.map((node) => `${node.html.slice(0, 160)} ${node.failureSummary}`).join(' | ')}`,
      ),
    ).toEqual([])
    expect(errors).toEqual([])
  },
)

test('the bars of the stages share one scale', async () => {
  const { page } = await open(on)
  await go(page, 'runs')
  await page.locator('aside .track').nth(2).waitFor()
  const widths = await page
    .locator('aside .track')
    .evaluateAll((tracks) => tracks.map((one) => Math.round(one.getBoundingClientRect().width)))
  expect(widths.length).toBeGreaterThan(2)
  expect(new Set(widths).size).toBe(1)
  await page.context().close()
})

test('what running the code showed stands whole beside the list, with a mark of its own', async () => {
  const { page } = await open(on)
  await go(page, 'runs')
  await page.getByText('prints the sign of a refund twice').first().click()
  const said = page.locator('aside .body p').first()
  await said.getByText('Plausible, not shown to work: the wrong output is gone').waitFor()
  const [right, edge] = await Promise.all([
    said.locator('span span').evaluate((words) => words.getBoundingClientRect().right),
    page.locator('aside').evaluate((pane) => pane.getBoundingClientRect().right),
  ])
  expect(right).toBeLessThan(edge)
  // A wave, not the cross of what is not shown.
  expect(await said.locator('path').getAttribute('d')).toContain('c')
  await page.context().close()
})
