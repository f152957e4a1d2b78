// Beside a hunk stands what fails again without it.
import { expect, test } from 'vitest'
import { neededBy, needsOf } from '../../src/features/review/needed'
import type { HunkNeed, Proof, RunView } from '../../src/ipc'

const shown: Proof = { kind: 'shown_to_work', grade: 'expected_result' }

/** What of a run the review reads: each task with what its hunks are needed by. */
function run(proof: Proof, ...tasks: HunkNeed[][]): RunView {
  const views = tasks.map((needed, index) => ({ task: { id: index + 1 }, needed }))
  return { evidence: { proof }, tasks: views } as unknown as RunView
}

const one: HunkNeed = { line: 28, checks: [1, 2], tests: ['test_until'] }

test('a hunk names the checks, then the tests, that need it, each once', () => {
  const view = run(shown, [one, { line: 30, checks: [2], tests: ['test_until', 'test_since'] }])
  expect(neededBy(view, [1], { first: 25, count: 7 })).toEqual(['C1', 'C2', 'test_until', 'test_since'])
  expect(needsOf(view, [1], { first: 25, count: 7 })).toEqual({ checks: [1, 2], tests: ['test_until', 'test_since'] })
})

test('what needs other lines, or the change of another task, is not named', () => {
  const view = run(shown, [one], [{ line: 28, checks: [3], tests: [] }])
  expect(neededBy(view, [1], { first: 40, count: 6 })).toEqual([])
  expect(neededBy(view, [2], { first: 25, count: 7 })).toEqual(['C3'])
  expect(neededBy(view, [1, 2], { first: 28, count: 0 })).toEqual(['C1', 'C2', 'C3', 'test_until'])
})

test('nothing is named where no run is here, or nothing passes', () => {
  expect(neededBy(null, [1], { first: 25, count: 7 })).toEqual([])
  const view = run({ kind: 'not_shown', why: 'a check still shows the fault' }, [one])
  expect(neededBy(view, [1], { first: 25, count: 7 })).toEqual([])
})
