// The list of runs as the window holds it: what is asked for, the pages read so far, what is chosen. It draws nothing.
// The list comes newest first; another order or groups need all rows, which are then read page by page.
import {
  ipc,
  problemOf,
  type Problem,
  type RepoId,
  type RunHitView,
  type RunId,
  type RunListFilter,
  type RunStatus,
} from '../../ipc'
import {
  grouped,
  NEWEST_FIRST,
  sameSort,
  sorted,
  type Grouping,
  type ListRow,
  type Sort,
  type SortKey,
} from './listing'

export interface Filters {
  readonly text: string
  readonly repo: RepoId | null
  readonly status: RunStatus | null
  readonly tag: string | null
}

/** What stays for the next time the list is shown. */
export interface Remembered {
  readonly filters: Filters
  readonly sort: Sort
  readonly grouping: Grouping
  readonly folded: ReadonlySet<string>
  /** The run that keys acted on. */
  readonly run: RunId | null
  /** The first page as it was; it is shown at once, and read anew. */
  readonly hits: readonly RunHitView[]
  readonly total: number
  readonly more: boolean
}

export const NO_FILTERS: Filters = { text: '', repo: null, status: null, tag: null }

const FIRST_PAGE = 120
const NEXT_PAGE = 1000
const SEARCH_AFTER_MS = 60

export class RunsList {
  filters = $state.raw<Filters>(NO_FILTERS)
  sort = $state.raw<Sort>(NEWEST_FIRST)
  grouping = $state<Grouping>('none')
  /** The names of the groups of which only the head is shown. */
  folded = $state.raw<ReadonlySet<string>>(new Set())
  hits = $state.raw<readonly RunHitView[]>([])
  total = $state(0)
  more = $state(false)
  reading = $state(true)
  problem = $state.raw<Problem | null>(null)
  chosen = $state.raw<ReadonlySet<RunId>>(new Set())
  readonly #locale: () => string
  readonly #dayOf: (at_ms: number) => string
  #asked = 0
  #waiting: ReturnType<typeof setTimeout> | null = null

  readonly rows: readonly ListRow[] = $derived.by(() => {
    const order = sameSort(this.sort, NEWEST_FIRST) ? this.hits : sorted(this.hits, this.sort, this.#locale())
    return grouped(order, this.grouping, this.#dayOf, this.folded)
  })
  /** Whether the order or the groups can only be right with all rows. */
  readonly needsAll: boolean = $derived(!sameSort(this.sort, NEWEST_FIRST) || this.grouping === 'repository')

  constructor(remembered: Remembered | null, locale: () => string, dayOf: (at_ms: number) => string) {
    this.#locale = locale
    this.#dayOf = dayOf
    if (remembered !== null) {
      this.filters = remembered.filters
      this.sort = remembered.sort
      this.grouping = remembered.grouping
      this.folded = remembered.folded
      this.hits = remembered.hits
      this.total = remembered.total
      this.more = remembered.more
    }
  }

  get filtered(): boolean {
    const { text, repo, status, tag } = this.filters
    return text.trim() !== '' || repo !== null || status !== null || tag !== null
  }

  get tags(): string[] {
    return [...new Set(this.hits.flatMap((hit) => hit.run.tags))].sort()
  }

  remember(run: RunId | null): Remembered {
    // A list that needs all rows is not shown in part.
    const hits = this.needsAll ? [] : this.hits.slice(0, FIRST_PAGE)
    return {
      filters: this.filters,
      sort: this.sort,
      grouping: this.grouping,
      folded: this.folded,
      run,
      hits,
      total: this.total,
      more: hits.length < this.total,
    }
  }

  setFilters(change: Partial<Filters>): void {
    this.filters = { ...this.filters, ...change }
    if (this.#waiting !== null) clearTimeout(this.#waiting)
    this.#waiting = setTimeout(() => void this.read(), 'text' in change ? SEARCH_AFTER_MS : 0)
  }

  sortBy(key: SortKey): void {
    this.sort =
      this.sort.key === key
        ? { key, down: !this.sort.down }
        : { key, down: key !== 'title' && key !== 'repository' && key !== 'model' }
    if (this.needsAll) void this.readAll()
  }

  group(grouping: Grouping): void {
    if (grouping !== this.grouping) this.folded = new Set()
    this.grouping = grouping
    if (this.needsAll) void this.readAll()
  }

  fold(name: string, folded: boolean): void {
    const next = new Set(this.folded)
    if (folded) next.add(name)
    else next.delete(name)
    this.folded = next
  }

  /** Folds all groups, or opens all where none is open. */
  foldAll(): void {
    const names = this.rows.flatMap((row) => (row.kind === 'group' ? [row.name] : []))
    this.folded = names.every((name) => this.folded.has(name)) ? new Set() : new Set(names)
  }

  /** Reads the first page anew, as many rows as were shown; rows that come late for another question are dropped. */
  async read(keep = false): Promise<void> {
    const asked = ++this.#asked
    this.reading = true
    try {
      const limit = keep ? Math.max(FIRST_PAGE, Math.min(this.hits.length, NEXT_PAGE)) : FIRST_PAGE
      const page = await ipc.runsPage(this.#filter(null, limit))
      if (asked !== this.#asked) return
      this.hits = page.rows
      this.total = page.total
      this.more = page.more
      this.problem = null
      const known = new Set(page.rows.map((hit) => hit.run.id))
      if (!keep) this.chosen = new Set([...this.chosen].filter((run) => known.has(run)))
    } catch (thrown) {
      if (asked === this.#asked) this.problem = problemOf(thrown)
    } finally {
      if (asked === this.#asked) this.reading = false
    }
    if (asked === this.#asked && this.needsAll) await this.readAll()
  }

  /** The next page, for a reader who has come to the end of what is there. */
  async readMore(): Promise<void> {
    if (this.reading || !this.more) return
    await this.#next()
  }

  async readAll(): Promise<void> {
    while (this.more && this.needsAll && !this.reading) if (!(await this.#next())) return
  }

  async #next(): Promise<boolean> {
    const asked = this.#asked
    const last = this.hits[this.hits.length - 1]?.run.id
    if (last === undefined) return false
    this.reading = true
    try {
      const page = await ipc.runsPage(this.#filter(last, NEXT_PAGE))
      if (asked !== this.#asked) return false
      const known = new Set(this.hits.map((hit) => hit.run.id))
      this.hits = [...this.hits, ...page.rows.filter((hit) => !known.has(hit.run.id))]
      this.more = page.more && page.rows.length > 0
      return true
    } catch (thrown) {
      if (asked === this.#asked) this.problem = problemOf(thrown)
      return false
    } finally {
      if (asked === this.#asked) this.reading = false
    }
  }

  #filter(after: RunId | null, limit: number): RunListFilter {
    const { repo, status, tag, text } = this.filters
    return { repo, status, tag, text: text.trim(), after, limit, order: 'newest_first' }
  }
}
