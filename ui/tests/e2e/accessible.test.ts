// Every screen in both themes: nothing that axe-core finds, nothing logged as an error, nothing asked of a network,
// nothing too wide.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ground, open, screens, type Ground } from '../window/open'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
let on: Ground

beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

type Violation = { id: string; nodes: { html: string; failureSummary: string }[] }

describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
  test.each(screens.map((screen) => [screen.name, screen] as const))('%s has no violation', async (_, screen) => {
    const { page, errors } = await open(on, { ...screen.look, theme, language: theme === 'light' ? 'en' : 'zh_hans' })
    await screen.to(page)
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
