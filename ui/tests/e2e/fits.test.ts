// Every screen in small windows and both languages: every control can be reached, no text over another, nothing wider
// than the window.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { layoutFaults } from '../window/faults'
import { go, ground, open, screens, settled, type Ground, type Look } from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

/** The smallest window that the program allows, and two more below the width at which all fits beside each other. */
const SIZES = [
  { width: 900, height: 600 },
  { width: 1000, height: 700 },
  { width: 1280, height: 800 },
]

async function firstRow(page: Page, key: string): Promise<void> {
  await go(page, 'runs')
  await page.getByRole('grid').first().focus()
  await page.keyboard.press('Home')
  await page.keyboard.press(key)
  await settled(page)
}

async function review(page: Page): Promise<void> {
  await firstRow(page, 'r')
  await page.locator('[data-line]').first().waitFor()
}

/** States of the busiest screens in which none begins. */
const states: { name: string; look?: Look; to: (page: Page) => Promise<void> }[] = [
  {
    name: 'a diff side by side, decided and searched',
    to: async (page) => {
      await review(page)
      for (const key of ['a', 'x', 'd', 'Control+f']) await page.keyboard.press(key)
    },
  },
  {
    name: 'the words of a commit',
    to: async (page) => {
      await review(page)
      await page.keyboard.press('A')
      await page.locator('main button[aria-expanded]').last().click()
    },
  },
  {
    name: 'the editor',
    to: async (page) => {
      await review(page)
      await page.keyboard.press('e')
      await page.locator('.cm-content').waitFor()
    },
  },
  {
    name: 'all stages of a live run, with a hint being written',
    look: { scene: 'running' },
    to: async (page) => {
      await firstRow(page, 'Enter')
      for (const stage of ['locate', 'team', 'meeting', 'plan', 'code']) {
        const head = page.locator(`#stage-${stage} .fold`)
        if ((await head.getAttribute('aria-expanded')) === 'false') await head.click()
      }
      await page.keyboard.press('h')
    },
  },
  {
    name: 'two runs compared',
    to: async (page) => {
      await firstRow(page, ' ')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press(' ')
      await page.keyboard.press('c')
      await page.locator('main h3').first().waitFor()
    },
  },
  {
    name: 'runs with charts and a search',
    to: async (page) => {
      await firstRow(page, 'g')
      await page.keyboard.press('/')
      await page.keyboard.type('exception')
      await page.locator('mark').first().waitFor()
    },
  },
  { name: 'runs left waiting', look: { scene: 'waiting' }, to: (page) => go(page, 'runs') },
]

describe.each(['en', 'zh_hans'] as const)('in %s', (language) => {
  test.each([...screens, ...states].map((screen) => [screen.name, screen] as const))(
    '%s fits small windows',
    async (_, screen) => {
      const { page } = await open(on, { ...screen.look, ...SIZES[0], language })
      page.setDefaultTimeout(10_000)
      await screen.to(page)
      const faults: string[] = []
      for (const size of SIZES) {
        await page.setViewportSize(size)
        await settled(page)
        faults.push(...(await layoutFaults(page)).map((fault) => `${size.width}×${size.height}: ${fault}`))
      }
      await page.context().close()
      expect(faults).toEqual([])
    },
  )
})
