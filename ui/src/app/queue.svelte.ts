// Owns which runs are worked on now, and which of them wait.
import { ipc, type RunListFilter, type RunRow } from '../ipc'
import type { Notices } from './notices.svelte'

const leftWaiting: RunListFilter = {
  repo: null,
  status: 'waiting',
  tag: null,
  text: '',
  after: null,
  limit: 500,
  order: 'oldest_first',
}

export class Queue {
  running = $state<RunRow[]>([])
  /** Runs that a window before this one left in its queue, the oldest first. */
  waiting = $state.raw<readonly RunRow[]>([])
  /** Tokens a second while a run is followed; the run's screen sets it. */
  speed = $state<number | null>(null)

  constructor(private readonly notices: Notices) {}

  async read(): Promise<void> {
    const [running, page] = await Promise.all([ipc.runningRuns(), ipc.runsPage(leftWaiting).catch(() => null)])
    this.running = running
    // Where the list cannot be read, the screen that shows it says so.
    if (page !== null) this.waiting = page.rows.map((hit) => hit.run).filter((run) => run.status === 'waiting')
  }

  /** Puts the runs that were left waiting into the queue, the oldest first. */
  async startWaiting(): Promise<void> {
    for (const run of this.waiting) await ipc.resumeRun(run.id).catch((thrown: unknown) => this.notices.fail(thrown))
    await this.read()
  }
}
