// Folding groups of the list of runs: which rows are left, and what stays for the next time.
import { expect, test } from 'vitest'
import { RunsList } from '../../src/features/runs/list.svelte'
import { grouped, type ListRow } from '../../src/features/runs/listing'
import type { RunHitView, RunRow } from '../../src/ipc'

const hit = (id: number, repository: string): RunHitView => ({
  run: {
    id,
    repo: 1,
    repository,
    title: `Run ${id}`,
    status: 'approved',
    review: 'passed',
    proof: { kind: 'not_run' },
    model: 'm',
    created_at_ms: id,
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
  } satisfies RunRow,
  place: '',
  snippet: [],
})
const HITS = [hit(4, 'tally'), hit(3, 'harbour'), hit(2, 'tally'), hit(1, 'harbour')]
const told = (rows: readonly ListRow[]): string[] =>
  rows.map((row) =>
    row.kind === 'group' ? `${row.folded ? '+' : '-'}${row.name} ${row.count}` : String(row.hit.run.id),
  )

test('of a folded group only the head is left, with its number of runs', () => {
  expect(told(grouped(HITS, 'repository', String, new Set(['tally'])))).toEqual(['+tally 2', '-harbour 2', '3', '1'])
})

test('all groups fold at once, and open again when none is open', () => {
  const list = new RunsList(null, () => 'en', String)
  list.hits = HITS
  list.grouping = 'repository'
  list.fold('tally', true)
  list.foldAll()
  expect(told(list.rows)).toEqual(['+tally 2', '+harbour 2'])
  list.foldAll()
  expect(told(list.rows)).toEqual(['-tally 2', '4', '2', '-harbour 2', '3', '1'])
})

test('what is folded stays for the next time the list is shown, but not for other groups', () => {
  const before = new RunsList(null, () => 'en', String)
  before.hits = HITS
  before.grouping = 'repository'
  before.fold('harbour', true)
  const after = new RunsList(before.remember(3), () => 'en', String)
  after.hits = HITS
  expect(told(after.rows)).toEqual(['-tally 2', '4', '2', '+harbour 2'])
  after.more = false
  after.group('day')
  expect(told(after.rows).filter((row) => row.startsWith('+'))).toEqual([])
})
