// Owns what the right-hand inspector shows: a title and a snippet of the screen that has something to say.
import { onDestroy, untrack, type Snippet } from 'svelte'

type Content = { title: string; body: Snippet }
/** What to show, null where nothing is selected, or that there is nothing that could be. */
type Shown = Content | null | 'hidden'

class Inspector {
  // A plain array beside a count, for the same reason as in commands.svelte.ts.
  private readonly sources: (() => Shown)[] = []
  private changes = $state(0)

  get content(): Content | null {
    void this.changes
    const shown = this.sources.at(-1)?.() ?? null
    return shown === 'hidden' ? null : shown
  }

  /** Whether the screen shown has an inspector at all. */
  get offered(): boolean {
    void this.changes
    const source = this.sources.at(-1)
    return source !== undefined && source() !== 'hidden'
  }

  add(source: () => Shown): () => void {
    this.sources.push(source)
    untrack(() => (this.changes += 1))
    return () => {
      this.sources.splice(this.sources.indexOf(source), 1)
      untrack(() => (this.changes += 1))
    }
  }
}

export const inspector = new Inspector()

/** Fills the inspector as long as the calling component is shown; null shows its empty state. */
export function inspect(source: () => Shown): void {
  const take = inspector.add(source)
  onDestroy(take)
}
