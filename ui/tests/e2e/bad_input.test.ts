// What comes from outside and is not as it should be: markup everywhere, a start that fails, a command that fails, many
// rows.
import { afterAll, beforeAll, expect, test } from 'vitest'
import models from '../fixtures/models.json'
import { go, ground, open, openRun, screens, settled, type Ground } from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

test('markup in names, issues, code, summaries and replies does nothing on any screen', async () => {
  for (const name of [
    'repositories',
    'solve',
    'runs',
    'run',
    'review',
    'memory-summary',
    'models',
    'switcher',
    'palette',
  ]) {
    const screen = screens.find((one) => one.name === name)
    const { page, errors } = await open(on, { scene: 'hostile' })
    await screen?.to(page)
    expect(await page.evaluate(() => 'acted' in window), name).toBe(false)
    expect(await page.locator('#app img').count(), name).toBe(0)
    expect(errors, name).toEqual([])
    await page.context().close()
  }
})

test('characters that are not seen or turn the text stand as their numbers on every screen', async () => {
  for (const name of ['repositories', 'solve', 'runs', 'run', 'review', 'memory-summary', 'switcher', 'palette']) {
    const screen = screens.find((one) => one.name === name)
    const { page } = await open(on, { scene: 'hostile' })
    await screen?.to(page)
    const raw = await page.evaluate(() => {
      const unseen = /[\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\u061c\x1b]/
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT)
      const found: string[] = []
      for (let at: Node | null = walk.currentNode; at !== null; at = walk.nextNode()) {
        if (at instanceof Text && unseen.test(at.data) && at.parentElement?.closest('textarea, script, style') === null)
          found.push(at.data)
        if (at instanceof Element)
          for (const one of ['title', 'aria-label', 'placeholder'])
            if (unseen.test(at.getAttribute(one) ?? '')) found.push(`${one}: ${at.getAttribute(one)}`)
      }
      return found
    })
    expect(raw, name).toEqual([])
    if (name === 'review')
      expect(await page.locator('.unseen-character[title^="U+202E"]').count(), name).toBeGreaterThan(0)
    if (name === 'run' || name === 'runs') expect(await page.getByText('⟨U+202E⟩').count(), name).toBeGreaterThan(0)
    await page.context().close()
  }
})

test('a start that fails says why and what to do, and can be tried again', async () => {
  const { page } = await open(on, { scene: 'broken' })
  await page.getByText('The database was written by a newer version of Magis.').waitFor()
  await page.getByText('Install that version, or start with another data folder.').waitFor()
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(1)
  await page.context().close()
})

test('a command that fails is told with its remedy and leaves the screen as it was', async () => {
  const { page } = await open(on)
  await go(page, 'models')
  await page.evaluate(() =>
    window.magis.answer('setDefaultModel', {
      code: 'damaged',
      message: 'The file of this model is damaged.',
      remedy: 'Delete it and download it again.',
    }),
  )
  await page.getByRole('button', { name: 'Use as default' }).first().click()
  await page.getByRole('alert').getByText('Delete it and download it again.').waitFor()
  expect(await page.getByText('Default', { exact: true }).count()).toBe(1)
  await page.context().close()
})

test('a folder that has vanished is named on its row and can be taken off the list', async () => {
  const { page } = await open(on, { scene: 'problems' })
  await go(page, 'repositories')
  await page.getByText('The folder /srv/work/billing is not there any more.').waitFor()
  await page.getByRole('button', { name: 'Remove from list' }).click()
  await page.getByRole('heading', { name: 'No repository yet' }).waitFor()
  await page.context().close()
})

test('ten thousand runs are a short list in the document, to their end', async () => {
  const { page } = await open(on, { scene: 'many' })
  await go(page, 'runs')
  const rows = (): Promise<number> => page.locator('[role=row]').count()
  expect(await rows()).toBeLessThan(80)
  await page.getByRole('grid').first().focus()
  await page.keyboard.press('End')
  await settled(page)
  expect(await rows()).toBeLessThan(80)
  await page.context().close()
})

test('an issue of a megabyte with markup in it opens', async () => {
  const { page } = await open(on, { scene: 'hostile' })
  await openRun(page)
  await page.evaluate(() => window.magis.answer('readText', '<script>window.acted=1</script> word '.repeat(28_000)))
  await go(page, 'solve')
  const box = page.locator('main textarea').first()
  await box.fill('<script>window.acted=1</script> **word** <img src=x onerror=window.acted=1> '.repeat(14_000))
  await page.getByRole('tab', { name: 'Preview' }).click()
  await settled(page)
  expect(await page.evaluate(() => 'acted' in window)).toBe(false)
  await page.context().close()
})

test('a model that went missing is named at the form and in the status bar, and nothing is started', async () => {
  const { page } = await open(on, {})
  page.setDefaultTimeout(10_000)
  const left = models.map((one) => ({
    ...one,
    installed: one.id === 'qwen2.5-coder-7b',
    default_for: one.id === 'qwen2.5-coder-1.5b' ? ['runs'] : [],
  }))
  await page.evaluate((models) => {
    window.magis.answer('models', models)
    window.magis.emit({ name: 'modelsChanged', payload: {} })
  }, left)
  await go(page, 'solve')
  await page.getByRole('textbox', { name: 'Issue' }).fill('# Totals are wrong\nThe last line is counted twice.')
  await page.getByText('Qwen2.5-Coder 1.5B Instruct is not on this machine yet (1.1 GB).').waitFor()
  expect(
    await page
      .getByRole('main')
      .getByRole('button', { name: /^Solve/ })
      .isDisabled(),
  ).toBe(true)
  expect(await page.getByRole('region', { name: 'Status' }).innerText()).toContain('not downloaded yet')
  // Another default makes the form ready, whoever chose it.
  await page.evaluate(
    (models) => {
      window.magis.answer('models', models)
      window.magis.emit({ name: 'settingsChanged', payload: {} })
    },
    left.map((one) => ({ ...one, default_for: one.installed ? ['runs'] : [] })),
  )
  await expect
    .poll(() =>
      page
        .getByRole('main')
        .getByRole('button', { name: /^Solve/ })
        .isDisabled(),
    )
    .toBe(false)
  await page.evaluate((models) => {
    window.magis.answer('models', models)
    window.magis.emit({ name: 'modelsChanged', payload: {} })
  }, left)
  await page.getByRole('button', { name: 'Download a model' }).click()
  await page.getByRole('heading', { name: 'Models' }).waitFor()
  await page.context().close()
})
