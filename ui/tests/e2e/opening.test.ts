// What a start of the program names is shown, and nothing that was typed is lost by it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { go, ground, open, type Ground } from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

test('a second start brings its repository and issue into the open window, behind what was typed', async () => {
  const { page } = await open(on, {})
  page.setDefaultTimeout(10_000)
  await go(page, 'solve')
  const issue = page.getByRole('textbox', { name: 'Issue' })
  await issue.fill('# Half an issue')
  await go(page, 'settings')
  await page.evaluate(() => {
    window.magis.answer('readText', '# Berths are counted twice\nOne is both free and taken.')
    window.magis.emit({ name: 'opening', payload: { repo: '~/src/harbour', issue: '/tmp/issue.md' } })
  })
  await page.getByText('in harbour').waitFor()
  expect(await issue.inputValue()).toBe('# Berths are counted twice\nOne is both free and taken.')

  await page.evaluate(() => {
    window.magis.answer('readText', '# A second one')
    window.magis.emit({ name: 'opening', payload: { repo: '~/src/tally', issue: '/tmp/other.md' } })
  })
  await page.getByText('in tally').waitFor()
  await page.waitForFunction(
    () => document.querySelector<HTMLTextAreaElement>('main textarea')?.value === '# Half an issue\n\n# A second one',
  )
  await page.context().close()
})

test('a start on a folder that is no repository says so and keeps the screen', async () => {
  const { page } = await open(on, {})
  page.setDefaultTimeout(10_000)
  await go(page, 'models')
  await page.evaluate(() => {
    window.magis.answer('addRepository', {
      code: 'not_a_repository',
      message: '/tmp is not inside a git repository.',
      remedy: 'Choose a folder of one.',
    })
    window.magis.emit({ name: 'opening', payload: { repo: '/tmp', issue: null } })
  })
  await page.getByText('/tmp is not inside a git repository.').waitFor()
  expect(await page.getByRole('heading', { name: 'Models' }).isVisible()).toBe(true)
  await page.context().close()
})
