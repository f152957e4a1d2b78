// The review of a recorded patch: by hunk, part and line, by hand, across leaving and coming back, and with many files.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PatchView, ReviewState } from '../../src/ipc/types'
import { bigPatch } from '../script/big_patch'
import { twoPartPatch } from '../script/two_part_patch'
import { go, ground, open, openRun, settled, showInspector, type Ground, type Look } from '../window/open'

let on: Ground
beforeAll(async () => {
  on = await ground()
})
afterAll(() => on.close())

const asked = (page: Page, name: string): Promise<unknown[][]> =>
  page.evaluate((wanted) => window.magis.asked.filter((one) => one.name === wanted).map((one) => one.given), name)

/** What was saved last; decisions are saved a moment after they are made. */
async function saved(page: Page): Promise<ReviewState> {
  await page.getByRole('button', { name: 'Back to the run' }).click()
  await page
    .getByRole('main')
    .getByRole('button', { name: /^Review/ })
    .first()
    .waitFor()
  const state = (await asked(page, 'saveReview')).at(-1)?.[1] as ReviewState
  await page
    .getByRole('main')
    .getByRole('button', { name: /^Review/ })
    .first()
    .click()
  await page.getByRole('region', { name: 'Diff of the patch' }).waitFor()
  return state
}

/** Opens the recorded patch, or another: one that is only shown, or one in git's words, to which its files fit. */
async function openReview(look: Look = {}, patch?: PatchView | string): Promise<{ page: Page; errors: string[] }> {
  const { page, errors } = await open(on, look)
  page.setDefaultTimeout(10_000)
  if (typeof patch === 'string') await page.evaluate((given) => window.magis.endIn(5, given), patch)
  else if (patch) await page.evaluate((given) => window.magis.answer('patch', given), patch)
  await go(page, 'runs')
  await page.getByRole('grid').first().focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('r')
  await page.getByRole('region', { name: 'Diff of the patch' }).waitFor()
  await settled(page)
  return { page, errors }
}

const bar = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByRole('status').filter({ hasText: text }).waitFor()

test('parts of a split hunk are decided alone, and the review is as it was when one comes back', async () => {
  const { page, errors } = await openReview({}, twoPartPatch)
  await page.keyboard.press('s')
  await page.keyboard.press('x')
  await page.keyboard.press('a')
  await page.keyboard.press('a')
  await bar(page, /^Apply 2 of 2 hunks in 2 files/)
  await page.keyboard.press('v')
  const state = await saved(page)
  const budget = state.files.find((file) => file.path === 'tally/budget.py')
  expect(budget?.decisions).toEqual([{ hunk: expect.any(Number), decision: 'accepted' }])
  expect(budget?.edited).toContain('has a limit already')
  expect(budget?.edited).not.toContain('limits[category.strip()] =')
  expect(budget?.edited).not.toContain('category = category.strip().casefold()')
  await page.getByText('✓ partly accepted').waitFor()
  await bar(page, /^Apply 2 of 2 hunks in 2 files/)
  expect(errors).toEqual([])
  await page.context().close()
})

test('lines chosen by arrow keys are decided alone', async () => {
  const { page } = await openReview({}, twoPartPatch)
  await page.getByRole('region', { name: 'Diff of the patch' }).focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('a')
  await page.getByText('✓ partly accepted').waitFor()
  const budget = (await saved(page)).files[0]
  expect(budget?.edited).toContain('category = category.strip().casefold()')
  expect(budget?.edited).not.toContain('has a limit already')
  expect(budget?.edited).toContain('limits[category.strip()] =')
  await page.context().close()
})

test('deciding the same again takes it back, and nothing accepted means nothing to apply', async () => {
  const { page } = await openReview()
  await page.keyboard.press('a')
  await page.keyboard.press('k')
  await page.keyboard.press('a')
  await bar(page, 'Nothing is accepted yet.')
  await page.keyboard.press('Enter')
  expect(await asked(page, 'apply')).toEqual([])
  await page.context().close()
})

test('a file is edited in place, applied as written, and can go back to the proposal', async () => {
  const { page } = await openReview()
  await page.keyboard.press('e')
  const text = page.getByRole('textbox', { name: 'Text of tally/budget.py' })
  await text.waitFor()
  await page.keyboard.type('# by hand ')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Written by you; applied as it stands.').waitFor()
  await page.getByText('# by hand').first().waitFor()
  expect((await saved(page)).files[0]?.edited).toContain('# by hand ')
  await page.getByRole('button', { name: 'Back to the proposal' }).click()
  await bar(page, /^Apply 1 of 3 hunks/)
  expect((await saved(page)).files[0]?.edited).toBeNull()
  await page.context().close()
})

test('leaving the editor changes nothing', async () => {
  const { page } = await openReview()
  await page.keyboard.press('e')
  await page.getByRole('textbox', { name: 'Text of tally/budget.py' }).waitFor()
  await page.keyboard.type('# lost ')
  await page.keyboard.press('Escape')
  await bar(page, 'Nothing is accepted yet.')
  await page.context().close()
})

test('the words of the commit and the place are the person’s', async () => {
  const { page } = await openReview()
  await page.keyboard.press('A')
  await page.getByRole('button', { name: /^Commit message and pull request/ }).click()
  await page.getByLabel('Commit message', { exact: true }).fill('Mine')
  await page.getByLabel('Name of the branch').fill('bad name')
  await page.getByText('git does not take this name for a branch.').waitFor()
  await page.getByLabel('Name of the branch').fill('fix/mine')
  await page.getByRole('button', { name: /^Apply/ }).click()
  await expect
    .poll(async () => (await asked(page, 'apply')).at(-1))
    .toMatchObject([5, { commit_message: 'Mine' }, { kind: 'branch', name: 'fix/mine', identity: null }])
  await page.context().close()
})

test('an apply that is refused says why beside the button, and asks for what it needs', async () => {
  const { page } = await openReview()
  await page.evaluate(() =>
    window.magis.answer('apply', {
      code: 'identity_missing',
      message: 'git does not know who commits.',
      remedy: 'Give a name and a mail address.',
    }),
  )
  await page.keyboard.press('A')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('git does not know who commits.').waitFor()
  await page.getByLabel('Your name, for the commit').fill('Ada')
  await page.getByLabel('Your e-mail address, for the commit').fill('ada@example.org')
  await page.getByRole('button', { name: /^Apply/ }).click()
  await expect
    .poll(async () => (await asked(page, 'apply')).at(-1)?.[2])
    .toMatchObject({ identity: { name: 'Ada', email: 'ada@example.org' } })
  await page.context().close()
})

test('programs that a repository names are shown and asked about before they run', async () => {
  const { page } = await openReview()
  await page.evaluate(() => {
    window.magis.answer('apply', {
      code: 'programs_undecided',
      message: "The repository '/srv/tally' names programs that would be run: commit-msg.",
      remedy: 'Look at them, then decide once for this repository whether they are run or left out.',
    })
    window.magis.answer('undecidedPrograms', [
      {
        purpose: 'commit_message',
        named_by: 'commit-msg',
        program: '/srv/tally/.git/hooks/commit-msg',
        content: '3b18e512dba79e4c8300dd08aeb37f8e728b8dad',
      },
    ])
  })
  await page.keyboard.press('A')
  await page.getByRole('button', { name: /^Apply/ }).click()
  const programs = page.getByRole('region', { name: 'Programs of the repository' })
  await programs.getByText('/srv/tally/.git/hooks/commit-msg').waitFor()
  expect(await asked(page, 'decidePrograms')).toEqual([])
  await programs.getByRole('button', { name: 'Apply without them' }).click()
  await expect
    .poll(async () => (await asked(page, 'decidePrograms')).at(-1))
    .toMatchObject([expect.anything(), [{ named_by: 'commit-msg' }], false])
  await expect.poll(async () => (await asked(page, 'apply')).length).toBe(2)
  await page.context().close()
})

test('a conflict stands at its lines, in the tree and in the bar', async () => {
  const { page } = await open(on)
  page.setDefaultTimeout(10_000)
  await page.evaluate(() =>
    window.magis.answer('conflicts', [{ path: 'tally/filters.py', line: 17, reason: 'The line was changed since.' }]),
  )
  await go(page, 'runs')
  await page.getByRole('grid').first().focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('r')
  await page.getByText('Does not fit at line 17:').waitFor()
  await page.getByText('1 conflict').waitFor()
  await page.context().close()
})

test('a text is found in lines that are not drawn', async () => {
  const { page } = await openReview({}, bigPatch(200, 25))
  expect(await page.locator('[data-line]').count()).toBeLessThan(160)
  await page.keyboard.press('Control+f')
  await page.keyboard.type('needle 199')
  await page.getByText('1 of 1', { exact: true }).waitFor()
  await page.locator('.found').first().waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('n')
  expect(await page.locator('[data-line]').count()).toBeLessThan(160)
  await page.context().close()
})

test('side by side shows the same lines', async () => {
  const { page } = await openReview({}, twoPartPatch)
  const shown = (text: string): Promise<number> => page.getByText(text).count()
  expect([await shown('def matching(entries, text):'), await shown('has a limit already')]).toEqual([1, 1])
  await page.keyboard.press('d')
  await page.getByRole('tab', { name: 'Side by side', selected: true }).waitFor()
  expect([await shown('def matching(entries, text):'), await shown('has a limit already')]).toEqual([2, 1])
  await page.context().close()
})

test('what was applied stands in the bar with what goes on from there, and Enter again applies nothing', async () => {
  const { page, errors } = await openReview()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.keyboard.press('A')
  await bar(page, /in tally\.$|in tally\. /)
  await page.getByLabel('Name of the branch').fill('fix/limits;x')
  await page.getByRole('region', { name: 'Diff of the patch' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('On branch fix/limits;x in tally', { exact: true }).waitFor()
  expect(await page.getByRole('button', { name: /^Apply$/ }).count()).toBe(0)
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await settled(page)
  expect(await asked(page, 'apply')).toHaveLength(1)
  expect(await page.getByRole('alert').count()).toBe(0)
  const copied = async (name: string): Promise<string> => {
    await page.getByRole('button', { name, exact: true }).click()
    return page.evaluate(() => navigator.clipboard.readText())
  }
  expect(await copied('Copy branch')).toBe('fix/limits;x')
  expect(await copied('Copy git switch')).toBe("git switch 'fix/limits;x'")
  expect((await copied('Copy pull-request text')).length).toBeGreaterThan(10)
  await page.getByRole('button', { name: /^Undo/ }).click()
  await page.getByRole('button', { name: /^Apply/ }).waitFor()
  expect(await asked(page, 'undoApply')).toHaveLength(1)
  expect(errors).toEqual([])
  await page.context().close()
})

test('the bar and the status bar name the repository of the run, whichever is current', async () => {
  const { page } = await open(on)
  page.setDefaultTimeout(10_000)
  const status = page.getByRole('region', { name: 'Status' })
  await page.evaluate(async () => {
    window.magis.answer('repositories', [
      {
        id: 2,
        name: 'harbour',
        root: '/srv/harbour',
        used_at_ms: 9e12,
        head: { kind: 'branch', name: 'tides' },
        changed_files: 0,
        notes: [],
        problem: null,
        memory: null,
        index: null,
        runs: 0,
      },
      {
        id: 1,
        name: 'tally',
        root: '/srv/tally',
        used_at_ms: 1,
        head: { kind: 'branch', name: 'release/2' },
        changed_files: 0,
        notes: [],
        problem: null,
        memory: null,
        index: null,
        runs: 0,
      },
    ])
    localStorage.setItem('repo', '2')
    window.magis.emit({ name: 'repositoriesChanged', payload: {} })
  })
  await page.keyboard.press('Control+p')
  await page.keyboard.type('harbour')
  await page.keyboard.press('Enter')
  await expect.poll(() => status.innerText()).toContain('tides')
  await go(page, 'runs')
  await page.getByRole('grid').first().focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('r')
  await page.getByRole('region', { name: 'Diff of the patch' }).waitFor()
  await page.keyboard.press('A')
  await bar(page, /new branch .* in tally\./)
  await page.getByLabel('Where the change goes').click()
  await page.getByRole('option', { name: 'Working tree' }).click()
  await bar(page, /to the working tree of tally, branch release\/2\./)
  await expect.poll(() => status.innerText()).toContain('release/2')
  expect(await status.innerText()).not.toContain('tides')
  await page.getByRole('button', { name: 'Back to the run' }).click()
  await expect.poll(() => status.innerText()).toContain('release/2')
  await go(page, 'runs')
  await expect.poll(() => status.innerText()).toContain('tides')
  await page.context().close()
})

test('a model’s review is said as its opinion, beside what no test said, and is not green', async () => {
  for (const [language, said] of [
    ['en', 'Model review: passed · Tests: not run'],
    ['zh_hans', '模型评审：通过 · 测试：未运行'],
  ] as const) {
    const { page } = await openRunPage(language)
    const standing = page.locator('header.screen-head .status')
    await expect.poll(() => standing.innerText()).toBe(said)
    const green = await page.evaluate(() => {
      const probe = document.createElement('span')
      probe.style.color = 'var(--added)'
      document.body.append(probe)
      return getComputedStyle(probe).color
    })
    const verdicts = page.getByText(language === 'en' ? /Model review: passed/ : /模型评审：通过/)
    expect(await verdicts.count()).toBeGreaterThan(2)
    for (const verdict of await verdicts.all())
      expect(await verdict.evaluate((element) => getComputedStyle(element).color)).not.toBe(green)
    expect(await page.getByRole('main').innerText()).not.toMatch(/Approved|approved|已通过/)
    await page.context().close()
  }
})

async function openRunPage(language: 'en' | 'zh_hans'): Promise<{ page: Page }> {
  const { page } = await open(on, { language })
  page.setDefaultTimeout(10_000)
  await openRun(page)
  return { page }
}

test('a patch whose files are not on this machine is coloured by what it shows itself', async () => {
  const { page, errors } = await open(on)
  page.setDefaultTimeout(10_000)
  await page.evaluate(() => window.magis.answer('fileTexts', { before: null, after: null }))
  await go(page, 'runs')
  await page.getByRole('grid').first().focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('r')
  const diff = page.getByRole('region', { name: 'Diff of the patch' })
  await diff.waitFor()
  await diff.locator('.tok-keyword').first().waitFor()
  const words = await diff.locator('.tok-keyword').allTextContents()
  expect(words).toContain('return')
  expect(errors).toEqual([])
  await page.close()
})

test('a test for the fault is shown, and added where the person wants it', async () => {
  const offered = { check: 1, path: 'tests/test_part.py', text: 'def test_part():\n    assert part_0() == 1\n' }
  const { page, errors } = await openReview({}, { ...bigPatch(1, 3), tests: [offered] })
  const choice = page.getByRole('checkbox', { name: 'Add a test for this fault: tests/test_part.py' })
  expect(await choice.isChecked()).toBe(false)
  await page.getByText('Show the test').click()
  await page.getByText('assert part_0() == 1').waitFor()
  await page.evaluate(() =>
    window.magis.answer('conflicts', [{ path: 'tests/test_part.py', line: null, reason: 'A file is there already.' }]),
  )
  await choice.check()
  await page.getByText('Does not fit the files as they are now: A file is there already.').waitFor()
  await page.keyboard.press('A')
  await page.getByRole('button', { name: /^Apply/ }).click()
  await expect.poll(async () => (await asked(page, 'apply')).at(-1)?.[1]).toMatchObject({ tests: [1] })
  expect(errors).toEqual([])
  await page.context().close()
})

test('a hunk says what needs it, in its head as far as there is room and in its detail in full', async () => {
  const { page } = await openReview({ scene: 'evidence', width: 1000 })
  const needed = page.getByText(/^needed by C1, C2, tests\/test_report\.py::/)
  await needed.waitFor()
  await page.getByRole('button', { name: 'Copy', exact: true }).click({ trial: true })
  await showInspector(page)
  const detail = page.getByRole('complementary')
  await detail.getByText('Without this hunk, these fail again').waitFor()
  expect(await detail.locator('.needs li').allTextContents()).toEqual([
    'C1 Made from the issue',
    'C2 Test written by the QA Engineer',
    'tests/test_report.py::TestReportOfAPeriod::test_a_period_without_entries_has_no_lines[since-2025-01-01-until-2025-03-31]',
    'tests/test_command_line.py::TestReportCommand::test_a_file_without_entries_prints_nothing_and_ends_well[utf-8-sig]',
  ])
  await page.context().close()
})
