// The way of one issue through the window without a mouse, and what a live run lets a person do and keeps still for.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { go, ground, open, settled, type Ground } from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

const asked = (page: Page, name: string): Promise<unknown[][]> =>
  page.evaluate((wanted) => window.magis.asked.filter((one) => one.name === wanted).map((one) => one.given), name)
const last = async (page: Page, name: string): Promise<unknown[] | undefined> => (await asked(page, name)).at(-1)

/** Opens the run that is at work, as it was after the event `seq`. */
async function openRunning(page: Page, seq: number): Promise<void> {
  page.setDefaultTimeout(10_000)
  await page.evaluate((at) => window.magis.advance(6, at), seq)
  await go(page, 'runs')
  await page.getByRole('grid').first().focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^Pause/ }).waitFor()
  await settled(page)
}

async function unfold(page: Page, stage: string): Promise<void> {
  const head = page.locator(`#stage-${stage} .fold`)
  if ((await head.getAttribute('aria-expanded')) === 'false') await head.click()
}

test('an issue goes from paste to a branch and back, and is found again, by keys alone', async () => {
  const { page, errors } = await open(on)
  page.setDefaultTimeout(10_000)
  await page.keyboard.press('Control+1')
  await settled(page)
  await page.keyboard.insertText('# A limit below zero is taken\n\nIt should be refused.')
  await page.getByText('A limit below zero is taken', { exact: true }).waitFor()
  await page.keyboard.press('Control+Enter')

  await page.getByRole('button', { name: /^Pause/ }).waitFor()
  expect(await last(page, 'startRun')).toMatchObject([
    { repo: 1, issue: '# A limit below zero is taken\n\nIt should be refused.', base: { kind: 'head' }, files: [] },
  ])
  await page.evaluate(() => window.magis.advance(6, 12))
  await page.locator('#stage-team').waitFor()

  await page.keyboard.press('p')
  await page.getByRole('button', { name: /^Resume/ }).waitFor()
  expect(await last(page, 'pauseRun')).toEqual([6])
  await page.keyboard.press('p')
  await page.getByRole('button', { name: /^Pause/ }).waitFor()
  expect(await last(page, 'resumeRun')).toEqual([6])

  await page.evaluate(() => window.magis.advance(6, window.magis.lastSeq(6)))
  await page
    .getByRole('main')
    .getByRole('button', { name: /^Review/ })
    .first()
    .waitFor()
  await page.keyboard.press('r')
  await page.getByRole('region', { name: 'Diff of the patch' }).waitFor()
  await page.keyboard.press('a')
  await page.keyboard.press('x')
  await page.keyboard.press('x')
  await page.getByText(/^Apply 1 of 3 hunks in 1 file to new branch magis\//).waitFor()
  await page.keyboard.press('Enter')
  await page
    .getByText(/^On branch magis\//)
    .first()
    .waitFor()
  expect(await last(page, 'apply')).toMatchObject([
    6,
    {
      files: [
        { decisions: [{ decision: 'accepted' }] },
        { decisions: [{ decision: 'rejected' }] },
        { decisions: [{ decision: 'rejected' }] },
      ],
    },
    { kind: 'branch' },
  ])
  await page.keyboard.press('u')
  await page.getByText('Taken back; the repository is as it was before.').waitFor()
  expect(await last(page, 'undoApply')).toEqual([6])

  await page.keyboard.press('Control+2')
  await page.getByRole('grid').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('below zero')
  await page.getByText('1 run found').waitFor()
  await expect.poll(() => page.locator('mark').allInnerTexts()).toEqual(['below zero'])
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'A limit below zero is taken' }).waitFor()
  expect(errors).toEqual([])
  await page.context().close()
})

test('the log stays where it is read, and follows only who stands at its end', async () => {
  const { page } = await open(on, { scene: 'running', height: 600 })
  await openRunning(page, 16)
  for (const stage of ['locate', 'team', 'meeting']) await unfold(page, stage)
  const log = page.locator('.log')
  const mark = page.locator('#stage-meeting')
  await mark.evaluate((element) => element.scrollIntoView({ block: 'start' }))
  await settled(page)
  const before = await mark.boundingBox()
  await page.evaluate(() => window.magis.advance(6, 24))
  await page.locator('#stage-code').waitFor()
  await settled(page)
  expect((await mark.boundingBox())?.y).toBeCloseTo(before?.y ?? 0, 0)
  await page.getByRole('button', { name: /^Go to the newest/ }).click()
  await page.evaluate(() => window.magis.advance(6, 26))
  await page.getByRole('article', { name: /T1/ }).getByText('Model review: passed').first().waitFor()
  await settled(page)
  expect(await log.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight)).toBeLessThan(
    2,
  )
  await page.context().close()
})

test('a run is steered where the thing stands', async () => {
  const { page } = await open(on, { scene: 'running' })
  await openRunning(page, 16)
  for (const stage of ['locate', 'team', 'meeting']) await unfold(page, stage)
  await page.getByRole('button', { name: 'Drop tally/filters.py' }).click()
  expect(await last(page, 'steer')).toEqual([6, { kind: 'drop', path: 'tally/filters.py' }])
  await page.getByRole('button', { name: 'Add back tally/entries.py' }).click()
  expect(await last(page, 'steer')).toEqual([6, { kind: 'add', path: 'tally/entries.py' }])

  await page.getByRole('button', { name: 'Edit task T1 and its Developer' }).click()
  await page.getByLabel('Task', { exact: true }).fill('Compare in spent_in alone.')
  await page.getByLabel('Focus').fill('Comparing')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('button', { name: 'Edit task T1 and its Developer' }).waitFor()
  expect((await asked(page, 'steer')).slice(-2)).toEqual([
    [6, { kind: 'edit_task', task: 1, description: 'Compare in spent_in alone.' }],
    [6, { kind: 'edit_role', task: 1, role: { name: 'CaseInsensitiveTally', focus: 'Comparing' } }],
  ])

  await page.getByLabel('Speak in the meeting').fill('Keep what is stored as it was typed.')
  await page.keyboard.press('Enter')
  await expect
    .poll(() => last(page, 'steer'))
    .toEqual([6, { kind: 'speak', text: 'Keep what is stored as it was typed.' }])

  await page
    .locator('.log')
    .focus()
    .catch(() => undefined)
  await page.getByRole('button', { name: /^Add a hint/ }).click()
  await page.keyboard.type('Limits as well.')
  await page.keyboard.press('Enter')
  await expect.poll(() => last(page, 'steer')).toEqual([6, { kind: 'hint', text: 'Limits as well.' }])
  await page.context().close()
})

test('code streams into the lane of its task and gives way to the diff', async () => {
  const { page } = await open(on, { scene: 'running' })
  await openRunning(page, 24)
  const lane = page.getByRole('article', { name: /T1/ })
  await page.evaluate(() => {
    window.magis.news(6, {
      kind: 'call_started',
      stage: 'code',
      agent: 'developer',
      step: 'P10-code',
      task: 1,
      path: 'tally/budget.py',
    })
    window.magis.news(6, {
      kind: 'call_started',
      stage: 'code',
      agent: 'developer',
      step: 'P10-code',
      task: 2,
      path: 'tally/filters.py',
    })
    window.magis.news(6, {
      kind: 'text',
      task: 1,
      agent: 'developer',
      step: 'P10-code',
      delta: 'def status(limits):\n',
    })
    window.magis.news(6, {
      kind: 'text',
      task: 2,
      agent: 'developer',
      step: 'P10-code',
      delta: 'def matching(text):\n',
    })
    window.magis.news(6, { kind: 'text', task: 1, agent: 'developer', step: 'P10-code', delta: '    return []\n' })
  })
  await lane.getByText('def status(limits):\n    return []').waitFor()
  await page.getByRole('article', { name: /T2/ }).getByText('def matching(text):').waitFor()
  expect(await lane.getByText('def matching(text):').count()).toBe(0)
  await page.evaluate(() => window.magis.advance(6, 25))
  await lane.getByRole('region', { name: /budget\.py/ }).waitFor()
  expect(await lane.getByText('def status(limits):\n    return []').count()).toBe(0)
  await page.context().close()
})

test('the code that runs is said in the head of its stage and in the lane of its task', async () => {
  const { page } = await open(on, { scene: 'running' })
  await openRunning(page, 24)
  const lane = page.getByRole('article', { name: /T1/ })
  const head = page.locator('#stage-code').getByRole('status')
  const running = 'Running the nearest tests on a change of T1'
  await page.evaluate(() => window.magis.news(6, { kind: 'code_started', code: 'some_tests', changed: true, task: 1 }))
  await lane.getByText(running).waitFor()
  await head.getByText(running).waitFor()
  await page.evaluate(() =>
    window.magis.news(6, { kind: 'code_started', code: 'all_tests', changed: false, task: null }),
  )
  await head.getByText('Running all tests on the base').waitFor()
  expect(await lane.getByText(/Running/).count()).toBe(0)
  await page.evaluate(() => window.magis.news(6, { kind: 'code_ended' }))
  await head.getByText(/Running/).waitFor({ state: 'detached' })
  await page.context().close()
})

test('a pause is waited for, and a problem halts the run with its remedy', async () => {
  const { page } = await open(on, { scene: 'running' })
  await openRunning(page, 24)
  await page.evaluate(() => window.magis.answer('pauseRun', null))
  await page.keyboard.press('p')
  await page.getByRole('button', { name: 'Pausing after this call' }).waitFor()
  await page.evaluate(() =>
    window.magis.news(6, {
      kind: 'problem',
      problem: {
        code: 'memory',
        message: 'There is too little memory for the model.',
        remedy: 'Close other programs, or take a smaller model.',
      },
    }),
  )
  await page.getByRole('alert').getByText('Close other programs, or take a smaller model.').waitFor()
  await page.getByRole('timer').getByText('left').waitFor({ state: 'detached' })
  await page.context().close()
})

test('the plan is walked by arrow keys, and Enter goes to the task', async () => {
  const { page } = await open(on, { scene: 'running' })
  await openRunning(page, 25)
  await unfold(page, 'plan')
  await page.getByRole('group', { name: 'Plan of the tasks' }).getByRole('button').first().focus()
  const task = (): Promise<string | null | undefined> =>
    page.evaluate(() => document.activeElement?.getAttribute('data-task'))
  for (const [key, to] of [
    ['ArrowDown', '2'],
    ['ArrowUp', '1'],
    ['ArrowRight', '3'],
    ['ArrowRight', '3'],
    ['ArrowLeft', '1'],
  ] as const) {
    await page.keyboard.press(key)
    expect(await task()).toBe(to)
  }
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('task-3')
  await page.context().close()
})

test('a run again from a stage asks where it stands and starts a new run', async () => {
  const { page } = await open(on)
  page.setDefaultTimeout(10_000)
  await go(page, 'runs')
  await page.getByRole('grid').first().focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Run again from Code' }).click()
  await page.getByRole('dialog').getByLabel('Seed').fill('9')
  await page.getByRole('button', { name: 'Run again', exact: true }).click()
  await expect.poll(() => last(page, 'rerun')).toMatchObject([5, 'code', expect.anything(), 9])
  await page.context().close()
})

test('a megabyte of markup in the issue is text, in the field and in the preview', async () => {
  const { page, errors } = await open(on)
  page.setDefaultTimeout(30_000)
  await go(page, 'solve')
  const piece =
    '# <img src=x onerror="window.acted=1">\n\n<script>window.acted=1</script> <b onclick="window.acted=1">[x](javascript:window.acted=1)</b>\n\n'
  await page.evaluate(
    (text) => {
      const field = document.querySelector('textarea')
      if (!field) throw new Error('no field')
      field.value = text
      field.dispatchEvent(new Event('input', { bubbles: true }))
    },
    piece.repeat(Math.ceil(1_000_000 / piece.length)),
  )
  await page.getByText(/^1,000,\d+ characters/).waitFor()
  await page.getByRole('tab', { name: 'Preview' }).click()
  await page.getByRole('region', { name: 'Preview' }).getByText('onerror').first().waitFor()
  expect(await page.evaluate(() => 'acted' in window)).toBe(false)
  expect(await page.locator('main img, main script, main [onclick]').count()).toBe(0)
  await page.getByRole('tab', { name: 'Write' }).click()
  await page.locator('textarea').first().fill('https://example.org/issues/1')
  await page.getByText('This is only an address.', { exact: false }).waitFor()
  expect(await page.getByRole('button', { name: /^Solve/, disabled: true }).count()).toBe(1)
  expect(errors).toEqual([])
  await page.context().close()
})

test('the draft of each repository is kept while one goes elsewhere', async () => {
  const { page } = await open(on)
  page.setDefaultTimeout(10_000)
  await go(page, 'solve')
  await page.locator('textarea').first().fill('Half a thought')
  await page.getByRole('slider', { name: 'Effort' }).press('Home')
  await go(page, 'runs')
  await go(page, 'solve')
  await expect.poll(() => page.locator('textarea').first().inputValue()).toBe('Half a thought')
  expect(await page.getByRole('slider', { name: 'Effort' }).getAttribute('aria-valuetext')).toBe('quick')
  await page.context().close()
})

test('quick runs take the model that is their default, and the others theirs', async () => {
  const { page } = await open(on)
  await go(page, 'models')
  await page.getByRole('button', { name: 'Actions for Qwen2.5-Coder 7B Instruct' }).click()
  await page.getByRole('menuitem', { name: 'Use for quick runs' }).click()
  await page.getByText('Quick runs', { exact: true }).waitFor()
  await go(page, 'solve')
  const model = page.getByRole('combobox', { name: /^Model/ })
  expect(await model.innerText()).toContain('1.5B')
  await page.getByRole('slider').press('Home')
  await expect.poll(() => model.innerText()).toContain('7B')
  await page.context().close()
})

test('a repository that is not there starts nothing and says so at the form', async () => {
  const { page } = await open(on, { scene: 'problems' })
  page.setDefaultTimeout(10_000)
  await go(page, 'solve')
  await page.locator('textarea').first().fill('Something fails')
  await page.getByRole('alert').getByText('The folder /srv/work/billing is not there any more.').waitFor()
  await page.keyboard.press('Control+Enter')
  expect(await asked(page, 'startRun')).toEqual([])
  await page.context().close()
})

test('the focus comes back to where a person was when a field closes', async () => {
  const { page } = await open(on, { scene: 'running' })
  await openRunning(page, 16)
  for (const stage of ['locate', 'team']) await unfold(page, stage)
  const focused = (): Promise<string> =>
    page.evaluate(() =>
      (document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '').trim(),
    )
  await page.keyboard.press('h')
  await page.getByLabel('Hint', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(focused).toMatch(/^Add a hint/)
  await page.getByRole('button', { name: 'Edit task T2 and its Developer' }).press('Enter')
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA')
  await page.keyboard.press('Escape')
  await expect.poll(focused).toBe('Edit task T2 and its Developer')
  await page.getByRole('button', { name: 'Add a file' }).press('Enter')
  await page.keyboard.type('holidays')
  await page.getByRole('option').first().waitFor()
  await page.keyboard.press('Enter')
  await expect.poll(focused).toBe('Add a file')
  expect(await last(page, 'steer')).toEqual([6, { kind: 'add', path: 'tally/holidays.py' }])
  await page.context().close()
})
