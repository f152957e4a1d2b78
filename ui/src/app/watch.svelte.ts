// Owns how the current repository is watched.
import { ipc, type RepositoryRow, type WatchView } from '../ipc'
import type { Notices } from './notices.svelte'

export class Watch {
  view = $state.raw<WatchView | null>(null)
  private repository: RepositoryRow | null = null

  constructor(private readonly notices: Notices) {}

  /** Has a repository watched, and none beside it. */
  async follow(repository: RepositoryRow | null): Promise<void> {
    this.repository = repository
    if (repository === null || repository.problem !== null) this.view = null
    else if (this.view?.repo !== repository.id) {
      const still = (): boolean => this.repository?.id === repository.id
      try {
        const view = await ipc.watchRepository(repository.id)
        // Another may be current by now, or a newer word of this one has come.
        if (still() && this.view?.repo !== repository.id) this.view = view
      } catch (thrown) {
        if (!still()) return
        this.view = null
        this.notices.fail(thrown)
      }
    }
  }

  /** Takes what Rust says of a repository that is watched. */
  changed(view: WatchView): void {
    if (view.repo === this.repository?.id) this.view = view
  }
}
