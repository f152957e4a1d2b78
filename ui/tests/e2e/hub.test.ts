// Models by their names on the hub: nothing is asked before a press, what is there is shown, and a file is fetched.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { focusWithin, go, ground, lookUp, open, settled, type Ground } from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

const REPO = 'unsloth/Qwen3-Coder-Next-GGUF'
const asked = (page: Page, name: string): Promise<unknown[][]> =>
  page.evaluate((wanted) => window.magis.asked.filter((one) => one.name === wanted).map((one) => one.given), name)
const hub = (page: Page) => page.getByRole('region', { name: 'Another model, by its name on the hub' })
const row = (page: Page, file: string) => hub(page).getByRole('listitem').filter({ hasText: file })

test('a repository is looked up by keyboard, and its files are shown with size, hash and what fits', async () => {
  const { page } = await open(on)
  await go(page, 'models')
  expect(await asked(page, 'hubModels')).toEqual([])
  await lookUp(page, `hf:${REPO}`)
  expect(await asked(page, 'hubModels')).toEqual([[`hf:${REPO}`]])
  await hub(page).getByText('Licence apache-2.0').waitFor()
  const small = row(page, 'UD-IQ1_S')
  await small.getByText('8.3 GB', { exact: true }).waitFor()
  await small.getByText('SHA-256 9f2c61a0').waitFor()
  await small.getByText('Fits by its size').waitFor()
  await row(page, '00001-of-00002').getByText('2 files, fetched as one').waitFor()
  await row(page, '00001-of-00002').getByText('Larger than the 21.8 GB free').waitFor()
  const unchecked = row(page, 'TQ1_0')
  await unchecked.getByText('No hash is stated').waitFor()
  expect(await unchecked.getByRole('button').count()).toBe(0)
  await page.context().close()
})

test('a model that is suggested is looked up by one press', async () => {
  const { page } = await open(on)
  await go(page, 'models')
  await row(page, 'Qwen3-Coder-Next').getByRole('button', { name: 'List its files' }).press('Enter')
  await hub(page).getByText('Licence apache-2.0').waitFor()
  expect(await asked(page, 'hubModels')).toEqual([[`hf:${REPO}`]])
  await page.context().close()
})

test('a file is fetched, paused, gone on with, and then is a model of this machine', async () => {
  const { page } = await open(on)
  await lookUp(page, REPO)
  const small = row(page, 'UD-IQ1_S')
  await small.getByRole('button', { name: 'Download 8.3 GB' }).press('Enter')
  await small.getByRole('progressbar').waitFor()
  await go(page, 'runs')
  await go(page, 'models')
  await small.getByRole('button', { name: 'Pause' }).click()
  await small.getByRole('button', { name: 'Resume download' }).click()
  const id = `hf:${REPO}:Qwen3-Coder-Next-UD-IQ1_S.gguf`
  expect(await asked(page, 'fetchModel')).toEqual([[id], [id]])
  await page.evaluate((name) => window.magis.fetched(name), id)
  await small.getByText('On this machine').waitFor()
  const here = page.getByRole('region', { name: 'On this machine' })
  await here.getByText('qwen3-coder-next-ud-iq1_s').first().waitFor()
  await page.context().close()
})

test('a download stays in sight when another repository is looked up', async () => {
  const { page } = await open(on)
  await lookUp(page, REPO)
  await row(page, 'UD-IQ1_S').getByRole('button').click()
  await page.evaluate(() =>
    window.magis.answer('hubModels', {
      code: 'hub_silent',
      message: 'No answer from https://huggingface.co/api/models/a/b: the name is not known.',
      remedy: 'Check the connection.',
      given: { url: 'https://huggingface.co/api/models/a/b', reason: 'the name is not known' },
    }),
  )
  await page.keyboard.press('Escape')
  await page.getByRole('textbox', { name: /^Name of a repository/ }).fill('a/b')
  await page.keyboard.press('Enter')
  await hub(page).getByText('Check the connection.').waitFor()
  await hub(page).getByText(`Downloading hf:${REPO}:Qwen3-Coder-Next-UD-IQ1_S.gguf`).waitFor()
  await page.context().close()
})

test('what a repository wants of an account is said before a file of it is asked for', async () => {
  const { page } = await open(on)
  await page.evaluate(() =>
    window.magis.answer('hubModels', {
      repo: 'meta/Closed-GGUF',
      revision: '0123456789abcdef0123456789abcdef01234567',
      licence: null,
      has_terms: true,
      models: [],
    }),
  )
  await lookUp(page, 'meta/Closed-GGUF')
  await hub(page).getByText('No licence stated').waitFor()
  await hub(page).getByText('accounts that accepted its terms').waitFor()
  await page.context().close()
})

test('the field has a key, and is in the palette', async () => {
  const { page } = await open(on)
  await go(page, 'models')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('look up')
  await page.keyboard.press('Enter')
  await settled(page)
  await focusWithin(hub(page))
  await page.context().close()
})
