// What a person has decided about one file of a patch, down to single lines, and the text that follows from it.
// It holds no view state and calls nothing. Decisions per hunk travel as such; decisions per line travel as the file's
// text, from which they are read back.
import type { FileDiff, FileReview, HunkDecision, HunkView } from '../../ipc'

/** A line of a hunk that changes something, named by its hunk and its place there. */
export type LineKey = `${number}:${number}`

/** The decisions of one file. `text` is set when the person wrote the file by hand; it then stands for everything. */
export interface FileChoice {
  readonly decisions: ReadonlyMap<number, HunkDecision>
  /** Changed lines whose fate differs from their hunk's decision. */
  readonly turned: ReadonlySet<LineKey>
  readonly text: string | null
  readonly seen: boolean
}

export type HunkState = 'open' | 'accepted' | 'rejected' | 'partly'

export const NO_CHOICE: FileChoice = { decisions: new Map(), turned: new Set(), text: null, seen: false }

export const lineKey = (hunk: number, line: number): LineKey => `${hunk}:${line}`

/** Decides a hunk as a whole; what was said about its lines is forgotten. */
export function decideHunk(choice: FileChoice, hunk: number, decision: HunkDecision | null): FileChoice {
  const decisions = new Map(choice.decisions)
  if (decision === null) decisions.delete(hunk)
  else decisions.set(hunk, decision)
  return { ...choice, decisions, turned: withoutHunk(choice.turned, hunk), text: null }
}

/** Decides all hunks of a file. */
export function decideFile(choice: FileChoice, file: FileDiff, decision: HunkDecision | null): FileChoice {
  const decisions = new Map<number, HunkDecision>()
  if (decision !== null) for (const hunk of file.hunks) decisions.set(hunk.number, decision)
  return { ...choice, decisions, turned: new Set(), text: null }
}

/** Decides some changed lines of a hunk; the rest of an open hunk counts as rejected from then on. */
export function decideLines(
  choice: FileChoice,
  hunk: HunkView,
  lines: readonly number[],
  decision: HunkDecision,
): FileChoice {
  const taken = new Set<number>()
  for (const [index, line] of hunk.lines.entries()) {
    if (line.kind === 'context') continue
    const now = lines.includes(index) ? decision === 'accepted' : isLineTaken(choice, hunk.number, index)
    if (now) taken.add(index)
  }
  return withTaken(choice, hunk, taken)
}

/** Whether the change of a line will be made. */
export function isLineTaken(choice: FileChoice, hunk: number, line: number): boolean {
  const whole = choice.decisions.get(hunk) === 'accepted'
  return choice.turned.has(lineKey(hunk, line)) ? !whole : whole
}

export function hunkState(choice: FileChoice, hunk: HunkView): HunkState {
  const decision = choice.decisions.get(hunk.number)
  if (decision === undefined) return 'open'
  return hunk.lines.some((_, index) => choice.turned.has(lineKey(hunk.number, index))) ? 'partly' : decision
}

/** The runs of changed lines within a hunk, as line places; what `s` splits it into. */
export function partsOf(hunk: HunkView): number[][] {
  const parts: number[][] = []
  let open: number[] | null = null
  for (const [index, line] of hunk.lines.entries()) {
    if (line.kind === 'context') open = null
    else if (open === null) parts.push((open = [index]))
    else open.push(index)
  }
  return parts
}

/** The file as it will be, byte for byte: lines keep the endings they have in `before` and `after`. */
export function textOf(file: FileDiff, choice: FileChoice, before: string, after: string): string {
  if (choice.text !== null) return choice.text
  const old = linesOf(before)
  const changed = linesOf(after)
  const out: string[] = []
  let next = 1
  for (const hunk of file.hunks) {
    const start = hunk.old_lines === 0 ? hunk.old_start + 1 : hunk.old_start
    for (; next < start; next += 1) out.push(old[next - 1] ?? '')
    for (const [index, line] of hunk.lines.entries()) {
      const taken = line.kind !== 'context' && isLineTaken(choice, hunk.number, index)
      if (line.kind === 'added') {
        if (taken) out.push(line.new === null ? `${line.text}\n` : (changed[line.new - 1] ?? `${line.text}\n`))
        continue
      }
      if (line.kind === 'context' || !taken) out.push(old[next - 1] ?? '')
      next += 1
    }
  }
  for (; next <= old.length; next += 1) out.push(old[next - 1] ?? '')
  return closed(out, before.includes('\r\n') ? '\r\n' : '\n')
}

/** As it travels to Rust. `texts` is needed only where single lines were decided. */
export function toReview(
  file: FileDiff,
  choice: FileChoice,
  texts: { before: string; after: string } | null,
): FileReview {
  const decisions = [...choice.decisions]
    .map(([hunk, decision]) => ({ hunk, decision }))
    .sort((a, b) => a.hunk - b.hunk)
  const edited =
    choice.text ?? (choice.turned.size > 0 && texts !== null ? textOf(file, choice, texts.before, texts.after) : null)
  return { path: file.path, seen: choice.seen, decisions, edited }
}

/** As it comes back. Where the text follows from decisions about lines, they are read from it; else it was by hand. */
export function fromReview(
  file: FileDiff,
  review: FileReview,
  texts: { before: string; after: string } | null,
): FileChoice {
  const decisions = new Map(review.decisions.map(({ hunk, decision }) => [hunk, decision] as const))
  const plain: FileChoice = { decisions, turned: new Set(), text: null, seen: review.seen }
  if (review.edited === null) return plain
  const byHand: FileChoice = { ...plain, text: review.edited }
  if (texts === null) return byHand
  const taken = readTaken(file, review.edited, texts.before, texts.after)
  if (taken === null) return byHand
  let choice = plain
  for (const hunk of file.hunks) {
    const lines = new Set([...hunk.lines.keys()].filter((index) => taken.has(lineKey(hunk.number, index))))
    const wasWhole = decisions.get(hunk.number)
    if (wasWhole === undefined && lines.size === 0) continue
    choice = withTaken(choice, hunk, lines)
  }
  return textOf(file, choice, texts.before, texts.after) === review.edited ? choice : byHand
}

/** Lines with their endings; an empty text has none. */
export function linesOf(text: string): string[] {
  return text === '' ? [] : (text.match(/[^\n]*\n|[^\n]+$/g) ?? [])
}

/** The most lines of a file for which decisions about lines are read back from its text. */
const READ_BACK_LIMIT = 20_000

/**
 * Which changes stand in `text`, if nothing else does: the places of `text` that each line of the diff may have
 * reached.
 */
function readTaken(file: FileDiff, text: string, before: string, after: string): Set<LineKey> | null {
  interface Item {
    readonly text: string
    readonly key: LineKey | null
    readonly deleted: boolean
  }
  const bare = (line: string): string => line.replace(/\r?\n$/, '')
  const old = linesOf(before).map(bare)
  const fresh = linesOf(after).map(bare)
  const goal = linesOf(text).map(bare)
  if (old.length + fresh.length > READ_BACK_LIMIT) return null
  const items: Item[] = []
  let next = 1
  for (const hunk of file.hunks) {
    const start = hunk.old_lines === 0 ? hunk.old_start + 1 : hunk.old_start
    for (; next < start; next += 1) items.push({ text: old[next - 1] ?? '', key: null, deleted: false })
    for (const [index, line] of hunk.lines.entries()) {
      if (line.kind === 'added') {
        const own = line.new === null ? line.text : (fresh[line.new - 1] ?? line.text)
        items.push({ text: own, key: lineKey(hunk.number, index), deleted: false })
        continue
      }
      const key = line.kind === 'deleted' ? lineKey(hunk.number, index) : null
      items.push({ text: old[next - 1] ?? line.text, key, deleted: line.kind === 'deleted' })
      next += 1
    }
  }
  for (; next <= old.length; next += 1) items.push({ text: old[next - 1] ?? '', key: null, deleted: false })

  let reached = new Set([0])
  const trail: Set<number>[] = [reached]
  for (const item of items) {
    const now = new Set<number>()
    for (const at of reached) {
      if (goal[at] === item.text) now.add(at + 1)
      if (item.key !== null) now.add(at)
    }
    if (now.size === 0) return null
    trail.push(now)
    reached = now
  }
  if (!reached.has(goal.length)) return null

  const taken = new Set<LineKey>()
  let at = goal.length
  for (let i = items.length - 1; i >= 0; i -= 1) {
    const item = items[i]
    const earlier = trail[i]
    if (item === undefined || earlier === undefined) return null
    const present = at > 0 && goal[at - 1] === item.text && earlier.has(at - 1)
    const absent = item.key !== null && earlier.has(at)
    // Where both explain the text, the change counts as made.
    const stands = present && !(absent && item.deleted)
    if (item.key !== null && stands !== item.deleted) taken.add(item.key)
    if (stands) at -= 1
  }
  return taken
}

function withTaken(choice: FileChoice, hunk: HunkView, taken: ReadonlySet<number>): FileChoice {
  const changed = [...hunk.lines.entries()].filter(([, line]) => line.kind !== 'context').map(([index]) => index)
  const decisions = new Map(choice.decisions)
  const turned = withoutHunk(choice.turned, hunk.number)
  const count = changed.filter((index) => taken.has(index)).length
  decisions.set(hunk.number, count === 0 ? 'rejected' : 'accepted')
  if (count > 0) for (const index of changed) if (!taken.has(index)) turned.add(lineKey(hunk.number, index))
  return { ...choice, decisions, turned, text: null }
}

function withoutHunk(turned: ReadonlySet<LineKey>, hunk: number): Set<LineKey> {
  return new Set([...turned].filter((key) => !key.startsWith(`${hunk}:`)))
}

/** Joins lines; a line that lost its place at the end of its file gets the ending it lacks. */
function closed(lines: readonly string[], ending: string): string {
  return lines.map((line, index) => (index < lines.length - 1 && !line.endsWith('\n') ? line + ending : line)).join('')
}
