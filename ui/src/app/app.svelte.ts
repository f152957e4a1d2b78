// Owns what the whole window shares, composed of parts, and how the window starts and hears of changes.
// It is a view of what Rust holds: it asks, keeps the answer for drawing, and asks again when Rust says something
// changed.
import { ipc, problemOf, type AppEventHandlers, type Opening, type Problem, type RepoId, type Stop } from '../ipc'
import { t, tn } from '../i18n/index.svelte'
import { Data } from './data.svelte'
import { Layout } from './layout.svelte'
import { Navigation } from './navigation.svelte'
import { Notices } from './notices.svelte'
import { Queue } from './queue.svelte'
import { Watch } from './watch.svelte'

class App {
  readonly notices = new Notices()
  readonly navigation = new Navigation(() => this.notices.letGo())
  readonly layout = new Layout()
  readonly queue = new Queue(this.notices)
  readonly watch = new Watch(this.notices)
  readonly data = new Data(this.notices, this.watch)

  ready = $state(false)
  startProblem = $state<Problem | null>(null)
  /** How many runs were being worked on when the window was asked to close; null where it was not. */
  closeAsked = $state<number | null>(null)
  /** The text of an issue file that the program was started with, until the form of its repository has it. */
  given = $state.raw<{ repo: RepoId; issue: string } | null>(null)

  private readonly changed: AppEventHandlers = {
    repositoriesChanged: () => {
      this.data.changes.repositories += 1
      void this.data.readRepositories()
    },
    runsChanged: () => {
      this.data.changes.runs += 1
      void this.queue.read()
    },
    modelsChanged: () => {
      this.data.changes.models += 1
      void this.data.readModels()
    },
    memoryChanged: () => {
      this.data.changes.memory += 1
      void this.data.readRepositories()
    },
    settingsChanged: () => {
      void this.data.readSettings()
      // Which model is the default, and what fits, follow from them.
      void this.data.readModels()
      void this.data.readEngine()
    },
    watchChanged: ({ view }) => this.watch.changed(view),
    opening: (opening) => void this.begin(opening),
    closeAsked: ({ running }) => (this.closeAsked = running),
  }

  /** Ends the hearing of changes that an earlier start began. */
  private stopHearing: Stop = () => undefined

  async open(): Promise<void> {
    const { data, navigation, notices, queue } = this
    this.stopHearing()
    this.stopHearing = ipc.onEvent(this.changed)
    try {
      await data.readSettings()
      await Promise.all([data.open(), queue.read()])
      const { info } = data
      if (info !== null && info.opened !== null) await this.begin(info.opened)
      else if (info?.first_start && data.repositories.length === 0) navigation.screen = { name: 'start' }
      this.startProblem = null
      this.ready = true
      if (info !== null && info.access !== 'read_write')
        notices.say(t(info.access === 'disk_full' ? 'frame.disk_full' : 'frame.read_only'), {
          sticky: true,
          action: { label: t('frame.room'), run: () => navigation.go({ name: 'settings', page: 'data' }) },
        })
      for (const problem of info?.broken_off ?? []) notices.say(problem.message, { sticky: true, problem })
      if (queue.waiting.length > 0) {
        const show = (): void => navigation.go({ name: 'runs', view: { kind: 'list' } })
        notices.say(tn('runs.waiting', queue.waiting.length), {
          sticky: true,
          action: { label: t('runs.waiting.show'), run: show },
        })
      }
    } catch (thrown) {
      this.startProblem = problemOf(thrown)
    }
  }

  /** Shows what the program was started with: the repository, and its issue in the form. */
  private async begin(opening: Opening): Promise<void> {
    const row = await this.data.addRepository(opening.repo)
    if (row === null) return
    if (opening.issue !== null) {
      try {
        this.given = { repo: row.id, issue: await ipc.readText(opening.issue) }
      } catch (thrown) {
        this.notices.fail(thrown)
      }
    }
    this.navigation.go({ name: 'solve', run: null })
  }
}

export const app = new App()
