// Owns what the whole window shares: the screen, the repository at hand, settings, what runs now, toasts. It is a view
// of what Rust holds: it asks, keeps the answer for drawing, and asks again when Rust says something changed.
import {
  ipc,
  problemOf,
  type AppInfo,
  type ModelRow,
  type Opening,
  type Problem,
  type RepoId,
  type RepositoryRow,
  type RunId,
  type RunRow,
  type Settings,
  type WatchView,
} from '../ipc'
import { setLanguage, t, tn } from '../i18n/index.svelte'

export type SettingsPage = 'appearance' | 'engine' | 'privacy' | 'data' | 'about'
export type Screen =
  | { name: 'start' }
  | { name: 'solve'; run: RunId | null }
  | {
      name: 'runs'
      view: { kind: 'list' } | { kind: 'run'; run: RunId } | { kind: 'compare'; left: RunId; right: RunId }
    }
  | { name: 'review'; run: RunId }
  | { name: 'memory'; path: string | null }
  | { name: 'models' }
  | { name: 'settings'; page: SettingsPage }
  | { name: 'repositories' }

/** A message at the window's lower edge. `sticky` stays until the next action of the person. */
export type Toast = {
  id: number
  text: string
  problem: Problem | null
  action: { label: string; run: () => void } | null
  sticky: boolean
}

class App {
  screen = $state<Screen>({ name: 'solve', run: null })
  info = $state<AppInfo | null>(null)
  settings = $state<Settings | null>(null)
  repositories = $state<RepositoryRow[]>([])
  models = $state<ModelRow[]>([])
  running = $state<RunRow[]>([])
  /** Runs that a window before this one left in its queue, the oldest first. */
  waiting = $state.raw<readonly RunRow[]>([])
  repo = $state<RepoId | null>(null)
  /** How the repository at hand is watched. */
  watched = $state.raw<WatchView | null>(null)
  /** The text of an issue file that the program was started with, until the form of its repository has it. */
  given = $state.raw<{ repo: RepoId; issue: string } | null>(null)
  ready = $state(false)
  startProblem = $state<Problem | null>(null)
  toasts = $state<Toast[]>([])
  /** Tokens a second while a run is followed; the run's screen sets it. */
  speed = $state<number | null>(null)
  /**
   * The repository that the screen is about, where that is a run's; the screen sets it. It need not be the current one.
   */
  about = $state.raw<{ repository: string; repo: RepoId | null } | null>(null)
  railWide = $state(kept('rail') === 'wide')
  /** Whether the window is too narrow for the inspector to stand beside the work. */
  narrow = $state(false)
  private inspectorBeside = $state(kept('inspector') !== 'hidden')
  private inspectorOver = $state(kept('inspector-drawer') === 'shown')
  inspectorWidth = $state(Number(kept('inspector-width') ?? 320) || 320)
  overlay = $state<'none' | 'palette' | 'switcher' | 'keys'>('none')
  closeAsked = $state<number | null>(null)
  /** Grows with each change Rust reports; screens that hold their own lists watch the one they show. */
  changes = $state({ repositories: 0, runs: 0, models: 0, memory: 0 })
  private back: Screen[] = []
  private nextToast = 1

  /** The repository at hand. */
  get repository(): RepositoryRow | null {
    return this.repositories.find((row) => row.id === this.repo) ?? null
  }

  /**
   * The repository of what is shown: the run's on its screens, else the current one; none where it is not in the list.
   */
  get shownRepository(): RepositoryRow | null {
    const { about } = this
    return about === null ? this.repository : (this.repositories.find((row) => row.id === about.repo) ?? null)
  }

  get defaultModel(): ModelRow | null {
    return this.models.find((row) => row.default_for.includes('runs')) ?? null
  }

  /** The model of a run for which none is chosen; quick ones, of one round, may have their own. */
  modelFor({ max_rounds }: { max_rounds: number }): ModelRow | null {
    return this.models.find((row) => row.default_for.includes('quick_runs') && max_rounds === 1) ?? this.defaultModel
  }

  /** Shows another screen and remembers this one. */
  go(screen: Screen): void {
    this.back.push($state.snapshot(this.screen) as Screen)
    if (this.back.length > 50) this.back.shift()
    this.screen = screen
    this.overlay = 'none'
    this.letGo()
  }

  /** Shows the screen before; nothing when there is none. */
  goBack(): void {
    const before = this.back.pop()
    if (before) this.screen = before
  }

  choose(repo: RepoId): void {
    this.repo = repo
    keep('repo', String(repo))
    void this.watch()
  }

  /** Has the repository at hand watched. */
  private async watch(): Promise<void> {
    const row = this.repository
    if (row === null || row.problem !== null) this.watched = null
    else if (this.watched?.repo !== row.id) {
      try {
        const view = await ipc.watchRepository(row.id)
        // Another may be at hand by now, or a newer word of this one has come.
        if (this.repo === row.id && this.watched?.repo !== row.id) this.watched = view
      } catch (thrown) {
        if (this.repo !== row.id) return
        this.watched = null
        this.fail(thrown)
      }
    }
  }

  widenRail(wide: boolean): void {
    this.railWide = wide
    keep('rail', wide ? 'wide' : 'narrow')
  }

  get inspectorShown(): boolean {
    return this.narrow ? this.inspectorOver : this.inspectorBeside
  }

  /** Wide and narrow windows remember it apart: beside the work it is in nobody's way. */
  showInspector(shown: boolean): void {
    if (this.narrow) this.inspectorOver = shown
    else this.inspectorBeside = shown
    keep(this.narrow ? 'inspector-drawer' : 'inspector', shown ? 'shown' : 'hidden')
  }

  widenInspector(width: number): void {
    this.inspectorWidth = width
    keep('inspector-width', String(width))
  }

  /** Says something; returns the toast's id, so that it can be taken back. */
  say(text: string, more: Partial<Pick<Toast, 'action' | 'sticky' | 'problem'>> = {}): number {
    const id = this.nextToast++
    this.toasts.push({
      id,
      text,
      problem: more.problem ?? null,
      action: more.action ?? null,
      sticky: more.sticky ?? false,
    })
    return id
  }

  /** Says what went wrong. */
  fail(thrown: unknown): void {
    const problem = problemOf(thrown)
    this.say(problem.message, { problem, sticky: true })
  }

  unsay(id: number): void {
    this.toasts = this.toasts.filter((toast) => toast.id !== id)
  }

  /** The person went on: what stayed for an undo goes. */
  letGo(): void {
    this.toasts = this.toasts.filter((toast) => toast.problem !== null)
  }

  async open(): Promise<void> {
    ipc.onEvent((event) => {
      switch (event.kind) {
        case 'repositories_changed':
          this.changes.repositories += 1
          void this.readRepositories()
          break
        case 'runs_changed':
          this.changes.runs += 1
          void this.readRunning()
          break
        case 'models_changed':
          this.changes.models += 1
          void this.readModels()
          break
        case 'memory_changed':
          this.changes.memory += 1
          void this.readRepositories()
          break
        case 'settings_changed':
          void this.readSettings()
          // Which model is the default, and what fits, follow from them.
          void this.readModels()
          break
        case 'watch_changed':
          if (event.view.repo === this.repo) this.watched = event.view
          break
        case 'opening':
          void this.begin(event.opening)
          break
        case 'close_asked':
          this.closeAsked = event.running
          break
      }
    })
    try {
      await this.readSettings()
      const [info] = await Promise.all([ipc.appInfo(), this.readRepositories(), this.readModels(), this.readRunning()])
      this.info = info
      this.repo = remembered(this.repositories)
      void this.watch()
      if (info.opened !== null) await this.begin(info.opened)
      else if (info.first_start && this.repositories.length === 0) this.screen = { name: 'start' }
      this.startProblem = null
      this.ready = true
      if (this.waiting.length > 0) {
        this.say(tn('runs.waiting', this.waiting.length), {
          sticky: true,
          action: { label: t('runs.waiting.show'), run: () => this.go({ name: 'runs', view: { kind: 'list' } }) },
        })
      }
    } catch (thrown) {
      this.startProblem = problemOf(thrown)
    }
  }

  async putSettings(change: Partial<Settings>): Promise<void> {
    if (!this.settings) return
    const before = $state.snapshot(this.settings)
    this.settings = { ...before, ...change }
    setLanguage(this.settings.language)
    try {
      await ipc.putSettings($state.snapshot(this.settings))
    } catch (thrown) {
      this.settings = before
      setLanguage(before.language)
      this.fail(thrown)
    }
  }

  async readSettings(): Promise<void> {
    this.settings = await ipc.settings()
    setLanguage(this.settings.language)
  }

  async readRepositories(): Promise<void> {
    this.repositories = await ipc.repositories()
    if (this.repo !== null && !this.repositories.some((row) => row.id === this.repo))
      this.repo = remembered(this.repositories)
    void this.watch()
  }

  /** Sizes and free memory as they are now. */
  async readInfo(): Promise<void> {
    this.info = await ipc.appInfo()
  }

  /**
   * What may have changed behind the window's back: work trees, free memory. Failures wait for the next action that
   * needs them.
   */
  async refresh(): Promise<void> {
    await Promise.all([this.readRepositories(), this.readInfo()]).catch(() => undefined)
  }

  async readModels(): Promise<void> {
    this.models = await ipc.models()
  }

  async readRunning(): Promise<void> {
    const left = {
      repo: null,
      status: 'waiting' as const,
      tag: null,
      text: '',
      after: null,
      limit: 500,
      order: 'oldest_first' as const,
    }
    const [running, page] = await Promise.all([ipc.runningRuns(), ipc.runsPage(left).catch(() => null)])
    this.running = running
    // Where the list cannot be read, the screen that shows it says so.
    if (page !== null) this.waiting = page.rows.map((hit) => hit.run).filter((run) => run.status === 'waiting')
  }

  /** Puts the runs that were left waiting into the queue, the oldest first. */
  async startWaiting(): Promise<void> {
    for (const run of this.waiting) await ipc.resumeRun(run.id).catch((thrown: unknown) => this.fail(thrown))
    await this.readRunning()
  }

  /** Adds a folder and makes it the repository at hand; says what is wrong with it otherwise. */
  async addRepository(path: string): Promise<RepositoryRow | null> {
    try {
      const row = await ipc.addRepository(path)
      await this.readRepositories()
      this.choose(row.id)
      return row
    } catch (thrown) {
      this.fail(thrown)
      return null
    }
  }

  /** Shows what the program was started with: the repository, and its issue in the form. */
  async begin(opening: Opening): Promise<void> {
    const row = await this.addRepository(opening.repo)
    if (row === null) return
    if (opening.issue !== null) {
      try {
        this.given = { repo: row.id, issue: await ipc.readText(opening.issue) }
      } catch (thrown) {
        this.fail(thrown)
      }
    }
    this.go({ name: 'solve', run: null })
  }

  async pickRepository(): Promise<RepositoryRow | null> {
    const path = await ipc.pickFolder(t('repositories.pick')).catch((thrown: unknown) => {
      this.fail(thrown)
      return null
    })
    return path === null ? null : this.addRepository(path)
  }
}

function remembered(rows: RepositoryRow[]): RepoId | null {
  const last = kept('repo')
  const known = rows.find((row) => String(row.id) === last)
  const latest = [...rows].sort((a, b) => b.used_at_ms - a.used_at_ms)[0]
  return (known ?? latest)?.id ?? null
}

/** What the window remembers of its own shape; where storage is closed off, only that is lost. */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value)
  } catch {
    // The next start begins with the usual shape.
  }
}

export const app = new App()
