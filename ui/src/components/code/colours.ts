// Syntax colours for lines of text outside an editor: parses a whole text in slices of a few milliseconds and keeps,
// for each line, the stretches that have a class. It draws nothing and touches no document.
import { classHighlighter, highlightTree } from '@lezer/highlight'
import { numberOf, unseenIn } from '../visible'
import { languageOf } from './languages'

export interface Coloured {
  readonly from: number
  readonly to: number
  readonly name: string
}

/** Stretches by line, counted from 1. */
export type LineColours = ReadonlyMap<number, readonly Coloured[]>

/** Longer texts stay plain: parsing them would hold the window up longer than colours are worth. */
const LONGEST = 600_000
const SLICE_MS = 6

/**
 * The colours of `text`, or null where the language is unknown, the text too long, or `given up` says so in between.
 */
export async function coloursOf(path: string, text: string, givenUp: () => boolean): Promise<LineColours | null> {
  if (text.length > LONGEST) return null
  const language = await languageOf(path)
  if (language === null || givenUp()) return null
  const inside = opening(path, text)
  const parse = language.parser.startParse(inside + text)
  let tree = parse.advance()
  let began = performance.now()
  while (tree === null) {
    if (performance.now() - began > SLICE_MS) {
      await pause()
      if (givenUp()) return null
      began = performance.now()
    }
    tree = parse.advance()
  }
  const starts = lineStarts(text)
  const lines = new Map<number, Coloured[]>()
  let line = 1
  highlightTree(tree, classHighlighter, (start, end, name) => {
    const from = Math.max(0, start - inside.length)
    const to = end - inside.length
    if (to <= 0) return
    while (line < starts.length && (starts[line] ?? Infinity) <= from) line += 1
    let at = line
    while (at <= starts.length) {
      const start = starts[at - 1] ?? 0
      if (start >= to) break
      const end = (starts[at] ?? text.length + 1) - 1
      const stretch = { from: Math.max(0, from - start), to: Math.min(end, to) - start, name }
      if (stretch.to > stretch.from) {
        const known = lines.get(at)
        if (known === undefined) lines.set(at, [stretch])
        else known.push(stretch)
      }
      at += 1
    }
  })
  return lines
}

/**
 * What a text that was cut out of a file has to be preceded by, for its beginning to lie inside a string or comment as
 * it did there.
 */
function opening(path: string, text: string): string {
  if (/\.pyi?$/.test(path)) {
    const quote = /"""|'''/.exec(text)
    if (quote === null || text.split(quote[0]).length % 2 === 1) return ''
    // An odd number of marks: the first one closes, unless it stands right after the head of a definition.
    const before = text.slice(0, quote.index).trimEnd()
    return before === '' || before.endsWith(':') ? '' : `${quote[0]}\n`
  }
  const closing = text.indexOf('*/')
  if (closing < 0 || !/\.([cm]?[jt]sx?|rs|go|java|kt|c|h|cc|cpp|cxx|hpp|hh|css|scss|cs|scala|dart|swift)$/.test(path))
    return ''
  const first = text.indexOf('/*')
  return first < 0 || first > closing ? '/*\n' : ''
}

export interface Piece {
  readonly text: string
  readonly name: string
  readonly marked: boolean
  readonly found: boolean
  /** What the piece is where its text says the number of a character that is not seen. */
  readonly unseen?: string
}

interface Span {
  readonly from: number
  readonly to: number
}

/** A line cut into pieces by its colours, by the words that changed and by what was searched for. */
export function piecesOf(
  text: string,
  colours: readonly Coloured[],
  marks: readonly Span[],
  finds: readonly Span[],
): Piece[] {
  const hidden = unseenIn(text)
  if (colours.length + marks.length + finds.length + hidden.length === 0)
    return [{ text, name: '', marked: false, found: false }]
  const cuts = new Set<number>([0, text.length])
  for (const list of [colours, marks, finds, hidden]) {
    for (const { from, to } of list) {
      if (from < text.length) cuts.add(from)
      if (to < text.length) cuts.add(to)
    }
  }
  const places = [...cuts].sort((a, b) => a - b)
  const colour = walker(colours)
  const mark = walker(marks)
  const find = walker(finds)
  const unseen = walker(hidden)
  const pieces: Piece[] = []
  for (let i = 0; i + 1 < places.length; i += 1) {
    const from = places[i] ?? 0
    const piece = text.slice(from, places[i + 1])
    const own = { marked: mark(from) !== null, found: find(from) !== null }
    if (unseen(from) !== null)
      pieces.push({ ...own, text: numberOf(piece), name: 'unseen-character', unseen: numberOf(piece) })
    else pieces.push({ ...own, text: piece, name: colour(from)?.name ?? '' })
  }
  return pieces
}

/** Finds the span over a place, for places that only grow. */
function walker<S extends Span>(spans: readonly S[]): (place: number) => S | null {
  let at = 0
  return (place) => {
    while (at < spans.length && (spans[at]?.to ?? 0) <= place) at += 1
    const span = spans[at]
    return span !== undefined && span.from <= place ? span : null
  }
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

function pause(): Promise<void> {
  return new Promise((go) => {
    const channel = new MessageChannel()
    channel.port1.onmessage = () => {
      channel.port1.close()
      go()
    }
    channel.port2.postMessage(null)
  })
}
