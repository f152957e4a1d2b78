// The syntax colours of the files of one review, asked for when a file comes into view and kept. It draws nothing.
// They come of the whole files where these are here, and else of what the patch itself shows of them.
import type { DiffLine, FileDiff } from '../../ipc'
import { coloursOf, type Coloured, type LineColours } from '../../components/code/colours'

interface Sides {
  readonly before: LineColours | null
  readonly after: LineColours | null
}

const NONE: readonly Coloured[] = []

export class DiffColours {
  #known = $state.raw<ReadonlyMap<string, Sides>>(new Map())
  readonly #asked = new Set<string>()
  #closed = false

  /** Colours of a line of one side; empty until they are known. */
  of(path: string, side: 'before' | 'after', line: number | null): readonly Coloured[] {
    if (line === null) return NONE
    return this.#known.get(path)?.[side]?.get(line) ?? NONE
  }

  /** Sees to a file's colours. */
  async want(file: FileDiff, texts: () => Promise<{ before: string; after: string }>): Promise<void> {
    if (this.#asked.has(file.path) || file.binary) return
    this.#asked.add(file.path)
    const givenUp = (): boolean => this.#closed
    const oldPath = file.old_path ?? file.path
    const whole = await texts().catch(() => null)
    const sides: Sides =
      whole === null
        ? {
            after: await coloursOfHunks(file, file.path, 'new', givenUp),
            before: await coloursOfHunks(file, oldPath, 'old', givenUp),
          }
        : {
            after: await coloursOf(file.path, whole.after, givenUp),
            before: await coloursOf(oldPath, whole.before, givenUp),
          }
    if (!this.#closed) this.#known = new Map(this.#known).set(file.path, sides)
  }

  close(): void {
    this.#closed = true
  }
}

/** Colours of one side of a file, each hunk read by itself: all there is of a run that was made on another machine. */
async function coloursOfHunks(
  file: FileDiff,
  path: string,
  side: 'old' | 'new',
  givenUp: () => boolean,
): Promise<LineColours | null> {
  const lines = new Map<number, readonly Coloured[]>()
  for (const hunk of file.hunks) {
    const shown = hunk.lines.filter((line: DiffLine) => line[side] !== null)
    const colours = await coloursOf(path, shown.map((line) => line.text).join('\n'), givenUp)
    if (colours === null) return null
    for (const [place, line] of shown.entries()) {
      const found = colours.get(place + 1)
      if (found !== undefined && line[side] !== null) lines.set(line[side], found)
    }
  }
  return lines
}
