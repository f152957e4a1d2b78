// What a person allows to be run, and that nothing is allowed without their word.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  go,
  ground,
  open,
  settled,
  withIssueCode,
  withTests,
  withTypedCommand,
  withoutIsolation,
  type Ground,
} from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

const given = (page: Page, name: string): Promise<unknown[] | undefined> =>
  page.evaluate((wanted) => window.magis.asked.filter((one) => one.name === wanted).at(-1)?.given, name)
const allow = (page: Page) => page.getByRole('button', { name: 'Allow in this repository' })

test('a command is allowed as it is shown, isolated, and the permission can be taken back', async () => {
  const { page } = await open(on, {})
  await withTests(page)
  await page.getByRole('group', { name: 'Allow this command?' }).getByText('python3 -m pytest -q').waitFor()
  await allow(page).click()
  await settled(page)
  expect((await given(page, 'allowTests'))?.slice(2)).toEqual([
    { line: 'python3 -m pytest -q', folder: '' },
    'isolated',
  ])
  expect(await allow(page).count()).toBe(0)
  await page.locator('fieldset').getByRole('button').last().click()
  await allow(page).waitFor()
  await page.context().close()
})

test('where nothing isolates it, a second yes is needed, by keyboard as well', async () => {
  const { page } = await open(on, {})
  await withoutIsolation(page)
  await page.getByText('The system gives it no name spaces: EPERM: Operation not permitted.').waitFor()
  expect(await allow(page).isDisabled()).toBe(true)
  await page.getByRole('checkbox', { name: /Nothing isolates it here/ }).focus()
  await page.keyboard.press('Space')
  await allow(page).focus()
  await page.keyboard.press('Enter')
  await settled(page)
  expect((await given(page, 'allowTests'))?.at(-1)).toBe('not_isolated')
  await page.context().close()
})

test('why nothing isolates it is said in Chinese, with what the system said as it is', async () => {
  const { page } = await open(on, { language: 'zh_hans' })
  await withoutIsolation(page)
  await page.getByText('本机无法隔离要运行的内容。系统不提供命名空间：EPERM: Operation not permitted。').waitFor()
  await page.getByText('请允许普通用户使用命名空间').waitFor()
  await page.context().close()
})

test('where there is no test command, what the issue shows is allowed alone', async () => {
  const { page } = await open(on, {})
  await withIssueCode(page)
  await allow(page).click()
  await settled(page)
  expect((await given(page, 'allowIssueCode'))?.at(-1)).toBe('isolated')
  await page.context().close()
})

test('of a typed command it is shown what is run before it, and what is wrong with it', async () => {
  const { page } = await open(on, {})
  await withTypedCommand(page, "make 'check")
  const typed = page.getByRole('textbox', { name: 'Command, from the root of the repository' })
  await page.getByText("The test command 'make 'check' has a quote that is not closed.").waitFor()
  expect(await allow(page).count()).toBe(0)
  await typed.fill('ctest --test-dir build')
  const group = page.getByRole('group', { name: 'Allow this command?' })
  await group.getByText('cmake --build build').waitFor()
  await allow(page).click()
  await settled(page)
  expect((await given(page, 'allowTests'))?.slice(2)).toEqual([
    { line: 'ctest --test-dir build', folder: '' },
    'isolated',
  ])
  await page.context().close()
})

test('what is allowed among the repositories is chosen in the form of the next run, and can be taken back', async () => {
  const { page } = await open(on, {})
  await withTests(page)
  await page.getByRole('radio').first().check()
  await go(page, 'repositories')
  const detail = page.getByRole('complementary')
  await allow(page).click()
  await detail.getByText('Allowed in this repository.').waitFor()
  await go(page, 'solve')
  await settled(page)
  expect(await page.getByRole('radio').nth(1).isChecked()).toBe(true)

  await go(page, 'repositories')
  await detail.getByRole('combobox', { name: /^Test command/ }).click()
  await page.getByRole('option', { name: /unittest/ }).click()
  await detail.getByText('Allowed here: python3 -m pytest -q.').getByRole('button', { name: 'Take back' }).click()
  await detail.getByText('Allowed here').waitFor({ state: 'detached' })
  await page.context().close()
})
