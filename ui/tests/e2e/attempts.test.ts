// A run that runs code: what showed the fault, edited and run again; its attempts, looked at by mouse and keyboard while
// more come, and one of them taken.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunView } from '../../src/ipc/types'
import { attemptsAt, evidenceRun } from '../script/evidence_run'
import { fold } from '../script/recorded'
import { ground, open, openRun, settled, stage, type Ground } from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

async function attempts(scene: 'attempts' | 'edits') {
  const { page } = await open(on, { scene })
  await openRun(page)
  const grid = page.getByRole('toolbar', { name: 'Attempts of round 1 of task T1' })
  await grid.waitFor()
  return { page, grid }
}

/** Opens the run in which six attempts are written, as another log would show it. */
async function opened(change: (view: RunView) => void): Promise<Page> {
  const { page } = await open(on, { scene: 'attempts' })
  const view = fold(evidenceRun, attemptsAt)
  Object.assign(view.row, { status: 'paused', driven: false })
  change(view)
  await page.evaluate((given) => window.magis.answer('runView', given), view)
  await openRun(page)
  return page
}

/** Goes on with the run, so that news of it is heard. */
async function resumed(page: Page): Promise<void> {
  await page
    .getByRole('main')
    .getByRole('button', { name: /^Resume/ })
    .click()
  await settled(page)
}

const focused = (page: Page): Promise<string | null | undefined> =>
  page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
const shown = (page: Page, number: number): Promise<void> =>
  page.getByText(`Attempt ${number}`, { exact: true }).waitFor()

test('arrows move among the attempts of a round, and what is chosen is shown below', async () => {
  const { page, grid } = await attempts('attempts')
  await grid.getByRole('button', { name: /^Attempt 1 / }).click()
  await shown(page, 1)
  await page.keyboard.press('ArrowRight')
  await shown(page, 2)
  await page.keyboard.press('ArrowDown')
  await shown(page, 5)
  expect(await focused(page)).toMatch(/^Attempt 5 at /)
  await page.keyboard.press('Home')
  await shown(page, 1)
  expect(await grid.locator('button[tabindex="0"]').count()).toBe(1)
  await page.context().close()
})

test('an attempt says which tests fail with it, and with which message', async () => {
  const { page, grid } = await attempts('attempts')
  await grid.getByRole('button', { name: /^Attempt 1 / }).click()
  await page.getByText('2 tests fail that passed on the base').last().click()
  await page.getByText('test_amounts_are_aligned_to_the_right').last().click()
  await page.getByText("AssertionError: assert 'rent  500.00' == 'rent   500.00'").waitFor()
  await page.context().close()
})

test('answers that agree are counted', async () => {
  const { page, grid } = await attempts('attempts')
  await grid.getByRole('button', { name: /^Attempt 1 / }).click()
  await page.getByText('Lines rewritten · 2 answers agree').waitFor()
  await grid.getByRole('button', { name: /^Attempt 3 / }).click()
  await page.getByText('Definition rewritten', { exact: true }).waitFor()
  await page.context().close()
})

test('a dot says what came of its attempt as soon as it is tested', async () => {
  const { page, grid } = await attempts('attempts')
  await resumed(page)
  await page.evaluate((seq) => window.magis.advance(7, seq), attemptsAt - 1)
  await grid.getByRole('button', { name: /^Attempt 4 .*: not tested$/ }).waitFor()
  await page.evaluate((seq) => window.magis.advance(7, seq), attemptsAt)
  await grid.getByRole('button', { name: /^Attempt 4 .*: the fault is still there$/ }).waitFor()
  await page.context().close()
})

test('a new round takes neither the chosen attempt away nor the focus', async () => {
  const { page, grid } = await attempts('attempts')
  await resumed(page)
  await grid.getByRole('button', { name: /^Attempt 1 / }).click()
  await shown(page, 1)
  const view = fold(evidenceRun, attemptsAt)
  view.tasks[0]?.rounds.push({
    round: 2,
    symbols: ['table'],
    spans: [[26, 31]],
    places: [{ symbols: ['table'], spans: [[26, 31]] }],
    answer_places: [0, 0, 0, 0, 0, 0],
    attempts: [],
  })
  await page.evaluate((given) => window.magis.news(7, { kind: 'view', view: given }), view)
  await page.getByRole('tab', { name: 'Round 2' }).waitFor()
  await shown(page, 1)
  expect(await page.getByRole('tab', { name: 'Round 1' }).getAttribute('aria-selected')).toBe('true')
  expect(await focused(page)).toMatch(/^Attempt 1 at /)
  await page.getByRole('tab', { name: 'Round 2' }).click()
  await page.getByRole('toolbar', { name: 'Attempts of round 2 of task T1' }).waitFor()
  await page.context().close()
})

test('an attempt that a person prefers is taken', async () => {
  const { page, grid } = await attempts('attempts')
  await grid.getByRole('button', { name: /^Attempt 1 / }).click()
  await page.getByRole('button', { name: 'Take this one: attempt 1 of task T1' }).click()
  await settled(page)
  const asked = await page.evaluate(() => window.magis.asked.filter((one) => one.name === 'steer'))
  expect(asked.at(-1)?.given.at(-1)).toEqual({ kind: 'take_attempt', task: 1, round: 1, attempt: 0 })
  await page.context().close()
})

test('the attempt of an earlier round is taken where each round has one', async () => {
  const page = await opened((view) => {
    const [round] = view.tasks[0]?.rounds ?? []
    if (round === undefined) throw new Error('the run has no round')
    const alone = { ...round, answer_places: [0], places: round.places.slice(0, 1) }
    const [first, , third] = round.attempts
    if (first === undefined || third === undefined) throw new Error('the round has too few attempts')
    const rounds = [first, third].map((attempt, at) => ({
      ...alone,
      round: at + 1,
      attempts: [{ ...attempt, attempt: 0 }],
    }))
    Object.assign(view.tasks[0] ?? {}, { rounds })
  })
  await page.getByRole('tab', { name: 'Round 1' }).click()
  await page.getByRole('button', { name: 'Take this one: attempt 1 of task T1' }).click()
  await settled(page)
  const asked = await page.evaluate(() => window.magis.asked.filter((one) => one.name === 'steer'))
  expect(asked.at(-1)?.given.at(-1)).toEqual({ kind: 'take_attempt', task: 1, round: 1, attempt: 0 })
  await page.context().close()
})

test('of a run that is over another attempt is taken in a new run', async () => {
  const { page, grid } = await attempts('edits')
  await grid.getByRole('button', { name: /^Attempt 1 / }).click()
  await page.getByRole('button', { name: 'Take this one: attempt 1 of task T1' }).click()
  await settled(page)
  const asked = await page.evaluate(() => window.magis.asked.filter((one) => one.name === 'rerunTaking'))
  expect(asked.at(-1)?.given.slice(1)).toEqual([1, 1, 0])
  await page.context().close()
})

test('what showed the fault is edited, run again and put back', async () => {
  const { page } = await attempts('attempts')
  await stage(page, 'evidence')
  const check = page.getByRole('article', { name: 'Made from the issue' })
  await check.getByText('What is run', { exact: true }).click()
  const script = check.getByRole('textbox', { name: 'What is run; it can be edited and run again' })
  const before = await script.inputValue()
  await script.fill(`${before}print('edited')\n`)
  await check.getByRole('button', { name: 'Run it' }).click()
  await check.getByRole('heading', { name: 'On the base' }).waitFor()
  const asked = await page.evaluate(() => window.magis.asked.filter((one) => one.name === 'tryCheck'))
  expect(asked.map((one) => one.given.slice(1))).toEqual([[1, `${before}print('edited')\n`]])
  await check.getByRole('button', { name: 'As it was' }).click()
  expect(await script.inputValue()).toBe(before)
  await page.context().close()
})

test('an edited script that cannot be run is said beside it', async () => {
  const { page } = await attempts('attempts')
  await stage(page, 'evidence')
  const check = page.getByRole('article', { name: 'Made from the issue' })
  await check.getByText('What is run', { exact: true }).click()
  await page.evaluate(() =>
    window.magis.answer('tryCheck', {
      code: 'tests.not_allowed',
      message: 'running code is not allowed in this repository',
      remedy: 'allow it in the form of a run',
    }),
  )
  await check.getByRole('button', { name: 'Run it' }).click()
  await check.getByText('running code is not allowed in this repository').waitFor()
  await page.context().close()
})

test('an edited script that does not end is stopped', async () => {
  const { page } = await attempts('attempts')
  await stage(page, 'evidence')
  const check = page.getByRole('article', { name: 'Made from the issue' })
  await check.getByText('What is run', { exact: true }).click()
  await check.getByRole('textbox').fill('while True:\n    pass\n')
  await check.getByRole('button', { name: 'Run it' }).click()
  await check.getByText('Running what shows the fault').waitFor()
  await check.getByRole('button', { name: 'Stop' }).click()
  await check.getByText('The check was stopped.').waitFor()
  await check.getByRole('button', { name: 'Run it' }).waitFor()
  const asked = await page.evaluate(() => window.magis.asked.filter((one) => one.name === 'stopCheck'))
  expect(asked.map((one) => one.given)).toEqual([[7, 1]])
  expect(await check.getByRole('alert').count()).toBe(0)
  await page.context().close()
})

test('where nothing shows the fault and no tests judge the changes, both are said', async () => {
  const page = await opened(({ evidence }) => {
    if (!evidence?.base) throw new Error('the base was not tested')
    evidence.checks = []
    Object.assign(evidence.base, { files: [], left_out: 0, passed: 0, failing: [], run: null })
  })
  await page.getByText('nothing shows the fault · no tests judge the changes').waitFor()
  await stage(page, 'evidence')
  await page
    .getByText(
      'Nothing was found that fails because of the fault when it is run. Changes are held against the project’s tests alone.',
    )
    .waitFor()
  const base = page.getByRole('region', { name: 'Tests on the base' })
  expect((await base.locator('p').allTextContents()).map((text) => text.trim())).toEqual(['no tests judge the changes'])
  await page.context().close()
})

test('a test of the project that shows the fault is run again as it is', async () => {
  const page = await opened(({ evidence }) => {
    const check = evidence?.checks[0]
    if (check === undefined) throw new Error('the run has no check')
    Object.assign(check, { source: { kind: 'given', test: 'tests/test_report.py' }, script: 'python3 -m pytest -q' })
  })
  await stage(page, 'evidence')
  const check = page.getByRole('article', { name: 'Test named by you' })
  await check.getByText('What is run', { exact: true }).click()
  await check.getByRole('button', { name: 'Run it' }).click()
  await check.getByRole('heading', { name: 'On the base' }).waitFor()
  expect(await check.getByRole('textbox').count()).toBe(0)
  const asked = await page.evaluate(() => window.magis.asked.filter((one) => one.name === 'tryCheck'))
  expect(asked.map((one) => one.given.slice(1))).toEqual([[1, 'python3 -m pytest -q']])
  await page.context().close()
})

test('once a task is closed, answers that were not needed are a number', async () => {
  const { page, grid } = await attempts('edits')
  await grid.getByText('17 not written').waitFor()
  await grid.getByText('49 not written').waitFor()
  expect(await grid.getByRole('button').count()).toBe(32)
  await page.context().close()
})
