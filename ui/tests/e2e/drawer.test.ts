// A window too narrow for all its parts: the inspector as a drawer, the review's files folded; how they open, close and
// are remembered.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { layoutFaults } from '../window/faults'
import { focusWithin, go, ground, open, openRun, settled, type Ground } from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

const SMALL = { width: 900, height: 600 }
const inspector = (page: Page) => page.getByRole('complementary', { name: 'Inspector' })
const opener = (page: Page) => page.getByRole('button', { name: 'Show the inspector' })
const focused = (page: Page): Promise<string> =>
  page.evaluate(() =>
    document.activeElement?.closest('#inspector')
      ? 'inspector'
      : (document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.id ?? ''),
  )

test('below 1200 px the inspector waits as a drawer, above it stands beside the work', async () => {
  const { page } = await open(on, { width: 1199, height: 700 })
  await go(page, 'models')
  expect(await inspector(page).isVisible()).toBe(false)
  await page.setViewportSize({ width: 1200, height: 700 })
  await inspector(page).waitFor()
  await page.setViewportSize({ width: 1199, height: 700 })
  await inspector(page).waitFor({ state: 'detached' })
  await page.context().close()
})

test('the drawer opens by its key, takes the focus, and gives it back at Escape', async () => {
  const { page } = await open(on, SMALL)
  await go(page, 'runs')
  await page.getByRole('grid').focus()
  const from = await focused(page)
  await page.keyboard.press('Control+i')
  await inspector(page).waitFor()
  await expect.poll(() => focused(page)).toBe('inspector')
  await page.keyboard.press('Escape')
  await inspector(page).waitFor({ state: 'detached' })
  await expect.poll(() => focused(page)).toBe(from)
  await page.context().close()
})

test('the drawer opens by its button, over work that keeps its width, and closes by a click beside it', async () => {
  const { page } = await open(on, SMALL)
  await go(page, 'models')
  const before = await page.locator('main').boundingBox()
  await opener(page).click()
  await inspector(page).waitFor()
  expect(await page.locator('main').boundingBox()).toEqual(before)
  await inspector(page).getByText('SHA-256').click()
  expect(await inspector(page).isVisible(), 'a click in it leaves it').toBe(true)
  await page.mouse.click(200, 300)
  await inspector(page).waitFor({ state: 'detached' })
  await opener(page).click()
  await inspector(page).getByRole('button', { name: 'Hide the inspector' }).click()
  await inspector(page).waitFor({ state: 'detached' })
  await expect.poll(() => focused(page)).toBe('Show the inspector')
  await page.context().close()
})

test('wide and narrow windows remember the inspector apart', async () => {
  const { page } = await open(on, { width: 1280, height: 800 })
  await go(page, 'models')
  await inspector(page).waitFor()
  await page.setViewportSize(SMALL)
  await inspector(page).waitFor({ state: 'detached' })
  await page.keyboard.press('Control+i')
  await inspector(page).waitFor()
  await page.reload()
  await page.waitForSelector('main')
  await go(page, 'models')
  await inspector(page).waitFor()
  await page.keyboard.press('Escape')
  await inspector(page).waitFor({ state: 'detached' })
  await page.setViewportSize({ width: 1280, height: 800 })
  await inspector(page).waitFor()
  await page.context().close()
})

test('everything in the drawer is within reach, and a menu of its own does not close it', async () => {
  const { page } = await open(on, SMALL)
  for (const place of ['runs', 'models', 'memory', 'repositories'] as const) {
    await go(page, place)
    if (!(await inspector(page).isVisible())) await page.keyboard.press('Control+i')
    await inspector(page).waitFor()
    expect(await layoutFaults(page), place).toEqual([])
    await page.keyboard.press('Escape')
  }
  await go(page, 'runs')
  await page.keyboard.press('Control+i')
  await inspector(page).getByRole('button', { name: 'More' }).click()
  await focusWithin(page.getByRole('menu'))
  await page.keyboard.press('Escape')
  await page.getByRole('menu').waitFor({ state: 'detached' })
  expect(await inspector(page).isVisible()).toBe(true)
  await page.context().close()
})

test('the files of a review fold in a narrow window, and come back by button and key beside a diff that still fits', async () => {
  const { page } = await open(on, SMALL)
  await openRun(page)
  await page.keyboard.press('r')
  await page.locator('[data-line]').first().waitFor()
  const tree = page.getByRole('tree')
  expect(await tree.isVisible()).toBe(false)
  await page.getByRole('button', { name: 'Show or hide the files' }).click()
  await tree.waitFor()
  await settled(page)
  expect(await layoutFaults(page)).toEqual([])
  await page.locator('[aria-label="Diff of the patch"]').focus()
  await page.keyboard.press('t')
  await tree.waitFor({ state: 'detached' })
  await page.setViewportSize({ width: 1280, height: 800 })
  await tree.waitFor()
  await page.context().close()
})
