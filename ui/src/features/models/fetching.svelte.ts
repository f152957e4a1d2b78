// Owns the fetches under way: their progress stays while other screens are shown. Rust does the fetching; nothing
// begins without a person's click.
import { app } from '../../app/app.svelte'
import { ipc, problemOf, type Problem } from '../../ipc'

export type Fetching =
  | { kind: 'waiting' }
  | { kind: 'progress'; received: number; total: number; bytes_per_second: number }
  | { kind: 'checking' }
  | { kind: 'problem'; problem: Problem }

class Fetches {
  private under = $state<Record<string, Fetching>>({})
  private paused = $state<Record<string, number>>({})

  of(id: string): Fetching | null {
    return this.under[id] ?? null
  }

  get ids(): string[] {
    return Object.keys(this.under)
  }

  /** The bytes that are here of a fetch that was paused; null where none was. */
  received(id: string): number | null {
    return this.paused[id] ?? null
  }

  /** Fetches a model or goes on with what is there of it; comes back when it is whole, paused or failed. */
  async start(id: string): Promise<void> {
    this.under[id] = { kind: 'waiting' }
    try {
      await ipc.fetchModel(id, (news) => {
        switch (news.kind) {
          case 'progress':
          case 'checking':
          case 'problem':
            this.under[id] = news
            break
          case 'stopped':
            this.paused[id] = news.received
            delete this.under[id]
            break
          case 'done':
            delete this.paused[id]
            delete this.under[id]
            break
        }
      })
      if (this.of(id)?.kind !== 'problem') delete this.under[id]
    } catch (thrown) {
      this.under[id] = { kind: 'problem', problem: problemOf(thrown) }
    }
    await app.data.readModels().catch((thrown: unknown) => app.notices.fail(thrown))
  }

  async pause(id: string): Promise<void> {
    try {
      await ipc.pauseFetch(id)
    } catch (thrown) {
      app.notices.fail(thrown)
    }
  }
}

export const fetches = new Fetches()
