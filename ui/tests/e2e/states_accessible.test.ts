// States of solve, review and runs in which no screen begins: nothing that axe-core finds, nothing logged, nothing too
// wide.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { go, ground, open, settled, type Ground, type Look } from '../window/open'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

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

async function unfoldAll(page: Page): Promise<void> {
  await page.locator('#stage-code').waitFor()
  for (const stage of ['locate', 'team', 'meeting', 'plan', 'code']) {
    const head = page.locator(`#stage-${stage} .fold`)
    if ((await head.getAttribute('aria-expanded')) === 'false') await head.click()
  }
}

const states: { name: string; look?: Look; to: (page: Page) => Promise<void> }[] = [
  {
    name: 'a written issue in preview',
    to: async (page) => {
      await go(page, 'solve')
      await page
        .locator('main textarea')
        .first()
        .fill('# Title\n\n- [x] done\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 1\n```')
      await page.getByRole('tab').nth(1).click()
    },
  },
  {
    name: 'the files of a form, being found',
    to: async (page) => {
      await go(page, 'solve')
      await page.getByRole('combobox').and(page.locator('input')).fill('rep')
      await page.getByRole('option').first().waitFor()
    },
  },
  {
    name: 'all stages of a run',
    to: async (page) => {
      await firstRow(page, 'Enter')
      await unfoldAll(page)
    },
  },
  {
    name: 'all stages of a live run, a card being edited and a hint being written',
    look: { scene: 'running' },
    to: async (page) => {
      await firstRow(page, 'Enter')
      await unfoldAll(page)
      await page.keyboard.press('h')
      await page.locator('#stage-team li button').nth(1).click()
    },
  },
  {
    name: 'a candidate in the inspector',
    to: async (page) => {
      await firstRow(page, 'Enter')
      await unfoldAll(page)
      await page.locator('#stage-locate td.path button').first().click()
    },
  },
  {
    name: 'a call of the model in the inspector',
    to: async (page) => {
      await firstRow(page, 'Enter')
      await page.getByRole('complementary').getByRole('tab').nth(1).click()
      await page.getByRole('complementary').locator('li button').first().click()
      await page.getByRole('complementary').locator('pre').first().waitFor()
    },
  },
  {
    name: 'the diff side by side, decided and searched',
    to: async (page) => {
      await review(page)
      await page.keyboard.press('a')
      await page.keyboard.press('x')
      await page.keyboard.press('d')
      await page.keyboard.press('Control+f')
      await page.keyboard.type('category')
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
    name: 'the words of a commit, and what was applied',
    to: async (page) => {
      await review(page)
      await page.keyboard.press('A')
      await page.locator('main button[aria-expanded]').last().click()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: /^(Apply|应用)/ }).click()
      await page
        .getByRole('button', { name: /^(Undo|撤销)/ })
        .first()
        .waitFor()
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
    name: 'runs with charts and matches',
    to: async (page) => {
      await firstRow(page, 'g')
      await page.keyboard.press('/')
      await page.keyboard.type('exception')
      await page.locator('mark').first().waitFor()
    },
  },
]

type Violation = { id: string; nodes: { html: string; failureSummary: string }[] }

describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
  test.each(states.map((state) => [state.name, state] as const))('%s has no violation', async (_, state) => {
    const { page, errors } = await open(on, { ...state.look, theme, language: theme === 'light' ? 'en' : 'zh_hans' })
    page.setDefaultTimeout(10_000)
    await state.to(page)
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
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
    await page.context().close()
    expect(
      violations.map(
        (one) =>
          `${one.id}: ${one.nodes.map((node) => `${node.html.slice(0, 160)} ${node.failureSummary}`).join(' | ')}`,
      ),
    ).toEqual([])
    expect(errors).toEqual([])
    expect(wide).toBe(false)
  })
})
