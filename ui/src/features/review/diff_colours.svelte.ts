// The syntax colours of the files of one review, asked for when a file comes into view and kept. It draws nothing.
import type { FileDiff } from '../../ipc'
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

  /** Sees to a file's colours; text that cannot be had stays plain. */
  async want(file: FileDiff, texts: () => Promise<{ before: string; after: string }>): Promise<void> {
    if (this.#asked.has(file.path) || file.binary) return
    this.#asked.add(file.path)
    try {
      const { before, after } = await texts()
      const givenUp = (): boolean => this.#closed
      const sides = {
        after: await coloursOf(file.path, after, givenUp),
        before: await coloursOf(file.old_path ?? file.path, before, givenUp),
      }
      if (!this.#closed) this.#known = new Map(this.#known).set(file.path, sides)
    } catch {
      // A diff without colours is still the whole diff.
    }
  }

  close(): void {
    this.#closed = true
  }
}
