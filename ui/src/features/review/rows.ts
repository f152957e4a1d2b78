// The rows a diff is drawn from, unified or side by side, for any number of files: plain data with known heights, so
// that only what is visible is drawn. It draws nothing.
import type { ConflictView, DiffLine, FileDiff, HunkView } from '../../ipc'

export type Layout = 'unified' | 'split'

export type Row =
  | { readonly kind: 'file'; readonly file: number }
  | { readonly kind: 'note'; readonly file: number; readonly note: 'binary' | 'empty' | 'edited' | 'folded' }
  /** `file` and `hunk` are places in their lists, not numbers of the patch. */
  | { readonly kind: 'hunk'; readonly file: number; readonly hunk: number }
  | { readonly kind: 'line'; readonly file: number; readonly hunk: number; readonly line: number }
  | {
      readonly kind: 'pair'
      readonly file: number
      readonly hunk: number
      /** Places of the lines in the hunk; null where that side has none. */
      readonly left: number | null
      readonly right: number | null
    }
  | { readonly kind: 'conflict'; readonly file: number; readonly line: number | null; readonly reason: string }
  | { readonly kind: 'gap'; readonly file: number }

export interface Rows {
  readonly rows: readonly Row[]
  /** Where each row begins, in pixels; one longer than `rows`, its last is the whole height. */
  readonly tops: Float64Array
  /** The row of each file's head. */
  readonly fileRows: readonly number[]
  /** The row of each hunk's head, by file. */
  readonly hunkRows: readonly (readonly number[])[]
  /** The longest line, in characters. */
  readonly widest: number
}

export interface Heights {
  readonly file: number
  readonly note: number
  readonly hunk: number
  readonly line: number
  readonly conflict: number
  readonly gap: number
}

export function rowsOf(
  files: readonly FileDiff[],
  layout: Layout,
  heights: Heights,
  stateOf: (file: number) => 'open' | 'folded' | 'edited',
  conflicts: readonly ConflictView[] = [],
): Rows {
  const rows: Row[] = []
  const fileRows: number[] = []
  const hunkRows: number[][] = []
  let widest = 40
  for (const [file, diff] of files.entries()) {
    fileRows.push(rows.length)
    const heads: number[] = []
    hunkRows.push(heads)
    rows.push({ kind: 'file', file })
    const own = conflicts.filter((conflict) => conflict.path === diff.path)
    const tell = (from: number, to: number): void => {
      for (const { line, reason } of own) {
        if ((line ?? 0) >= from && (line ?? 0) < to) rows.push({ kind: 'conflict', file, line, reason })
      }
    }
    const state = stateOf(file)
    if (state === 'edited') rows.push({ kind: 'note', file, note: 'edited' })
    if (state === 'folded') {
      tell(0, Infinity)
      for (let hunk = 0; hunk < diff.hunks.length; hunk += 1) heads.push(rows.length)
      rows.push({ kind: 'note', file, note: 'folded' })
    } else if (diff.binary || diff.hunks.every((hunk) => hunk.lines.length === 0)) {
      tell(0, Infinity)
      for (let hunk = 0; hunk < diff.hunks.length; hunk += 1) heads.push(rows.length)
      rows.push({ kind: 'note', file, note: diff.binary ? 'binary' : 'empty' })
    } else {
      tell(0, diff.hunks[0]?.old_start ?? Infinity)
      for (const [at, hunk] of diff.hunks.entries()) {
        heads.push(rows.length)
        rows.push({ kind: 'hunk', file, hunk: at })
        tell(hunk.old_start, diff.hunks[at + 1]?.old_start ?? Infinity)
        if (layout === 'unified') {
          for (const line of hunk.lines.keys()) rows.push({ kind: 'line', file, hunk: at, line })
        } else {
          for (const pair of pairsOf(hunk)) rows.push({ kind: 'pair', file, hunk: at, ...pair })
        }
        for (const line of hunk.lines) widest = Math.max(widest, columns(line))
      }
    }
    rows.push({ kind: 'gap', file })
  }
  const tops = new Float64Array(rows.length + 1)
  for (const [index, row] of rows.entries()) {
    const height = row.kind === 'pair' ? heights.line : heights[row.kind]
    tops[index + 1] = (tops[index] ?? 0) + height
  }
  return { rows, tops, fileRows, hunkRows, widest }
}

/** Deleted lines beside the added ones that follow them. */
export function pairsOf(hunk: HunkView): { left: number | null; right: number | null }[] {
  const pairs: { left: number | null; right: number | null }[] = []
  let deleted: number[] = []
  let added: number[] = []
  const flush = (): void => {
    for (let i = 0; i < Math.max(deleted.length, added.length); i += 1) {
      pairs.push({ left: deleted[i] ?? null, right: added[i] ?? null })
    }
    deleted = []
    added = []
  }
  for (const [index, line] of hunk.lines.entries()) {
    if (line.kind === 'deleted') {
      if (added.length > 0) flush()
      deleted.push(index)
    } else if (line.kind === 'added') added.push(index)
    else {
      flush()
      pairs.push({ left: index, right: index })
    }
  }
  flush()
  return pairs
}

/** The first row that ends below `y`. */
export function rowAt(tops: Float64Array, y: number): number {
  let low = 0
  let high = tops.length - 2
  while (low < high) {
    const middle = (low + high) >> 1
    if ((tops[middle + 1] ?? 0) <= y) low = middle + 1
    else high = middle
  }
  return Math.max(0, low)
}

/** Characters of a line with its tabs at four. */
function columns(line: DiffLine): number {
  const { text } = line
  if (!text.includes('\t')) return text.length
  return text.length + 3 * (text.split('\t').length - 1)
}
