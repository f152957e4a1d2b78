// The order and the groups of the table of runs, as plain data. It loads nothing and draws nothing.
import type { RunHitView, RunRow } from '../../ipc'

export type SortKey =
  'created' | 'title' | 'repository' | 'status' | 'files' | 'changes' | 'model' | 'duration' | 'tokens'
export type Sort = { readonly key: SortKey; readonly down: boolean }
export type Grouping = 'none' | 'repository' | 'day'

export type ListRow =
  | {
      readonly kind: 'group'
      readonly name: string
      readonly at_ms: number
      readonly count: number
      readonly folded: boolean
    }
  | { readonly kind: 'run'; readonly hit: RunHitView }

/** The order the list comes in; sorting by it needs no more rows than are shown. */
export const NEWEST_FIRST: Sort = { key: 'created', down: true }

export function sameSort(a: Sort, b: Sort): boolean {
  return a.key === b.key && a.down === b.down
}

/** Sorted by one column, ties by age; the given list stays as it is. */
export function sorted(hits: readonly RunHitView[], sort: Sort, locale: string): RunHitView[] {
  const words = new Intl.Collator(locale, { numeric: true, sensitivity: 'base' })
  const compare = COMPARE[sort.key]
  const sign = sort.down ? -1 : 1
  return [...hits].sort((a, b) => sign * compare(a.run, b.run, words) || b.run.created_at_ms - a.run.created_at_ms)
}

/**
 * Rows with a head above each group, and of a folded group the head alone. Groups stand in the order in which their
 * first run stands.
 */
export function grouped(
  hits: readonly RunHitView[],
  grouping: Grouping,
  dayOf: (at_ms: number) => string,
  folded: ReadonlySet<string> = new Set(),
): ListRow[] {
  if (grouping === 'none') return hits.map((hit) => ({ kind: 'run', hit }))
  const groups = new Map<string, RunHitView[]>()
  for (const hit of hits) {
    const name = grouping === 'day' ? dayOf(hit.run.created_at_ms) : hit.run.repository
    const known = groups.get(name)
    if (known === undefined) groups.set(name, [hit])
    else known.push(hit)
  }
  const rows: ListRow[] = []
  for (const [name, members] of groups) {
    const at_ms = members[0]?.run.created_at_ms ?? 0
    rows.push({ kind: 'group', name, at_ms, count: members.length, folded: folded.has(name) })
    if (!folded.has(name)) for (const hit of members) rows.push({ kind: 'run', hit })
  }
  return rows
}

type Compare = (a: RunRow, b: RunRow, words: Intl.Collator) => number

const COMPARE: Readonly<Record<SortKey, Compare>> = {
  created: (a, b) => a.created_at_ms - b.created_at_ms,
  title: (a, b, words) => words.compare(a.title, b.title),
  repository: (a, b, words) => words.compare(a.repository, b.repository),
  status: (a, b) => a.status.localeCompare(b.status),
  files: (a, b) => a.files - b.files,
  changes: (a, b) => a.added + a.deleted - (b.added + b.deleted),
  model: (a, b, words) => words.compare(a.model, b.model),
  duration: (a, b) => a.worked_ms - b.worked_ms,
  tokens: (a, b) => a.tokens - b.tokens,
}
