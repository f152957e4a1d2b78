// Which part of a changed line differs from its counterpart. Lines that share little are left unmarked. No colours
// here.
import type { HunkView } from '../../ipc'

export interface Stretch {
  readonly from: number
  readonly to: number
}

/** Above this, a line is not compared word by word. */
const LONGEST = 400
/** Below this share of equal characters, marking words helps nobody. */
const ALIKE = 0.4

const cache = new WeakMap<HunkView, Map<number, Stretch[]>>()

/** Stretches to mark, by the line's place in its hunk. Computed once a hunk. */
export function wordChanges(hunk: HunkView): Map<number, Stretch[]> {
  const known = cache.get(hunk)
  if (known !== undefined) return known
  const found = new Map<number, Stretch[]>()
  let at = 0
  while (at < hunk.lines.length) {
    const deleted = run(hunk, at, 'deleted')
    const added = run(hunk, at + deleted, 'added')
    if (deleted > 0 && deleted === added) {
      for (let i = 0; i < deleted; i += 1) {
        const marks = compare(hunk.lines[at + i]?.text ?? '', hunk.lines[at + deleted + i]?.text ?? '')
        if (marks === null) continue
        found.set(at + i, marks.left)
        found.set(at + deleted + i, marks.right)
      }
    }
    at += Math.max(1, deleted + added)
  }
  cache.set(hunk, found)
  return found
}

/** Word by word by the longest common subsequence; null where the lines are too long or too different. */
export function compare(left: string, right: string): { left: Stretch[]; right: Stretch[] } | null {
  if (left.length > LONGEST || right.length > LONGEST) return null
  const a = words(left)
  const b = words(right)
  const width = b.length + 1
  const table = new Uint16Array((a.length + 1) * width)
  const cell = (i: number, j: number): number => table[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const word = a[i] ?? ''
      table[i * width + j] = word === b[j] ? cell(i + 1, j + 1) + word.length : Math.max(cell(i + 1, j), cell(i, j + 1))
    }
  }
  if (cell(0, 0) < ALIKE * Math.max(left.length, right.length)) return null
  const leftMarks: Stretch[] = []
  const rightMarks: Stretch[] = []
  let i = 0
  let j = 0
  let x = 0
  let y = 0
  while (i < a.length || j < b.length) {
    const p = a[i]
    const q = b[j]
    if (p !== undefined && p === q) {
      i += 1
      j += 1
      x += p.length
      y += p.length
    } else if (q === undefined || (p !== undefined && cell(i + 1, j) >= cell(i, j + 1))) {
      extend(leftMarks, x, (x += p?.length ?? 0))
      i += 1
    } else {
      extend(rightMarks, y, (y += q.length))
      j += 1
    }
  }
  return { left: leftMarks, right: rightMarks }
}

function run(hunk: HunkView, from: number, kind: 'added' | 'deleted'): number {
  let count = 0
  while (hunk.lines[from + count]?.kind === kind) count += 1
  return count
}

function words(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []
}

function extend(marks: Stretch[], from: number, to: number): void {
  const last = marks[marks.length - 1]
  if (last !== undefined && last.to === from) marks[marks.length - 1] = { from: last.from, to }
  else if (to > from) marks.push({ from, to })
}
