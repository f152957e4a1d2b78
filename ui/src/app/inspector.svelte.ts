// Owns what the right-hand inspector shows: a title and a snippet of the screen that has something to say.
import { onDestroy, type Snippet } from 'svelte'

type Content = { title: string; body: Snippet }

class Inspector {
  private sources = $state<(() => Content | null)[]>([])

  get content(): Content | null {
    return this.sources.at(-1)?.() ?? null
  }

  /** Whether the screen shown has an inspector at all. */
  get offered(): boolean {
    return this.sources.length > 0
  }

  add(source: () => Content | null): () => void {
    this.sources.push(source)
    return () => {
      this.sources = this.sources.filter((one) => one !== source)
    }
  }
}

export const inspector = new Inspector()

/** Fills the inspector as long as the calling component is shown; null shows its empty state. */
export function inspect(source: () => Content | null): void {
  const take = inspector.add(source)
  onDestroy(take)
}
