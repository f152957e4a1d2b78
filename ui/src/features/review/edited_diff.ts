// The diff between a file's base version and the text a person wrote, in the form of the patch's own files: the
// shortest edit script by lines (E. W. Myers, "An O(ND) difference algorithm and its variations", 1986). It knows no
// decisions.
import type { DiffLine, FileDiff, HunkView } from '../../ipc'
import { linesOf } from './choice'

const CONTEXT = 3
/** Beyond so many edits, the part between equal ends is shown as replaced. */
const MOST_EDITS = 1500

/** `file` as it looks when `text` stands in place of its proposal; its hunks count from 1 and belong to its tasks. */
export function editedDiff(file: FileDiff, before: string, text: string): FileDiff {
  const lines = lineDiff(linesOf(before).map(bare), linesOf(text).map(bare))
  const tasks = [...new Set(file.hunks.flatMap((hunk) => hunk.tasks))]
  return {
    ...file,
    added: lines.filter((line) => line.kind === 'added').length,
    deleted: lines.filter((line) => line.kind === 'deleted').length,
    hunks: hunksOf(lines, tasks),
  }
}

/** Every line of both texts, in order. */
export function lineDiff(before: readonly string[], after: readonly string[]): DiffLine[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1
  let tail = 0
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    tail += 1
  }
  const kinds = script(before.slice(head, before.length - tail), after.slice(head, after.length - tail))
  const all = [
    ...Array<DiffLine['kind']>(head).fill('context'),
    ...kinds,
    ...Array<DiffLine['kind']>(tail).fill('context'),
  ]
  let old = 0
  let fresh = 0
  return all.map((kind) => {
    if (kind !== 'added') old += 1
    if (kind !== 'deleted') fresh += 1
    return {
      kind,
      old: kind === 'added' ? null : old,
      new: kind === 'deleted' ? null : fresh,
      text: (kind === 'added' ? after[fresh - 1] : before[old - 1]) ?? '',
    }
  })
}

function script(before: readonly string[], after: readonly string[]): DiffLine['kind'][] {
  const n = before.length
  const m = after.length
  const replaced = (): DiffLine['kind'][] => [
    ...Array<DiffLine['kind']>(n).fill('deleted'),
    ...Array<DiffLine['kind']>(m).fill('added'),
  ]
  if (n === 0 || m === 0) return replaced()
  const most = Math.min(n + m, MOST_EDITS)
  const furthest = new Int32Array(2 * most + 3)
  const trail: Int32Array[] = []
  for (let edits = 0; edits <= most; edits += 1) {
    trail.push(furthest.slice())
    for (let k = -edits; k <= edits; k += 2) {
      const at = k + most + 1
      const down = k === -edits || (k !== edits && (furthest[at - 1] ?? 0) < (furthest[at + 1] ?? 0))
      let x = down ? (furthest[at + 1] ?? 0) : (furthest[at - 1] ?? 0) + 1
      while (x < n && x - k < m && before[x] === after[x - k]) x += 1
      furthest[at] = x
      if (x >= n && x - k >= m) return walkBack(trail, n, m, most)
    }
  }
  return replaced()
}

function walkBack(trail: readonly Int32Array[], n: number, m: number, most: number): DiffLine['kind'][] {
  const kinds: DiffLine['kind'][] = []
  let x = n
  let y = m
  for (let edits = trail.length - 1; edits >= 0; edits -= 1) {
    const furthest = trail[edits]
    if (furthest === undefined) break
    const k = x - y
    const at = k + most + 1
    const down = k === -edits || (k !== edits && (furthest[at - 1] ?? 0) < (furthest[at + 1] ?? 0))
    const fromX = edits === 0 ? 0 : (furthest[down ? at + 1 : at - 1] ?? 0)
    const fromY = edits === 0 ? 0 : fromX - (down ? k + 1 : k - 1)
    while (x > fromX && y > fromY) {
      kinds.push('context')
      x -= 1
      y -= 1
    }
    if (edits === 0) break
    kinds.push(down ? 'added' : 'deleted')
    x = fromX
    y = fromY
  }
  return kinds.reverse()
}

function hunksOf(lines: readonly DiffLine[], tasks: number[]): HunkView[] {
  const hunks: HunkView[] = []
  let at = 0
  while (at < lines.length) {
    const first = lines.findIndex((line, index) => index >= at && line.kind !== 'context')
    if (first < 0) break
    let last = first
    for (let next = first; next < lines.length && next - last <= 2 * CONTEXT; next += 1) {
      if (lines[next]?.kind !== 'context') last = next
    }
    const part = lines.slice(Math.max(at, first - CONTEXT), last + CONTEXT + 1)
    const olds = part.flatMap((line) => (line.old === null ? [] : [line.old]))
    const news = part.flatMap((line) => (line.new === null ? [] : [line.new]))
    hunks.push({
      number: hunks.length + 1,
      header: '',
      old_start: olds[0] ?? 0,
      old_lines: olds.length,
      new_start: news[0] ?? 0,
      new_lines: news.length,
      lines: part,
      tasks,
    })
    at = last + CONTEXT + 1
  }
  return hunks
}

function bare(line: string): string {
  return line.replace(/\r?\n$/, '')
}
