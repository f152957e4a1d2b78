// Owns how it is said what running code showed: of a check, of an attempt, of the patch. What models think is said by
// verdict.ts.
import { duration, number } from '../../i18n/format'
import { t, tn, word } from '../../i18n/index.svelte'
import type {
  AsTestTrouble,
  BaseTests,
  BugCheck,
  ChangeTests,
  CheckState,
  ProgramRun,
  Proof,
  RoundView,
  TestsOnChange,
} from '../../ipc'
import type { Dot } from './attempts'
import { placesOf } from './attempts'
import type { Running } from './live.svelte'

/** The code that runs right now, in a phrase. */
export function runningText({ code, changed, task }: Pick<Running, 'code' | 'changed' | 'task'>): string {
  const what = word(`tests.running.${code}`)
  if (!changed) return t('tests.running.base', { what })
  return task === null ? t('tests.running.patch', { what }) : t('tests.running.task', { what, id: task })
}

/** The mark of each proof, in a square of 12: a hook, a wave, a cross. */
export const PROOF_SHAPES: Readonly<Record<Proof['kind'], string>> = {
  shown_to_work: 'm2.5 6.3 2.4 2.4 4.6-5.2',
  plausible: 'M2 7c1.3-2 2.7-2 4-.8s2.7 1.2 4-.8',
  not_shown: 'm3 3 6 6M9 3 3 9',
  not_run: '',
}

/** What is known by running it, in a sentence; none where nothing was run. */
export function proofText(proof: Proof, tested: ChangeTests | null): string | null {
  switch (proof.kind) {
    case 'not_run':
      return null
    case 'shown_to_work':
      return t('tests.shown', { grade: word(`tests.grade.${proof.grade}`) })
    case 'plausible':
      return t('tests.plausible', { grade: word(`tests.grade.${proof.grade}`) })
    case 'not_shown':
      return t('tests.not_shown', { why: (tested === null ? null : whyNot(tested)) ?? proof.why })
  }
}

/** Why it is not shown, in the language in force, where the numbers say it; as `ChangeTests::proof` in Rust. */
function whyNot({ checks, tests }: ChangeTests): string | null {
  const broken = tests?.newly_failing.length ?? 0
  if (broken > 0) return tn('tests.newly_failing', broken)
  if (tests !== null && tests.incomplete !== null && (tests.passed === 0 || (tests.missing ?? 0) > 0)) return null
  if (checks.length === 0) return t('tests.why.no_check')
  const missing = checks.filter((check) => check.state.kind !== 'gone').length
  return missing === 0
    ? null
    : t('tests.why.missing', { n: number(missing), checks: tn('tests.checks', checks.length) })
}

export function stateText(state: CheckState): string {
  switch (state.kind) {
    case 'gone':
      return word(`tests.grade.${state.grade}`)
    case 'other_error':
      return t('tests.state.other_error', { what: state.what })
    case 'present':
    case 'timed_out':
      return word(`tests.state.${state.kind}`)
  }
}

/** Whether a check is offered as a test of the project, or why not. */
export function offeredText(path: string, trouble: AsTestTrouble | null = null): string {
  if (trouble === null) return t('tests.offered', { path })
  return trouble.kind === 'not_run'
    ? t('tests.offered.not_run', { why: trouble.why })
    : word(`tests.offered.${trouble.kind}`)
}

/** `python -m pytest ended with exit code 0 after 1.2 s`. */
export function endedText(run: ProgramRun): string {
  const time = duration(run.took_ms)
  if (run.command === '') return run.end
  return run.status === null
    ? t('tests.ended.otherwise', { command: run.command, end: run.end, time })
    : t('tests.ended', { command: run.command, status: run.status, time })
}

/**
 * Whether it can be said that the tests pass: some did, the change takes none away, and the runner ended well with a whole
 * report. Where the base has failing tests it does not, whatever the change is.
 */
export function testsPass({ passed, newly_failing, missing = 0, incomplete, run }: TestsOnChange): boolean {
  return passed > 0 && newly_failing.length === 0 && missing === 0 && incomplete === null && run.status === 0
}

/** What the tests say of a change; that they pass only `beside` their command, exit code, time and tree. */
export function testsText(tests: TestsOnChange, beside: 'their run' | 'nothing'): string {
  const { passed, newly_passing, newly_failing, still_failing, missing = 0 } = tests
  const said: string[] = []
  if (newly_failing.length > 0) said.push(tn('tests.newly_failing', newly_failing.length))
  if (missing > 0) said.push(tn('tests.missing', missing))
  if (beside === 'their run' && testsPass(tests)) said.push(tn('tests.passing', passed))
  else if (said.length === 0) said.push(t(passed + still_failing === 0 ? 'tests.no_result' : 'tests.none_fails'))
  if (newly_passing.length > 0) said.push(tn('tests.newly_passing', newly_passing.length))
  return said.join(' · ')
}

/** How many tests passed on the base, or that none judge changes. */
export const baseText = ({ run, passed }: BaseTests): string =>
  run === null ? t('tests.base.none') : tn('tests.passed', passed)

export function sourceText(check: BugCheck): string {
  return check.source.kind === 'failing_tests'
    ? tn('tests.source.failing_tests', check.source.tests.length)
    : word(`tests.source.${check.source.kind}`)
}

/** What the source names: tests, or the file of one. */
export function sourceNames(check: BugCheck): readonly string[] {
  switch (check.source.kind) {
    case 'issue':
      return []
    case 'given':
      return [check.source.test]
    case 'failing_tests':
      return check.source.tests
    case 'written':
      return [check.source.path]
  }
}

/** The name of a place: its symbols, else its lines. */
export function placeText({ symbols, spans }: RoundView['places'][number]): string {
  return symbols.length > 0 ? symbols.join(', ') : t('solve.lines', { lines: linesText(spans) })
}

export const linesText = (spans: readonly (readonly [number, number])[]): string =>
  spans.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(', ')

/** How an attempt stands, in words: what its dot shows. */
export function standingText({ attempt, standing }: Dot, round: number): string {
  if (attempt === null || standing === 'missing') return t('tests.dot.missing')
  if (attempt.same_as !== null) {
    const [of, n] = attempt.same_as
    return of === round ? t('tests.dot.repeats', { n: n + 1 }) : t('tests.dot.repeats.round', { n: n + 1, round: of })
  }
  if (attempt.tested === null) return t(standing === 'untested' ? 'tests.dot.untested' : 'tests.dot.unusable')
  const said = attempt.tested.checks.map((check) => stateText(check.state))
  if (attempt.tested.tests !== null) said.push(testsText(attempt.tested.tests, 'nothing'))
  return [...new Set(said)].join(', ')
}

/** The name of an attempt's dot, for those who do not see it. */
export function dotText(dot: Dot, round: RoundView, place: RoundView['places'][number]): string {
  const what = standingText(dot, round.round)
  return placesOf(round).length === 1 && placeText(place) === ''
    ? `${t('tests.attempt', { n: dot.number + 1 })}: ${what}`
    : t('tests.dot', { n: dot.number + 1, place: placeText(place), what })
}
