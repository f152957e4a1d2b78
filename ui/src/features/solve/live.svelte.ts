// One run as the window follows it: its view, what is being called right now, the text as it streams, speed and time.
// It decides nothing about the run and shows nothing.
import {
  ipc,
  problemOf,
  type Agent,
  type Problem,
  type RunId,
  type RunUpdate,
  type RunView,
  type RunningCode,
  type Stage,
  type TaskId,
} from '../../ipc'
import { StreamedText } from './streamed_text'

export interface Activity {
  readonly stage: Stage
  readonly agent: Agent
  readonly step: string
  readonly task: TaskId | null
  readonly path: string | null
  readonly text: StreamedText
  /** How far the run was when the call began; once it is further, the text stands in the view. */
  readonly mark: string
}

export interface Speed {
  readonly tokens_per_second: number
  readonly worked_ms: number
  readonly left_ms: number | null
  readonly at: number
}

export interface Running {
  readonly code: RunningCode
  readonly changed: boolean
  readonly task: TaskId | null
  readonly at: number
}

export type Preparing =
  | { readonly kind: 'loading'; readonly model: string }
  | { readonly kind: 'indexing'; readonly done: number; readonly total: number }

export class LiveRun {
  readonly run: RunId
  view = $state.raw<RunView | null>(null)
  preparing = $state.raw<Preparing | null>(null)
  activities = $state.raw<readonly Activity[]>([])
  speed = $state.raw<Speed | null>(null)
  /** The code that runs right now. */
  running = $state.raw<Running | null>(null)
  problem = $state.raw<Problem | null>(null)
  /** Whether news is coming in. */
  following = $state(false)
  /** Tokens of this session's calls, for the line that is always visible. */
  computed = $state(0)
  reused = $state(0)
  #stop: (() => void) | null = null
  #closed = false

  constructor(run: RunId) {
    this.run = run
  }

  /** Reads the run, and follows it while it is under way. */
  async open(): Promise<void> {
    if (this.#stop !== null) return
    try {
      const view = await ipc.runView(this.run)
      if (this.#closed || this.#stop !== null) return
      this.view = view
      if (isUnderWay(view)) this.follow()
    } catch (thrown) {
      if (!this.#closed) this.problem = problemOf(thrown)
    }
  }

  /** Whether time goes by for this run in this window. */
  get working(): boolean {
    return this.following && this.view !== null && isUnderWay(this.view)
  }

  /** Tokens written a second right now; none while the model reads. */
  get writing(): number | null {
    const speed = this.working ? (this.speed?.tokens_per_second ?? 0) : 0
    return speed > 0 ? speed : null
  }

  follow(): void {
    if (this.#stop !== null || this.#closed) return
    this.following = true
    this.problem = null
    this.#stop = ipc.followRun(this.run, (news) => this.#take(news))
  }

  close(): void {
    this.#closed = true
    this.#end()
  }

  /** Carries out a wish on this run; what went wrong is shown on the run. */
  async attempt(what: () => Promise<unknown>): Promise<boolean> {
    try {
      await what()
      this.problem = null
      if (!this.following) await this.#read()
      return true
    } catch (thrown) {
      this.problem = problemOf(thrown)
      return false
    }
  }

  /** The call of a task that is still streaming, or of nobody's task. */
  activityOf(task: TaskId | null): Activity | null {
    const found = this.activities.find((one) => one.task === task)
    return found !== undefined && found.mark === markOf(this.view, task) ? found : null
  }

  #take(news: RunUpdate): void {
    if (this.#closed) return
    switch (news.kind) {
      case 'view':
        this.view = news.view
        this.preparing = null
        break
      case 'loading':
      case 'indexing':
        this.preparing = news
        break
      case 'call_started': {
        this.preparing = null
        const activity = { ...news, text: new StreamedText(), mark: markOf(this.view, news.task) }
        this.activities = [...this.activities.filter((one) => one.task !== news.task), activity]
        break
      }
      case 'text':
        this.activities.find((one) => one.task === news.task)?.text.append(news.delta)
        break
      case 'call_ended':
        this.computed += news.prompt_tokens + news.generated_tokens
        this.reused += news.reused_tokens
        break
      case 'code_started':
        this.running = { ...news, at: performance.now() }
        break
      case 'code_ended':
        this.running = null
        break
      case 'speed':
        this.speed = { ...news, at: performance.now() }
        break
      case 'problem':
        // It is the last news: the run waits for what the problem names.
        this.problem = news.problem
        this.#end()
        void this.#read()
        break
      case 'stopped':
      case 'ended':
        this.#end()
        void this.#read()
        break
    }
  }

  async #read(): Promise<void> {
    try {
      const view = await ipc.runView(this.run)
      if (!this.#closed) this.view = view
    } catch (thrown) {
      if (!this.#closed) this.problem = problemOf(thrown)
    }
  }

  #end(): void {
    this.#stop?.()
    this.#stop = null
    this.following = false
    this.preparing = null
    this.speed = null
    this.running = null
    this.activities = []
  }
}

export function isUnderWay(view: RunView): boolean {
  return view.row.status === 'queued' || view.row.status === 'running'
}

export function canResume(view: RunView): boolean {
  return view.row.status === 'paused' || view.row.status === 'interrupted' || view.row.status === 'waiting'
}

/** Changes whenever a call's outcome has arrived in the part of the view that it concerns. */
function markOf(view: RunView | null, task: TaskId | null): string {
  if (view === null) return ''
  if (task === null) {
    const described = view.candidates.filter((one) => one.description !== null).length
    const checks = view.evidence?.checks.length ?? 0
    return `${view.stage} ${checks} ${view.candidates.length} ${described} ${view.tasks.length} ${view.meeting.length}`
  }
  const found = view.tasks.find((one) => one.task.id === task)
  if (found === undefined) return ''
  const attempts = found.rounds.flatMap((round) => round.attempts)
  const verdicts = attempts.filter((attempt) => attempt.verdict !== null).length
  const tested = attempts.filter((attempt) => attempt.tested !== null).length
  return `${view.meeting.length} ${found.rounds.length} ${attempts.length} ${tested} ${verdicts} ${found.outcome?.kind ?? ''}`
}

/** Whether a person's word can still change this run. */
export function canSteer(live: LiveRun): boolean {
  const { view } = live
  return view !== null && (isUnderWay(view) || canResume(view))
}
