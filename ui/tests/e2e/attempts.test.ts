// The attempts of a run that runs code: looked at by mouse and keyboard, and one of them taken.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ground, open, openRun, settled, type Ground } from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

async function attempts(scene: 'attempts' | 'edits') {
  const { page } = await open(on, { scene })
  await openRun(page)
  const grid = page.getByRole('toolbar', { name: 'Attempts of round 1 of task T1' })
  await grid.waitFor()
  return { page, grid }
}
const shown = (page: Page, number: number): Promise<void> =>
  page.getByText(`Attempt ${number}`, { exact: true }).waitFor()

test('arrows move among the attempts of a round, and what is chosen is shown below', async () => {
  const { page, grid } = await attempts('attempts')
  await grid.getByRole('button', { name: /^Attempt 1 / }).click()
  await shown(page, 1)
  await page.keyboard.press('ArrowRight')
  await shown(page, 2)
  await page.keyboard.press('ArrowDown')
  await shown(page, 5)
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toMatch(/^Attempt 5 at /)
  await page.keyboard.press('Home')
  await shown(page, 1)
  expect(await grid.locator('button[tabindex="0"]').count()).toBe(1)
  await page.context().close()
})

test('an attempt that a person prefers is taken', async () => {
  const { page, grid } = await attempts('attempts')
  await grid.getByRole('button', { name: /^Attempt 1 / }).click()
  await page.getByRole('button', { name: 'Take this one: attempt 1 of task T1' }).click()
  await settled(page)
  const asked = await page.evaluate(() => window.magis.asked.filter((one) => one.name === 'steer'))
  expect(asked.at(-1)?.given.at(-1)).toEqual({ kind: 'take_attempt', task: 1, round: 1, attempt: 0 })
  await page.context().close()
})

test('of a run that is over another attempt is taken in a new run', async () => {
  const { page, grid } = await attempts('edits')
  await grid.getByRole('button', { name: /^Attempt 1 / }).click()
  await page.getByRole('button', { name: 'Take this one: attempt 1 of task T1' }).click()
  await settled(page)
  const asked = await page.evaluate(() => window.magis.asked.filter((one) => one.name === 'rerunTaking'))
  expect(asked.at(-1)?.given.slice(1)).toEqual([1, 1, 0])
  await page.context().close()
})

test('once a task is closed, answers that were not needed are a number', async () => {
  const { page, grid } = await attempts('edits')
  await grid.getByText('17 not written').waitFor()
  await grid.getByText('49 not written').waitFor()
  expect(await grid.getByRole('button').count()).toBe(32)
  await page.context().close()
})
