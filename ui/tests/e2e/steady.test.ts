// What stays put and what goes on under a person's hands: the head of a table that is followed, a key that is the
// window's.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { go, ground, open, settled, type Ground } from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

/** How far below the log's top edge something begins, in pixels. */
const below = (page: Page, selector: string): Promise<number> =>
  page.evaluate((wanted) => {
    const [part, log] = [document.querySelector(wanted), document.querySelector('.log')]
    if (part === null || log === null) throw new Error(`no ${wanted} in a log`)
    return part.getBoundingClientRect().top - log.getBoundingClientRect().top
  }, selector)

test('the candidates are followed from their head, and stay where they are scrolled to', async () => {
  const { page } = await open(on, { scene: 'running', height: 420 })
  page.setDefaultTimeout(10_000)
  await page.evaluate(() => window.magis.advance(6, 3))
  await go(page, 'runs')
  await page.getByRole('grid').first().focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await page.locator('#stage-locate tbody tr').first().waitFor()
  await settled(page)
  const log = page.locator('.log')
  expect(await log.evaluate((element) => element.scrollHeight - element.clientHeight)).toBeGreaterThan(200)
  expect(await below(page, '#stage-locate')).toBeGreaterThanOrEqual(0)

  await page.evaluate(() => window.magis.advance(6, 4))
  const more = page.getByRole('button', { name: /^Show \d+ more/ })
  await more.waitFor()
  await log.evaluate((element) => element.scrollTo(0, 90))
  // A real click would scroll to the button.
  await more.evaluate((button: HTMLElement) => button.click())
  await page.getByRole('button', { name: 'Show fewer' }).waitFor()
  await settled(page)
  expect(await log.evaluate((element) => element.scrollTop)).toBe(90)
  await page.context().close()
})

test('Ctrl+Enter solves also where a choice has the focus', async () => {
  const { page } = await open(on, {})
  page.setDefaultTimeout(10_000)
  await go(page, 'solve')
  await page.getByRole('textbox', { name: 'Issue' }).fill('# Totals are wrong\nThe last line is counted twice.')
  await page.getByRole('button', { name: /^Model/ }).focus()
  await page.keyboard.press('Control+Enter')
  await page.waitForFunction(() => window.magis.asked.some((one) => one.name === 'startRun'))
  expect(await page.getByRole('option').count()).toBe(0)
  await page.context().close()
})
