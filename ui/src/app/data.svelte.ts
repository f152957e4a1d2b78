// Owns what Rust holds, as it was last read: the machine, settings, repositories, models, and which repository is
// current. It asks again when Rust says that something changed.
import {
  ipc,
  type AppInfo,
  type EngineSetting,
  type ModelRow,
  type RepoId,
  type RepositoryRow,
  type Settings,
  type UsedEngine,
} from '../ipc'
import { number } from '../i18n/format'
import { setLanguage, t } from '../i18n/index.svelte'
import type { Notices } from './notices.svelte'
import { keep, kept } from './storage'
import type { Watch } from './watch.svelte'

export class Data {
  info = $state<AppInfo | null>(null)
  settings = $state<Settings | null>(null)
  repositories = $state<RepositoryRow[]>([])
  models = $state<ModelRow[]>([])
  /** Where prompts go. */
  engine = $state.raw<EngineSetting | null>(null)
  /** The current repository. */
  repo = $state<RepoId | null>(null)
  /** The repository that the screen is about, where that is a run's; the screen sets it. It need not be the current one. */
  about = $state.raw<{ repository: string; repo: RepoId | null } | null>(null)
  /** Grows with each change Rust reports; screens that hold their own lists watch the one they show. */
  changes = $state({ repositories: 0, runs: 0, models: 0, memory: 0 })

  constructor(
    private readonly notices: Notices,
    private readonly watch: Watch,
  ) {}

  /** The current repository. */
  get repository(): RepositoryRow | null {
    return this.repositories.find((row) => row.id === this.repo) ?? null
  }

  /** The repository of what is shown: the run's on its screens, else the current one; none where it is not in the list. */
  get shownRepository(): RepositoryRow | null {
    const { about } = this
    return about === null ? this.repository : (this.repositories.find((row) => row.id === about.repo) ?? null)
  }

  /** The engine that is used instead of our own; null where prompts stay on this machine. */
  get used(): UsedEngine | null {
    return this.engine?.used ?? null
  }

  /** The models that a run can be begun with, as a choice: that of another engine, then those of this machine. */
  get choices(): { value: string; label: string; note?: string; disabled?: boolean }[] {
    const here = this.models.filter((model) => model.installed && model.broken === null)
    const { used } = this
    return [
      ...(used === null ? [] : [{ value: used.model, label: used.label, note: used.host }]),
      ...here.map((model) => ({
        value: model.id,
        label: model.name,
        disabled: model.fits.kind === 'no',
        ...(model.measured
          ? { note: t('solve.model.speed', { n: number(model.measured.write_tokens_per_second, 0) }) }
          : {}),
      })),
    ]
  }

  get defaultModel(): ModelRow | null {
    return this.models.find((row) => row.default_for.includes('runs')) ?? null
  }

  /** The model of a run for which none is chosen; quick ones, of one round, may have their own. */
  modelFor({ max_rounds }: { max_rounds: number }): ModelRow | null {
    return this.models.find((row) => row.default_for.includes('quick_runs') && max_rounds === 1) ?? this.defaultModel
  }

  /** Makes a repository the current one. */
  choose(repo: RepoId): void {
    this.repo = repo
    keep('repo', String(repo))
    void this.watch.follow(this.repository)
  }

  /** Reads everything, and makes the repository that was current last the current one. */
  async open(): Promise<void> {
    await Promise.all([this.readInfo(), this.readRepositories(), this.readModels(), this.readEngine()])
    this.repo = remembered(this.repositories)
    void this.watch.follow(this.repository)
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
      this.notices.fail(thrown)
    }
  }

  async readSettings(): Promise<void> {
    this.settings = await ipc.settings()
    setLanguage(this.settings.language)
  }

  async readRepositories(): Promise<void> {
    this.repositories = await ipc.repositories()
    if (this.repo !== null && this.repository === null) this.repo = remembered(this.repositories)
    void this.watch.follow(this.repository)
  }

  /** Sizes and free memory as they are now. */
  async readInfo(): Promise<void> {
    this.info = await ipc.appInfo()
  }

  async readModels(): Promise<void> {
    this.models = await ipc.models()
  }

  async readEngine(): Promise<void> {
    this.engine = await ipc.otherEngine()
  }

  /** What may have changed behind the window's back: work trees, free memory. Failures wait for the next action that needs them. */
  async refresh(): Promise<void> {
    await Promise.all([this.readRepositories(), this.readInfo()]).catch(() => undefined)
  }

  /** Adds a folder and makes it the current repository; says what is wrong with it otherwise. */
  async addRepository(path: string): Promise<RepositoryRow | null> {
    try {
      const row = await ipc.addRepository(path)
      await this.readRepositories()
      this.choose(row.id)
      return row
    } catch (thrown) {
      this.notices.fail(thrown)
      return null
    }
  }

  async pickRepository(): Promise<RepositoryRow | null> {
    const path = await ipc.pickFolder(t('repositories.pick')).catch((thrown: unknown) => {
      this.notices.fail(thrown)
      return null
    })
    return path === null ? null : this.addRepository(path)
  }
}

/** The repository that was current last, else the one used last. */
function remembered(rows: RepositoryRow[]): RepoId | null {
  const last = kept('repo')
  const known = rows.find((row) => String(row.id) === last)
  const latest = [...rows].sort((a, b) => b.used_at_ms - a.used_at_ms)[0]
  return (known ?? latest)?.id ?? null
}
