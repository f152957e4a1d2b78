// What the dots of a round show, which attempt is looked at first, and what the form makes of a choice of tests.
import { expect, test } from 'vitest'
import {
  acceptedOf,
  dotTowards,
  dotsOf,
  firstShown,
  hasMany,
  isUsable,
  standingOf,
} from '../../src/features/solve/attempts'
import { baseText, dotText, proofText, testsPass, testsText } from '../../src/features/solve/proof'
import {
  chosenRow,
  firstChoice,
  namesIn,
  obstacle,
  offersIssueCode,
  shares,
} from '../../src/features/solve/tests_choice'
import { neededBy } from '../../src/features/review/needed'
import type {
  AttemptView,
  CheckState,
  CodePermission,
  RoundView,
  TestCommandRow,
  TestsChoice,
  TestsOnChange,
} from '../../src/ipc'
import { evidenceRun, attemptsAt } from '../script/evidence_run'
import { fold } from '../script/recorded'

const run = (status: number) => ({
  command: 'pytest',
  folder: '',
  end: '',
  status,
  took_ms: 1200,
  stdout: { text: '', cut_bytes: 0 },
  stderr: { text: '', cut_bytes: 0 },
  refused: [],
})

function attempt(number: number, more: Partial<AttemptView> = {}): AttemptView {
  return {
    attempt: number,
    diagnosis: '',
    change: { kind: 'modify', edits: [] },
    findings: [],
    failed: null,
    verdict: null,
    place: 0,
    mode: 'definition',
    same_as: null,
    votes: 1,
    likelihood: null,
    unlikely: false,
    tested: null,
    proof: { kind: 'not_run' },
    diff: '',
    ...more,
  }
}

function tested(number: number, state: CheckState, failing: string[]): AttemptView {
  const tests: TestsOnChange = {
    passed: 30,
    newly_passing: [],
    newly_failing: failing.map((name) => ({ name, message: '' })),
    still_failing: 0,
    run: run(0),
    incomplete: null,
  }
  const shown = state.kind === 'gone' && failing.length === 0
  return attempt(number, {
    tested: { tree: 't', checks: [{ check: 1, state, run: run(0) }], tests },
    proof: shown ? { kind: 'shown_to_work', grade: 'exception_gone' } : { kind: 'not_shown', why: 'as Rust says' },
  })
}

const gone: CheckState = { kind: 'gone', grade: 'exception_gone' }
const place = (symbol: string): RoundView['places'][number] => ({ symbols: [symbol], spans: [[1, 2]] })
const round = (attempts: AttemptView[], places: string[], answer_places = attempts.map(() => 0)): RoundView => ({
  round: 1,
  symbols: places.slice(0, 1),
  spans: [],
  places: places.map(place),
  answer_places,
  attempts,
})

test('an attempt stands by what was tested', () => {
  expect(standingOf(tested(0, gone, []))).toBe('shown')
  expect(standingOf(tested(0, gone, ['a']))).toBe('breaks')
  expect(standingOf(tested(0, { kind: 'present' }, []))).toBe('not_shown')
  expect(standingOf(tested(0, { kind: 'present' }, ['a']))).toBe('not_shown')
  expect(standingOf(tested(0, { kind: 'timed_out' }, []))).toBe('not_shown')
})

test('an attempt that was not tested waits for it, or repeats another, or has nothing to test', () => {
  expect(standingOf(attempt(0))).toBe('untested')
  expect(standingOf(attempt(1, { same_as: [1, 0] }))).toBe('idle')
  expect(standingOf(attempt(1, { failed: 'no code', change: null }))).toBe('idle')
  expect(standingOf(attempt(1, { findings: [{ kind: 'words_only' }] }))).toBe('idle')
  expect(isUsable(attempt(1, { findings: [{ kind: 'deletes_far_more', deleted: 9, added: 1 }] }))).toBe(true)
})

test('dots stand at the places that Rust says, those of attempts that are missing or failed as well', () => {
  const failed = attempt(4, { failed: 'none', change: null, place: 0 })
  const rows = dotsOf(round([tested(0, gone, []), failed], ['a', 'b', 'c'], [0, 0, 0, 0, 0, 1, 1, 2]))
  expect(rows.map((row) => row.dots.map((dot) => dot.number))).toEqual([[0, 1, 2, 3, 4], [5, 6], [7]])
  expect(rows[0]?.dots.map((dot) => dot.standing)).toEqual(['shown', 'missing', 'missing', 'missing', 'idle'])
  expect(rows[2]?.dots[0]?.standing).toBe('missing')
})

test('arrows lead through the attempts that are written, and to the rows beside them', () => {
  const of = [0, 1, 2, 4].map((number) => attempt(number, { place: number < 4 ? 0 : 1 }))
  const rows = dotsOf(round(of, ['a', 'b'], [0, 0, 0, 0, 1, 1, 1, 1]))
  expect(dotTowards('ArrowRight', rows, 2)).toBe(4)
  expect(dotTowards('ArrowRight', rows, 4)).toBeNull()
  expect(dotTowards('ArrowLeft', rows, 1)).toBe(0)
  expect(dotTowards('ArrowDown', rows, 2)).toBe(4)
  expect(dotTowards('ArrowUp', rows, 4)).toBe(0)
  expect(dotTowards('ArrowUp', rows, 1)).toBeNull()
  expect(dotTowards('End', rows, 0)).toBe(4)
  expect(dotTowards('Enter', rows, 0)).toBeNull()
})

test('one attempt at one place is nothing to choose from', () => {
  expect(hasMany(round([attempt(0)], ['a']))).toBe(false)
  expect(hasMany(round([attempt(0)], ['a'], [0, 0, 0, 0]))).toBe(true)
  expect(hasMany(round([attempt(0)], ['a', 'b']))).toBe(true)
})

test('the attempt in the patch is looked at first, then one that works, then the last', () => {
  const some = round([attempt(0), tested(1, gone, []), attempt(2)], ['a'])
  expect(firstShown(some, [1, 0])?.attempt).toBe(0)
  expect(firstShown(some, [2, 0])?.attempt).toBe(1)
  expect(firstShown(round([attempt(0), attempt(1)], ['a']), null)?.attempt).toBe(1)
})

test('a dot says where its attempt is and what became of it', () => {
  const some = round([tested(0, gone, []), attempt(1, { same_as: [1, 0] })], ['filter.in_period'], [0, 0, 0])
  const [row] = dotsOf(some)
  expect(row?.dots.map((dot) => dotText(dot, some, row.place))).toEqual([
    'Attempt 1 at filter.in_period: the exception is gone, no test fails that passed before',
    'Attempt 2 at filter.in_period: repeats attempt 1',
    'Attempt 3 at filter.in_period: not written',
  ])
})

test('that tests pass is said only beside their run, where some did, none newly fails and the runner ended well', () => {
  const check = (more: Partial<TestsOnChange>, status: number, said: string, passes = false): void => {
    const tests: TestsOnChange = {
      passed: 30,
      newly_passing: [],
      newly_failing: [],
      still_failing: 0,
      run: run(status),
      incomplete: null,
      ...more,
    }
    expect([testsText(tests, 'their run'), testsPass(tests)]).toEqual([said, passes])
    expect(testsText(tests, 'nothing')).not.toMatch(/^30 tests/)
  }
  check({}, 0, '30 tests pass', true)
  check({ still_failing: 1 }, 1, 'no test fails that passed before')
  check({ incomplete: 'it broke off' }, 0, 'no test fails that passed before')
  check({ newly_passing: ['a'] }, 1, 'no test fails that passed before · 1 test passes that failed on the base')
  check({ newly_failing: [{ name: 'a', message: '' }] }, 1, '1 test fails that passed on the base')
  check({ missing: 2, incomplete: 'it broke off' }, 1, '2 tests that passed on the base gave no result')
  check({ passed: 0, incomplete: 'no report' }, 2, 'no test gave a result')
})

test('of the base it is said how many tests passed', () => {
  const base = { covers: [], files: [], left_out: 0, passed: 30, failing: [], wavering: [], incomplete: null }
  expect(baseText({ ...base, run: run(0) })).toBe('30 tests passed')
})

test('what is not shown is said by its numbers, else as Rust says it', () => {
  const said = ({ proof, tested: of }: AttemptView): string | null => proofText(proof, of)
  expect(said(attempt(0))).toBeNull()
  expect(said(tested(0, gone, []))).toBe('Shown to work: the exception is gone')
  expect(said(tested(0, gone, ['a']))).toBe('Not shown to work: 1 test fails that passed on the base')
  expect(said(tested(0, { kind: 'present' }, []))).toBe('Not shown to work: 1 of 1 check still fails')
  expect(proofText({ kind: 'plausible', grade: 'wrong_output_gone' }, null)).toBe(
    'Plausible, not shown to work: the wrong output is gone',
  )
  expect(proofText({ kind: 'not_shown', why: 'as Rust says' }, null)).toBe('Not shown to work: as Rust says')
})

const rows: TestCommandRow[] = [
  { command: { line: 'tox', folder: '' }, runner: null, reason: 'tox.ini', before: [], allowed: null },
  {
    command: { line: 'pytest', folder: 'py' },
    runner: 'pytest',
    reason: 'pytest.ini',
    before: [],
    allowed: 'isolated',
  },
]

test('running begins with what is allowed, else with the best guess, else with a command to be typed', () => {
  expect(firstChoice(rows)).toEqual({ kind: 'run', command: { line: 'pytest', folder: 'py' } })
  expect(firstChoice(rows.slice(0, 1))).toEqual({ kind: 'run', command: { line: 'tox', folder: '' } })
  expect(firstChoice([])).toEqual({ kind: 'run', command: { line: '', folder: '' } })
})

const isolates: CodePermission = { issue_code: null, not_isolated: null }
const isolatesNothing: CodePermission = {
  issue_code: null,
  not_isolated: { code: 'name_spaces', said: 'EPERM: Operation not permitted' },
}

test('a run with tests begins only by an allowed command', () => {
  const choice = (line: string, folder = ''): TestsChoice => ({ kind: 'run', command: { line, folder } })
  const stands = (chosen: TestsChoice): string | null => obstacle(chosen, rows, isolates)
  expect(stands({ kind: 'skip' })).toBeNull()
  expect(stands(choice(' '))).toBe('no_command')
  expect(stands(choice('tox'))).toBe('no_consent')
  expect(stands(choice('make test'))).toBe('no_consent')
  expect(stands(choice('pytest', 'py'))).toBeNull()
  expect(obstacle(choice('tox'), null, isolates)).toBeNull()
  expect(obstacle(choice('tox'), rows, null)).toBeNull()
  expect(chosenRow(choice('pytest'), rows)?.allowed).toBeNull()
})

test('where nothing isolates code, it is run only if that was allowed in so many words', () => {
  const pytest: TestsChoice = { kind: 'run', command: { line: 'pytest', folder: 'py' } }
  const waived = rows.map((row) => ({ ...row, allowed: 'not_isolated' as const }))
  expect(obstacle(pytest, rows, isolatesNothing)).toBe('no_consent')
  expect(obstacle(pytest, waived, isolatesNothing)).toBeNull()
  expect(obstacle(pytest, waived, isolates)).toBeNull()
})

test('what the issue shows alone can be run where no command was found, once it is allowed', () => {
  const chosen: TestsChoice = { kind: 'issue_code' }
  const own: TestCommandRow = {
    command: { line: 'make', folder: '' },
    runner: null,
    reason: '',
    before: [],
    allowed: null,
  }
  expect(offersIssueCode({ kind: 'skip' }, null)).toBe(false)
  expect(offersIssueCode({ kind: 'skip' }, rows)).toBe(false)
  expect(offersIssueCode({ kind: 'skip' }, [own])).toBe(true)
  expect(offersIssueCode(chosen, rows)).toBe(true)
  expect(obstacle(chosen, [], isolates)).toBe('no_consent')
  expect(obstacle(chosen, [], { ...isolates, issue_code: 'isolated' })).toBeNull()
  expect(obstacle(chosen, [], { ...isolatesNothing, issue_code: 'isolated' })).toBe('no_consent')
  expect(obstacle(chosen, [], { ...isolatesNothing, issue_code: 'not_isolated' })).toBeNull()
})

test('attempts and places are those of the effort only where something is run', () => {
  const effort = { attempts: 8, places: 3 }
  expect(shares({ kind: 'skip' }, effort)).toEqual({ attempts: 1, places: 1 })
  expect(shares({ kind: 'run', command: { line: 'tox', folder: '' } }, effort)).toEqual(effort)
})

test('failing tests are typed one a line', () => {
  expect(namesIn(' a::b \n\n c\r\n')).toEqual(['a::b', 'c'])
})

test('the made-up run has every standing, a choice to make, and a patch whose hunk its checks need', () => {
  const live = fold(evidenceRun, attemptsAt)
  const standings = live.tasks.flatMap((task) =>
    task.rounds.flatMap((one) => dotsOf(one).map((row) => row.dots.map((dot) => dot.standing))),
  )
  expect(standings).toEqual([
    ['breaks', 'idle', 'shown'],
    ['not_shown', 'idle', 'missing'],
  ])
  const over = fold(evidenceRun)
  expect(over.tasks.map((task) => acceptedOf(task)?.attempt)).toEqual([2])
  expect(over.evidence?.proof.kind).toBe('shown_to_work')
  const at = over.tasks[0]?.needed[0]?.line ?? 0
  expect(neededBy(over, [1], { first: at - 3, count: 7 }).slice(0, 2)).toEqual(['C1', 'C2'])
  expect(neededBy(over, [1], { first: at + 20, count: 7 })).toEqual([])
  expect(neededBy(live, [1], { first: at - 3, count: 7 })).toEqual([])
})
