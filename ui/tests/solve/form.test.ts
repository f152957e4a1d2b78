// What is derived from the form of a run: title, refusal, effort, matching paths; and how evidence is ordered.
import { expect, test } from 'vitest'
import { EFFORTS, effortOf, refusal, titleOf, withoutCodeMarks } from '../../src/features/solve/effort'
import { relevanceShares, tableOrder } from '../../src/features/solve/evidence'
import { matches } from '../../src/features/solve/file_match'
import { formOf } from '../../src/features/runs/again'
import type { CandidateView, RunRequest } from '../../src/ipc'

test('the title is the first line that says something', () => {
  expect(titleOf('##\n\n## Crash on start ##\nbody')).toBe('Crash on start')
  expect(titleOf(' \r\n\t')).toBe('')
})

test('a title has no marks of inline code, as in Rust', () => {
  const check = (line: string, expected: string): void => expect(withoutCodeMarks(line)).toBe(expected)
  check('`max()` fails on `[]`', 'max() fails on []')
  check('``a `quoted` name``', 'a `quoted` name')
  check('`` `x` `` is odd', '`x` is odd')
  check('an open ` mark', 'an open ` mark')
  check('``two and `one`', '``two and one')
  check('```', '```')
  check('`码` 失败', '码 失败')
  expect(titleOf('# `table()` fails\nbody')).toBe('table() fails')
})

test('an empty issue and a bare address are refused before they are sent', () => {
  expect(refusal(' \n')).toBe('empty')
  expect(refusal('https://example.org/issues/1\n')).toBe('only_address')
  expect(refusal('See https://example.org/issues/1')).toBeNull()
})

test('the slider stands at the step that fits the numbers', () => {
  for (const [index, effort] of EFFORTS.entries()) expect(effortOf(effort)).toEqual({ index, exact: true })
  expect(effortOf({ top_k: 18, max_rounds: 3, qa: true })).toEqual({ index: 3, exact: false })
})

test('a file is found by parts of its path, its name first', () => {
  const files = ['src/tally/app.py', 'tests/test_app.py', 'src/app/config.py', 'docs/index.md']
  expect(matches(files, 'app', 8)).toEqual(['src/tally/app.py', 'tests/test_app.py', 'src/app/config.py'])
  expect(matches(files, 'src config', 8)).toEqual(['src/app/config.py'])
  expect(matches(files, ' ', 8)).toEqual([])
})

function candidate(path: string, relevance: number | null, state: CandidateView['state']): CandidateView {
  return {
    candidate: { path, blob: '0', score: 1, evidence: [] },
    judgement: relevance === null ? null : { path, naming: null, yes_no: null, relevance, kept: state.kind === 'kept' },
    state,
    description: null,
  }
}

test('candidates stand by relevance, those set aside below, and bars end at the most relevant', () => {
  const all = [
    candidate('a', -1, { kind: 'judged_irrelevant' }),
    candidate('b', 1, { kind: 'kept' }),
    candidate('c', 3, { kind: 'kept' }),
    candidate('d', 2, { kind: 'dropped_by_you' }),
  ]
  const { kept, aside } = tableOrder(all)
  expect([kept, aside].map((list) => list.map((one) => one.candidate.path))).toEqual([
    ['c', 'b'],
    ['d', 'a'],
  ])
  const shares = relevanceShares(all)
  expect(shares.get('c')).toBe(1)
  expect(shares.get('a')).toBeCloseTo(0.04)
})

test('a run again begins with what the old one was asked', () => {
  const request: RunRequest = {
    issue: 'Title\nbody',
    hints: [
      { kind: 'comments', text: 'c' },
      { kind: 'failing_log', text: 'l' },
      { kind: 'word', text: 'w' },
    ],
    hints_mode: 'use',
    files: ['a.py'],
    model: 'm',
    seed: 7,
    top_k: 9,
    max_rounds: 2,
    candidates_per_round: 1,
    qa: 'skip',
    relevance: 'code',
  }
  expect(formOf(3, request, { commit: 'c0ffee', tree: 't', uncommitted: false, name: 'main' })).toEqual({
    repo: 3,
    issue: 'Title\nbody',
    comments: 'c\n\nw',
    failing_log: 'l',
    base: { kind: 'revision', name: 'main' },
    model: 'm',
    files: ['a.py'],
    seed: 7,
    top_k: 9,
    max_rounds: 2,
    qa: false,
    attempts: 1,
    places: 1,
    tests: { kind: 'skip' },
    failing_tests: [],
  })
  const alone: RunRequest = { ...request, tests: { kind: 'run', command: null, failing: [] } }
  expect(formOf(3, alone, { commit: 'c0ffee', tree: 't', uncommitted: true, name: 'HEAD' }).tests).toEqual({
    kind: 'issue_code',
  })
})
