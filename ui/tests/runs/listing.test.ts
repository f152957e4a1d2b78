// Order, groups and comparison of runs.
import { expect, test } from 'vitest'
import { beside } from '../../src/features/runs/comparison'
import { fileName } from '../../src/features/runs/exporting'
import { grouped, sorted } from '../../src/features/runs/listing'
import { bySeries } from '../../src/features/runs/usage'
import type { RunHitView, RunRow } from '../../src/ipc'

function hit(id: number, change: Partial<RunRow>): RunHitView {
  const run: RunRow = {
    id,
    repo: 1,
    repository: 'tally',
    title: `Run ${id}`,
    status: 'approved',
    review: 'passed',
    proof: { kind: 'not_run' },
    model: 'm',
    created_at_ms: id * 1000,
    ended_at_ms: null,
    worked_ms: 0,
    tokens: 0,
    files: 0,
    added: 0,
    deleted: 0,
    parent: null,
    imported: false,
    tags: [],
    host: null,
    driven: false,
    ...change,
  }
  return { run, place: '', snippet: [] }
}

const HITS = [
  hit(4, { repository: 'harbour', tokens: 5, title: 'Run 10' }),
  hit(3, { tokens: 9, title: 'Run 9' }),
  hit(2, { repository: 'harbour', tokens: 5 }),
  hit(1, { tokens: 1 }),
]
const ids = (hits: RunHitView[]): number[] => hits.map((one) => one.run.id)

test('a column sorts both ways, newest first among equals', () => {
  expect(ids(sorted(HITS, { key: 'tokens', down: true }, 'en'))).toEqual([3, 4, 2, 1])
  expect(ids(sorted(HITS, { key: 'tokens', down: false }, 'en'))).toEqual([1, 4, 2, 3])
})

test('numbers in titles sort as numbers', () => {
  expect(ids(sorted(HITS, { key: 'title', down: false }, 'en'))).toEqual([1, 2, 3, 4])
})

test('groups stand in the order of their first run', () => {
  const rows = grouped(HITS, 'repository', String).map((row) =>
    row.kind === 'group' ? `${row.name} ${row.count}` : String(row.hit.run.id),
  )
  expect(rows).toEqual(['harbour 2', '4', '2', 'tally 2', '3', '1'])
})

test('by day, the name of the day is the caller’s', () => {
  const rows = grouped(HITS, 'day', (ms) => (ms > 2500 ? 'today' : 'yesterday'))
  expect(rows.filter((row) => row.kind === 'group').map((row) => row.name)).toEqual(['today', 'yesterday'])
})

test('what only one run has stands beside nothing', () => {
  expect(beside(['a', 'b'], ['c', 'b'], (name) => name)).toEqual([
    { name: 'a', left: 'a', right: null },
    { name: 'b', left: 'b', right: 'b' },
    { name: 'c', left: null, right: 'c' },
  ])
})

test('use by day becomes one series a stage, with zero where a stage was not reached', () => {
  const stage = {
    stage: 'locate' as const,
    ms: 7,
    calls: 1,
    computed_tokens: 1,
    reused_tokens: 0,
    generated_tokens: 1,
    done: true,
  }
  const series = bySeries([{ day: '2026-11-21', runs: 1, ms: 7, tokens: 2, by_stage: [stage] }], (one) => one.ms)
  expect(series.map((one) => [one.stage, one.values])).toEqual([
    ['locate', [7]],
    ['team', [0]],
    ['meeting', [0]],
    ['plan', [0]],
    ['code', [0]],
    ['merge', [0]],
  ])
})

test('a run’s file has a name that every system takes', () => {
  expect(fileName(3, 'Fix: "a/b" <c>?')).toBe('run-3-fix-a-b-c')
  expect(fileName(3, '///')).toBe('run-3')
})
