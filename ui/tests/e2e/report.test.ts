// The report to hand to somebody: shown whole before it is saved, and not saved when the person turns back.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { go, ground, open, type Ground } from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

const saved = (page: Page): Promise<unknown[][]> =>
  page.evaluate(() => window.magis.asked.filter((one) => one.name === 'saveReport').map((one) => one.given))

async function show(page: Page): Promise<void> {
  await go(page, 'settings')
  await page.getByRole('button', { name: 'About and report' }).click()
  await page.getByRole('button', { name: 'Show the report' }).click()
  await page.getByRole('region', { name: 'Report', exact: true }).getByText('## Left out').waitFor()
}

test('the report is read before it is saved', async () => {
  const { page } = await open(on)
  await page.evaluate(() => window.magis.answer('pickSavePath', '/tmp/magis-report.md'))
  await show(page)
  expect(await saved(page)).toEqual([])
  await page.getByRole('button', { name: 'Save to a file' }).click()
  await page.getByText('The report is in /tmp/magis-report.md.').waitFor()
  expect(await saved(page)).toEqual([['/tmp/magis-report.md']])
})

test('nothing is saved when the person turns back', async () => {
  const { page } = await open(on)
  await show(page)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('region', { name: 'Report', exact: true }).waitFor({ state: 'detached' })
  expect(await saved(page)).toEqual([])
})
