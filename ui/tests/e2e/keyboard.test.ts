// The window without a mouse: every section, the palette, the switcher, and each screen's own actions.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { focusWithin, ground, open, settled, type Ground } from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

const asked = (page: Page, name: string): Promise<unknown[][]> =>
  page.evaluate((wanted) => window.magis.asked.filter((one) => one.name === wanted).map((one) => one.given), name)
const title = (page: Page): Promise<string> => page.title()

/** Presses Tab until the focus is on a thing with this name. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let step = 0; step < 120; step += 1) {
    await page.keyboard.press('Tab')
    const found = await page.evaluate(() => {
      const at = document.activeElement
      return at ? (at.getAttribute('aria-label') ?? at.textContent ?? '').trim() : ''
    })
    if (name.test(found)) return
  }
  throw new Error(`Tab does not reach ${String(name)}`)
}

test('each section has a key, and the focus is in it afterwards', async () => {
  const { page } = await open(on)
  for (const [key, name] of [
    ['Control+2', 'Runs'],
    ['Control+3', 'Memory'],
    ['Control+4', 'Models'],
    ['Control+5', 'Settings'],
    ['Control+6', 'Repositories'],
    ['Control+1', 'Solve'],
  ] as const) {
    await page.keyboard.press(key)
    await settled(page)
    expect(await title(page)).toBe(`${name} – Magis`)
    expect(await page.evaluate(() => document.querySelector('main')?.contains(document.activeElement))).toBe(true)
  }
  await page.keyboard.press('Alt+ArrowLeft')
  expect(await title(page)).toBe('Repositories – Magis')
  await page.context().close()
})

test('Ctrl+1 begins in the issue, wherever the focus was, and what is typed or pasted lands there', async () => {
  const { page } = await open(on)
  const issue = page.locator('main textarea').first()
  await page.keyboard.press('Control+4')
  await settled(page)
  await page.keyboard.press('Control+1')
  await focusWithin(issue)
  await page.keyboard.insertText('Refunds are counted twice')
  await page.locator('main textarea').nth(1).focus()
  await page.keyboard.press('Control+1')
  await focusWithin(issue)
  await page.keyboard.type('.')
  expect(await issue.inputValue()).toBe('Refunds are counted twice.')
  await page.context().close()
})

test('the other sections begin in their list, and a run that is shown is read by its keys', async () => {
  const { page } = await open(on)
  for (const key of ['Control+2', 'Control+3', 'Control+6']) {
    await page.keyboard.press(key)
    await focusWithin(page.locator('main [role=grid]'))
  }
  await page.keyboard.press('Control+4')
  await focusWithin(page.getByRole('button', { name: /^Qwen2\.5-Coder 1\.5B Instruct/ }))
  await page.keyboard.press('Control+5')
  await focusWithin(page.getByRole('button', { name: 'Appearance' }))
  await page.keyboard.press('Control+2')
  await focusWithin(page.locator('main [role=grid]'))
  await page.keyboard.press('Enter')
  await settled(page)
  await page.keyboard.press('r')
  await focusWithin(page.getByRole('region', { name: 'Diff of the patch' }))
  await page.context().close()
})

test('a command is found in the palette by its words and carried out', async () => {
  const { page } = await open(on)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('go mod')
  await page.keyboard.press('Enter')
  await settled(page)
  expect(await title(page)).toBe('Models – Magis')
  expect(await page.locator('[role=dialog]').count()).toBe(0)
  await page.context().close()
})

test('the repository is switched by one key, some letters and Enter', async () => {
  const { page } = await open(on)
  await page.keyboard.press('Control+p')
  await page.keyboard.type('har')
  await page.keyboard.press('Enter')
  await settled(page)
  expect(await page.getByRole('region', { name: 'Status' }).innerText()).toContain('fix/berth-names')
  await page.context().close()
})

test('the sheet of keys opens with ? but not while text is written', async () => {
  const { page } = await open(on)
  await page.keyboard.press('Control+6')
  await tabTo(page, /Folder of a git repository|^$/)
  await page.locator('main input').first().focus()
  await page.keyboard.type('?')
  expect(await page.locator('[role=dialog]').count()).toBe(0)
  await page.locator('main').focus()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.context().close()
})

test('F6 goes from part to part', async () => {
  const { page } = await open(on)
  await page.keyboard.press('Control+4')
  await settled(page)
  const parts: string[] = []
  for (let step = 0; step < 4; step += 1) {
    await page.keyboard.press('F6')
    parts.push(await page.evaluate(() => document.activeElement?.closest('[data-part]')?.tagName ?? ''))
  }
  expect(parts).toEqual(['ASIDE', 'SECTION', 'NAV', 'MAIN'])
  await page.context().close()
})

test('the first start leads to a run by keyboard alone', async () => {
  const { page } = await open(on, { scene: 'first' })
  await tabTo(page, /^Download 1\.1 GB/)
  await page.keyboard.press('Enter')
  await page.getByRole('progressbar').waitFor()
  await page.evaluate(() => window.magis.fetched('qwen2.5-coder-1.5b'))
  await tabTo(page, /^Use the sample/)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Solve this issue' }).waitFor()
  await tabTo(page, /^Solve this issue/)
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => window.magis.asked.some((one) => one.name === 'followRun'))
  expect((await asked(page, 'startRun'))[0]?.[0]).toMatchObject({ repo: 3, model: 'qwen2.5-coder-1.5b' })
  await page.context().close()
})

test('a repository is added by its path, taken off the list, and brought back', async () => {
  const { page } = await open(on)
  await page.keyboard.press('Control+6')
  await page.locator('main input').first().focus()
  await page.keyboard.type('nonsense')
  await page.keyboard.press('Enter')
  await page.getByText('Choose the folder that holds the .git folder').waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('/srv/ledger')
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: /ledger/ }).waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('Delete')
  await page.getByRole('row', { name: /ledger/ }).waitFor({ state: 'detached' })
  await tabTo(page, /^Undo$/)
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: /ledger/ }).waitFor()
  await page.context().close()
})

test('what cannot be taken back is asked about first, and the safe answer has the focus', async () => {
  const { page } = await open(on)
  await page.keyboard.press('Control+4')
  const button = page.getByRole('button', { name: /^Actions for Qwen2\.5-Coder 1\.5B/ })
  const wishRemoval = async (): Promise<void> => {
    await page.keyboard.press('Enter')
    await focusWithin(page.getByRole('menu'))
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await focusWithin(page.getByRole('dialog'))
  }
  await tabTo(page, /^Actions for Qwen2\.5-Coder 1\.5B/)
  await wishRemoval()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await asked(page, 'removeModel')).toEqual([])
  await focusWithin(button)
  await wishRemoval()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await asked(page, 'removeModel')).toEqual([['qwen2.5-coder-1.5b']])
  await page.context().close()
})

test('a summary is corrected, and the correction is marked', async () => {
  const { page } = await open(on)
  await page.keyboard.press('Control+3')
  await settled(page)
  await page.keyboard.press('/')
  await page.keyboard.type('banks/statement.py')
  await page.getByRole('grid').focus()
  await page.keyboard.press('Home')
  await tabTo(page, /^Correct$/)
  await page.keyboard.press('Enter')
  await page.getByRole('textbox', { name: 'Summary' }).focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('Reads the lines of an account.')
  await tabTo(page, /^Save correction$/)
  await page.keyboard.press('Enter')
  await page.getByText('Corrected by you').waitFor()
  expect((await asked(page, 'correctSummary'))[0]).toEqual([
    1,
    'tally/banks/statement.py',
    'Reads the lines of an account.',
  ])
  await page.context().close()
})

test('a download is begun, goes on while another screen is shown, and is paused', async () => {
  const { page } = await open(on)
  await page.keyboard.press('Control+4')
  await settled(page)
  const resumable = (): Promise<number> => page.getByRole('button', { name: 'Resume download' }).count()
  const before = await resumable()
  await tabTo(page, /^Download 491 MB/)
  await page.keyboard.press('Enter')
  await page.getByText('Downloading Qwen2.5-Coder 0.5B Instruct').waitFor()
  await page.keyboard.press('Control+2')
  await page.keyboard.press('Control+4')
  await page.getByText('Downloading Qwen2.5-Coder 0.5B Instruct').waitFor()
  await tabTo(page, /^Pause$/)
  await page.keyboard.press('Enter')
  await expect.poll(resumable).toBe(before + 1)
  await page.context().close()
})

test('language and theme change at once, in the document too', async () => {
  const { page } = await open(on)
  await page.keyboard.press('Control+5')
  await tabTo(page, /^Light$/)
  await page.keyboard.press('ArrowRight')
  expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark')
  await tabTo(page, /^English$/)
  await page.keyboard.press('Enter')
  await page.getByRole('option', { name: '简体中文' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: '外观' }).waitFor()
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-Hans')
  expect(await title(page)).toBe('设置 – Magis')
  await page.context().close()
})

test('all data is erased only after the word was typed', async () => {
  const { page } = await open(on)
  await page.keyboard.press('Control+5')
  await tabTo(page, /^Data$/)
  await page.keyboard.press('Enter')
  await tabTo(page, /^Remove all data$/)
  await page.keyboard.press('Enter')
  await page.keyboard.type('yes')
  await page.keyboard.press('Enter')
  expect(await asked(page, 'eraseAllData')).toEqual([])
  await page.keyboard.press('Control+a')
  await page.keyboard.type('erase')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Your first issue' }).waitFor()
  expect(await asked(page, 'eraseAllData')).toEqual([['erase']])
  await page.context().close()
})

test('closing during a run asks, and the answer reaches Rust', async () => {
  const { page } = await open(on, { scene: 'running' })
  await page.evaluate(() => window.magis.emit({ name: 'closeAsked', payload: { running: 1 } }))
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await asked(page, 'answerClose')).toEqual([['pause']])
  await page.context().close()
})
