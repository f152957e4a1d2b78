// The list of runs as it opens: what is chosen, what waits from before, and groups that fold.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { go, ground, open, settled, type Ground } from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

const asked = (page: Page, name: string): Promise<unknown[][]> => page.evaluate((wanted) => window.magis.asked.filter((one) => one.name === wanted).map((one) => one.given), name)
const shown = (page: Page): Promise<number> => page.locator('[role=row] .two').count()

test('the first run is in the inspector when the list opens, and the focus is not taken', async () => {
  const { page } = await open(on)
  await go(page, 'runs')
  await settled(page)
  const before = await page.evaluate(() => document.activeElement?.getAttribute('role') ?? '')
  expect(before).not.toBe('grid')
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
  await page.getByRole('button', { name: /^Start/ }).first().waitFor({ state: 'detached' })
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
