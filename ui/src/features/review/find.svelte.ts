// Looking for a text in all lines of the diff, also those that are not drawn. It neither scrolls nor draws.
import type { FileDiff } from '../../ipc'
import type { Stretch } from './word_changes'

export interface Hit {
  readonly file: number
  readonly hunk: number
  readonly line: number
  readonly from: number
  readonly to: number
}

/** More hits than this help nobody; the count then says "or more". */
export const MOST_HITS = 5000

const NONE: readonly Stretch[] = []

export class Find {
  open = $state(false)
  text = $state('')
  at = $state(0)
  readonly #files: () => readonly FileDiff[]
  readonly hits: readonly Hit[] = $derived.by(() => (this.open ? search(this.#files(), this.text) : []))
  readonly #byLine = $derived.by(() => {
    const lines = new Map<string, Stretch[]>()
    for (const { file, hunk, line, from, to } of this.hits) {
      const key = `${file}:${hunk}:${line}`
      const known = lines.get(key)
      if (known === undefined) lines.set(key, [{ from, to }])
      else known.push({ from, to })
    }
    return lines
  })

  constructor(files: () => readonly FileDiff[]) {
    this.#files = files
  }

  get current(): Hit | null {
    return this.hits[this.at] ?? null
  }

  /** The hits within one line. */
  in(file: number, hunk: number, line: number): readonly Stretch[] {
    return this.#byLine.size === 0 ? NONE : (this.#byLine.get(`${file}:${hunk}:${line}`) ?? NONE)
  }

  look(text: string): void {
    this.text = text
    this.at = 0
  }

  step(by: number): void {
    const count = this.hits.length
    if (count > 0) this.at = (this.at + by + count) % count
  }

  close(): void {
    this.open = false
    this.text = ''
    this.at = 0
  }
}

/** Case counts only where the text has a capital. */
export function search(files: readonly FileDiff[], text: string): Hit[] {
  const hits: Hit[] = []
  if (text === '') return hits
  const exact = text !== text.toLowerCase()
  for (const [file, diff] of files.entries()) {
    for (const [hunk, view] of diff.hunks.entries()) {
      for (const [line, { text: content }] of view.lines.entries()) {
        const where = exact ? content : content.toLowerCase()
        for (let from = where.indexOf(text); from >= 0; from = where.indexOf(text, from + text.length)) {
          hits.push({ file, hunk, line, from, to: from + text.length })
          if (hits.length >= MOST_HITS) return hits
        }
      }
    }
  }
  return hits
}
