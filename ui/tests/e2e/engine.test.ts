// Another engine and the engine's manners: off at first, asked only by a press, and shown wherever prompts go there.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { go, ground, open, openRun, otherEngine, settled, type Ground } from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

const asked = (page: Page, name: string): Promise<unknown[][]> =>
  page.evaluate((wanted) => window.magis.asked.filter((one) => one.name === wanted).map((one) => one.given), name)
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true })
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).press('Enter')
const status = (page: Page) => page.getByRole('region', { name: 'Status' })

test('it is off at first, and looking at it asks nobody', async () => {
  const { page } = await open(on)
  await otherEngine(page)
  await page.getByText('Off: prompts stay on this machine.').waitFor()
  await status(page).getByText('Offline').waitFor()
  expect(await page.getByRole('button', { name: 'Check', exact: true }).isDisabled()).toBe(true)
  expect(await asked(page, 'checkEngine')).toEqual([])
  await page.context().close()
})

test('an engine is checked, its model chosen from its list, and prompts go there from when it is switched on', async () => {
  const { page } = await open(on)
  await otherEngine(page)
  await field(page, 'Address').fill(' http://gpu.lan:8000 ')
  await field(page, 'Context').fill('32768')
  await press(page, 'Check')
  await page.getByText('Found at gpu.lan:8000: a server with the interface of OpenAI, model qwen3.6-27b').waitFor()
  await page.getByText('It offers no log-probabilities').waitFor()
  const form = { address: 'http://gpu.lan:8000', model: null, context: 32_768, authorities: null }
  expect(await asked(page, 'checkEngine')).toEqual([[form]])
  await status(page).getByText('Offline').waitFor()

  await page.getByRole('combobox', { name: /^Model / }).click()
  await page.getByRole('option', { name: 'devstral-small-2' }).click()
  await press(page, 'Switch on')
  await page.getByText('On, with the model devstral-small-2').waitFor()
  expect(await asked(page, 'useOtherEngine')).toEqual([[{ ...form, model: 'devstral-small-2' }]])
  expect(await field(page, 'Address').isDisabled()).toBe(true)
  await status(page).getByText('Prompts go to gpu.lan:8000').waitFor()

  await press(page, 'Switch off')
  await page.getByText('Off: prompts stay on this machine.').waitFor()
  await status(page).getByText('Offline').waitFor()
  await page.context().close()
})

test('a public address is refused in the words of the engine, and nothing is switched on', async () => {
  const { page } = await open(on)
  await otherEngine(page)
  await field(page, 'Address').fill('https://8.8.8.8')
  await press(page, 'Switch on')
  await page.getByText('prompts go to this machine or to your own network only').waitFor()
  await page.getByText('Off: prompts stay on this machine.').waitFor()
  await page.context().close()
})

test('a key goes to the keyring and is not shown again; without a keyring that is said', async () => {
  const { page } = await open(on)
  await otherEngine(page)
  await field(page, 'Address').fill('http://gpu.lan:8000')
  const key = page.getByLabel('Key', { exact: true })
  expect(await key.getAttribute('type')).toBe('password')
  await key.fill('secret-1')
  await press(page, 'Keep')
  await page.getByText('The key for http://gpu.lan:8000 is in the keyring').waitFor()
  expect(await asked(page, 'keepEngineKey')).toEqual([['http://gpu.lan:8000', 'secret-1']])
  expect(await key.inputValue()).toBe('')
  await press(page, 'Forget')
  await page.getByText('has no key for http://gpu.lan:8000 any more').waitFor()

  await page.evaluate(() =>
    window.magis.answer('checkKeyring', {
      code: 'engine_keyring',
      message: "The system's keyring cannot be used: there is none here; set the variable MAGIS_ENGINE_KEY instead.",
      remedy: null,
    }),
  )
  await otherEngine(page)
  await page.getByText('This system has no keyring.').waitFor()
  expect(await page.getByLabel('Key', { exact: true }).count()).toBe(0)
  await page.context().close()
})

test('the form says where prompts go, unless a model of this machine is chosen', async () => {
  const { page } = await open(on, { scene: 'engine' })
  await go(page, 'solve')
  const sign = page.locator('main header').getByText('Prompts go to gpu.lan:8000')
  await sign.waitFor()
  await page.locator('main textarea').first().fill('Refunds are counted twice')
  await page.getByRole('combobox', { name: /^Model / }).click()
  await page.getByRole('option', { name: /^Qwen2\.5-Coder 1\.5B/ }).click()
  await sign.waitFor({ state: 'detached' })
  await page.getByRole('combobox', { name: /^Model / }).click()
  await page.getByRole('option', { name: /^qwen3\.6-27b/ }).click()
  await sign.waitFor()
  await page.keyboard.press('Control+Enter')
  await page.waitForFunction(() => window.magis.asked.some((one) => one.name === 'startRun'))
  expect((await asked(page, 'startRun'))[0]?.[0]).toMatchObject({ model: 'qwen3.6-27b@engine:gpu.lan:8000' })
  await page.context().close()
})

test('a run and the privacy page say where prompts went and go', async () => {
  const { page } = await open(on, { scene: 'engine' })
  await openRun(page)
  await page.locator('main header').getByText('Prompts went to gpu.lan:8000').waitFor()
  await status(page).getByRole('button', { name: 'Prompts go to gpu.lan:8000' }).press('Enter')
  await page.getByText('On, with the model qwen3.6-27b').waitFor()
  await page.getByRole('button', { name: 'Privacy' }).click()
  await page.getByText('Prompts, and your code with them, go to gpu.lan:8000.').waitFor()
  await page.context().close()
})

test('the manners of the engine are chosen by keyboard, a sentence each, and kept', async () => {
  const { page } = await open(on)
  await go(page, 'settings')
  await page.getByRole('button', { name: 'Engine', exact: true }).press('Enter')
  await page.getByText('Gives way to what you do meanwhile').waitFor()
  await page.getByRole('tab', { name: 'Polite' }).focus()
  await page.keyboard.press('ArrowRight')
  await page.getByText('uses half of the cores').waitFor()
  await settled(page)
  const kept = (await asked(page, 'putSettings')).at(-1)?.[0]
  expect(kept).toMatchObject({ manners: 'background' })
  await page.context().close()
})
