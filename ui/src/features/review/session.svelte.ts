// One review as the window holds it: the patch, what was decided, where the cursor stands, and the way back to Rust.
// Every decision is saved a moment later, so that a restart finds it. It draws nothing.
import { t } from '../../i18n/index.svelte'
import {
  IpcError,
  ipc,
  problemOf,
  type AppliedView,
  type ApplyRequest,
  type CheckId,
  type ConflictView,
  type FileDiff,
  type FileReview,
  type FileTexts,
  type HunkDecision,
  type HunkView,
  type PatchView,
  type Problem,
  type RepoId,
  type ReviewState,
  type RunId,
  type RunView,
} from '../../ipc'
import * as decide from './choice'
import { NO_CHOICE, type FileChoice } from './choice'
import { editedDiff } from './edited_diff'
import { outcomeOf, WHOLE_FILE, type Outcome } from './outcome'

/** What keys act on: a hunk, or one run of changed lines of a hunk that was split. Places in lists, not numbers. */
export interface Cursor {
  readonly file: number
  readonly hunk: number
  readonly part: number | null
}

/** Lines chosen by hand within one hunk, both ends included. */
export interface LineChoice {
  readonly file: number
  readonly hunk: number
  readonly from: number
  readonly to: number
}

const SAVE_AFTER_MS = 250
const CONFLICTS_AFTER_MS = 600

export class ReviewSession {
  readonly run: RunId
  view = $state.raw<RunView | null>(null)
  patch = $state.raw<PatchView | null>(null)
  problem = $state.raw<Problem | null>(null)
  cursor = $state.raw<Cursor>({ file: 0, hunk: 0, part: null })
  lines = $state.raw<LineChoice | null>(null)
  conflicts = $state.raw<readonly ConflictView[]>([])
  commitMessage = $state('')
  pullRequest = $state('')
  /** The checks whose tests are added to the change. */
  tests = $state.raw<readonly CheckId[]>([])
  /** The file whose text is being edited. */
  editing = $state<number | null>(null)
  applied = $state.raw<AppliedView | null>(null)
  busy = $state(false)
  #choices = $state.raw<ReadonlyMap<string, FileChoice>>(new Map())
  #edited = $state.raw<ReadonlyMap<string, FileDiff>>(new Map())
  #split = $state.raw<ReadonlySet<string>>(new Set())
  #folded = $state.raw<ReadonlySet<string>>(new Set())
  readonly #asked = new Map<string, Promise<FileTexts>>()
  readonly #read = new Map<string, { before: string; after: string }>()
  #saving: ReturnType<typeof setTimeout> | null = null
  #looking: ReturnType<typeof setTimeout> | null = null
  #closed = false

  readonly outcome: Outcome = $derived(outcomeOf(this.shown, (path) => this.#choices.get(path) ?? NO_CHOICE))

  constructor(run: RunId) {
    this.run = run
  }

  /** The files as proposed; decisions are about these. */
  get files(): readonly FileDiff[] {
    return this.patch?.files ?? []
  }

  /** The files as they are drawn: one written by hand as its own diff. */
  get shown(): readonly FileDiff[] {
    return this.#edited.size === 0 ? this.files : this.files.map((file) => this.#edited.get(file.path) ?? file)
  }

  async open(): Promise<void> {
    try {
      const [view, patch, review] = await Promise.all([
        ipc.runView(this.run),
        ipc.patch(this.run),
        ipc.review(this.run),
      ])
      if (this.#closed) return
      this.view = view
      this.applied = view.applied
      this.commitMessage = review.commit_message ?? patch.commit_message
      this.pullRequest = review.pull_request ?? patch.pull_request
      await this.#take(patch, review)
      this.#lookForConflicts()
    } catch (thrown) {
      this.problem = problemOf(thrown)
    }
  }

  /** Reads again what a run that was not over may have shown since: of its patch and of the tests that it offers. */
  async refresh(): Promise<void> {
    if (this.patch === null || this.view === null || this.view.outcome !== null) return
    try {
      const [view, { tests }] = await Promise.all([ipc.runView(this.run), ipc.patch(this.run)])
      if (this.#closed) return
      this.view = view
      this.patch = { ...this.patch, tests }
    } catch {
      // What was read before stays.
    }
  }

  /** Saves what is not yet saved, and lets go. */
  close(): void {
    this.#closed = true
    if (this.#looking !== null) clearTimeout(this.#looking)
    if (this.#saving !== null) void this.save()
  }

  choiceOf(file: number): FileChoice {
    const path = this.files[file]?.path
    return (path === undefined ? undefined : this.#choices.get(path)) ?? NO_CHOICE
  }

  hunkAt(file: number, hunk: number): HunkView | null {
    return this.shown[file]?.hunks[hunk] ?? null
  }

  stateOf(file: number, hunk: number): decide.HunkState {
    const found = this.hunkAt(file, hunk)
    const choice = this.choiceOf(file)
    if (found === null) return choice.decisions.get(WHOLE_FILE) ?? 'open'
    return choice.text !== null ? 'accepted' : decide.hunkState(choice, found)
  }

  /** Whether the person wrote the file by hand. */
  isEdited(file: number): boolean {
    return this.choiceOf(file).text !== null
  }

  isFolded(file: number): boolean {
    return this.#folded.has(this.files[file]?.path ?? '')
  }

  fold(file: number, folded: boolean): void {
    const path = this.files[file]?.path
    if (path === undefined) return
    const next = new Set(this.#folded)
    if (folded) next.add(path)
    else next.delete(path)
    this.#folded = next
  }

  isSplit(file: number, hunk: number): boolean {
    return this.#split.has(`${file}:${hunk}`)
  }

  /** Splits the hunk at the cursor into its runs of changed lines, or joins them again. */
  split(): void {
    const { file, hunk } = this.cursor
    const found = this.hunkAt(file, hunk)
    if (found === null || decide.partsOf(found).length < 2) return
    const key = `${file}:${hunk}`
    const next = new Set(this.#split)
    if (next.delete(key)) this.cursor = { file, hunk, part: null }
    else {
      next.add(key)
      this.cursor = { file, hunk, part: 0 }
    }
    this.#split = next
    this.lines = null
  }

  /** The changed lines the cursor stands on, as places in its hunk; null means the whole hunk. */
  get cursorLines(): readonly number[] | null {
    const { file, hunk, part } = this.cursor
    const found = this.hunkAt(file, hunk)
    if (found === null || part === null) return null
    return decide.partsOf(found)[part] ?? null
  }

  /** Every place the cursor can stand, in order. */
  get stops(): Cursor[] {
    const stops: Cursor[] = []
    for (const [file, diff] of this.shown.entries()) {
      if (diff.hunks.length === 0) stops.push({ file, hunk: 0, part: null })
      for (const [hunk, view] of diff.hunks.entries()) {
        if (!this.isSplit(file, hunk)) stops.push({ file, hunk, part: null })
        else for (const part of decide.partsOf(view).keys()) stops.push({ file, hunk, part })
      }
    }
    return stops
  }

  /** Moves the cursor by so many stops; it stays at the ends. */
  move(by: number): void {
    const stops = this.stops
    const now = stops.findIndex((stop) => sameCursor(stop, this.cursor))
    const next = stops[Math.min(stops.length - 1, Math.max(0, (now < 0 ? 0 : now) + by))]
    if (next === undefined) return
    this.cursor = next
    this.lines = null
    if (this.isFolded(next.file)) this.fold(next.file, false)
  }

  /** Moves the cursor to the first hunk after it that nobody decided, if there is one. */
  moveToOpen(): void {
    const stops = this.stops
    const now = stops.findIndex((stop) => sameCursor(stop, this.cursor))
    const order = [...stops.slice(now + 1), ...stops.slice(0, now + 1)]
    const next = order.find((stop) => this.stateOf(stop.file, stop.hunk) === 'open')
    if (next !== undefined) this.moveTo(next)
  }

  moveTo(cursor: Cursor): void {
    this.cursor = cursor
    this.lines = null
    if (this.isFolded(cursor.file)) this.fold(cursor.file, false)
  }

  /** Decides what is chosen: lines, else the part or the hunk at the cursor. Deciding the same again takes it back. */
  async decide(decision: HunkDecision): Promise<void> {
    // What was written by hand is not thrown away by one key.
    if (this.isEdited(this.lines?.file ?? this.cursor.file)) return
    const lines = this.lines
    if (lines !== null) {
      const places = Array.from({ length: lines.to - lines.from + 1 }, (_, index) => lines.from + index)
      await this.decideLines(lines.file, lines.hunk, places, decision)
      return
    }
    const { file, hunk } = this.cursor
    const places = this.cursorLines
    if (places !== null) await this.decideLines(file, hunk, places, decision)
    else this.decideHunk(file, hunk, decision)
  }

  decideHunk(file: number, hunk: number, decision: HunkDecision): void {
    const again = this.stateOf(file, hunk) === decision && this.choiceOf(file).text === null
    const number = this.hunkAt(file, hunk)?.number ?? WHOLE_FILE
    this.#change(file, decide.decideHunk(this.choiceOf(file), number, again ? null : decision))
  }

  /** Decides single lines. The file's text follows from them, so it has to be loaded. */
  async decideLines(file: number, hunk: number, places: readonly number[], decision: HunkDecision): Promise<void> {
    const view = this.hunkAt(file, hunk)
    if (view === null) return
    try {
      await this.texts(file)
    } catch (thrown) {
      this.problem = problemOf(thrown)
      return
    }
    this.#change(file, decide.decideLines(this.choiceOf(file), view, places, decision))
  }

  decideFile(file: number, decision: HunkDecision | null): void {
    const diff = this.files[file]
    if (diff === undefined) return
    if (diff.hunks.length === 0) this.#change(file, decide.decideHunk(this.choiceOf(file), WHOLE_FILE, decision))
    else this.#change(file, decide.decideFile(this.choiceOf(file), diff, decision))
  }

  decideAll(decision: HunkDecision | null): void {
    for (const file of this.files.keys()) this.decideFile(file, decision)
  }

  see(file: number, seen: boolean): void {
    this.#change(file, { ...this.choiceOf(file), seen })
    this.fold(file, seen)
  }

  /** Before and after of a file, asked for once; fails where one is not on this machine. */
  async texts(file: number): Promise<{ before: string; after: string }> {
    const diff = this.files[file]
    return diff === undefined ? { before: '', after: '' } : this.#textsOf(diff)
  }

  /** The text an editor begins with: what is accepted, or the whole proposal where nothing was decided yet. */
  async textToEdit(file: number): Promise<{ before: string; now: string }> {
    const diff = this.files[file]
    const { before, after } = await this.texts(file)
    const choice = this.choiceOf(file)
    const untouched = choice.text === null && choice.decisions.size === 0
    return { before, now: diff === undefined || untouched ? after : decide.textOf(diff, choice, before, after) }
  }

  /** Takes over a text written by hand; where it follows from the hunks, they are decided instead. */
  async takeText(file: number, text: string): Promise<void> {
    const diff = this.files[file]
    if (diff === undefined) return
    const texts = await this.texts(file)
    const { seen } = this.choiceOf(file)
    const review: FileReview = { path: diff.path, seen, decisions: [], edited: text }
    this.#change(file, decide.fromReview(diff, review, texts))
  }

  setWords(words: { commitMessage?: string; pullRequest?: string }): void {
    if (words.commitMessage !== undefined) this.commitMessage = words.commitMessage
    if (words.pullRequest !== undefined) this.pullRequest = words.pullRequest
    this.#saveSoon()
  }

  /** Adds the test of a check to the change, or leaves it out again. */
  addTest(check: CheckId, added: boolean): void {
    const others = this.tests.filter((one) => one !== check)
    this.tests = added ? [...others, check] : others
    this.#saveSoon()
    this.#lookForConflicts()
  }

  async state(): Promise<ReviewState> {
    const files: FileReview[] = []
    for (const [index, file] of this.files.entries()) {
      const choice = this.choiceOf(index)
      if (choice === NO_CHOICE) continue
      const texts = choice.turned.size > 0 ? await this.texts(index) : null
      files.push(decide.toReview(file, choice, texts))
    }
    const own = (words: string, proposed: string | undefined): string | null => (words === proposed ? null : words)
    return {
      files,
      commit_message: own(this.commitMessage, this.patch?.commit_message),
      pull_request: own(this.pullRequest, this.patch?.pull_request),
      tests: [...this.tests],
    }
  }

  async save(): Promise<void> {
    if (this.#saving !== null) clearTimeout(this.#saving)
    this.#saving = null
    if (this.patch === null) return
    try {
      await ipc.saveReview(this.run, await this.state())
    } catch (thrown) {
      this.problem = problemOf(thrown)
    }
  }

  /** Applies what is accepted; throws what went wrong. */
  async apply(wish: ApplyRequest): Promise<AppliedView> {
    this.busy = true
    try {
      await this.save()
      const applied = await ipc.apply(this.run, await this.state(), wish)
      this.applied = applied
      return applied
    } finally {
      this.busy = false
      this.#lookForConflicts()
    }
  }

  /** Says which repository an imported run is for. */
  async nameRepository(repo: RepoId): Promise<void> {
    await ipc.nameRepository(this.run, repo)
    if (this.view !== null) this.view = { ...this.view, repository_named: true }
  }

  async undoApply(): Promise<void> {
    await ipc.undoApply(this.run)
    this.applied = null
    this.#lookForConflicts()
  }

  async #textsOf({ path, kind }: FileDiff): Promise<{ before: string; after: string }> {
    const known = this.#read.get(path)
    if (known !== undefined) return known
    let asked = this.#asked.get(path)
    if (asked === undefined) this.#asked.set(path, (asked = ipc.fileTexts(this.run, path)))
    const { before, after } = await asked
    if ((before === null && kind !== 'added') || (after === null && kind !== 'deleted')) {
      throw new IpcError({
        code: 'no_text',
        message: t('review.no_text', { path }),
        remedy: t('review.no_text.remedy'),
      })
    }
    const read = { before: before ?? '', after: after ?? '' }
    this.#read.set(path, read)
    return read
  }

  async #take(patch: PatchView, review: ReviewState): Promise<void> {
    const choices = new Map<string, FileChoice>()
    for (const file of patch.files) {
      const saved = review.files.find((one) => one.path === file.path)
      if (saved === undefined) continue
      const texts = saved.edited === null ? null : await this.#textsOf(file).catch(() => null)
      choices.set(file.path, decide.fromReview(file, saved, texts))
    }
    this.#choices = choices
    this.tests = (review.tests ?? []).filter((check) => patch.tests.some((test) => test.check === check))
    this.patch = patch
    for (const [index, file] of patch.files.entries()) this.#showEdited(index, choices.get(file.path) ?? NO_CHOICE)
    this.#folded = new Set([...choices].filter(([, choice]) => choice.seen).map(([path]) => path))
    const first = this.stops.find((stop) => this.stateOf(stop.file, stop.hunk) === 'open') ?? this.stops[0]
    if (first !== undefined) this.cursor = first
  }

  #change(file: number, choice: FileChoice): void {
    const path = this.files[file]?.path
    if (path === undefined) return
    this.#choices = new Map(this.#choices).set(path, choice)
    this.#showEdited(file, choice)
    this.#saveSoon()
    this.#lookForConflicts()
  }

  #showEdited(file: number, choice: FileChoice): void {
    const diff = this.files[file]
    const texts = this.#read.get(diff?.path ?? '')
    if (diff === undefined) return
    if (choice.text === null && !this.#edited.has(diff.path)) return
    const next = new Map(this.#edited)
    if (choice.text === null || texts === undefined) next.delete(diff.path)
    else next.set(diff.path, editedDiff(diff, texts.before, choice.text))
    this.#edited = next
    if (this.cursor.file === file) this.cursor = { file, hunk: 0, part: null }
  }

  #saveSoon(): void {
    if (this.#saving !== null) clearTimeout(this.#saving)
    this.#saving = setTimeout(() => void this.save(), SAVE_AFTER_MS)
  }

  #lookForConflicts(): void {
    if (this.#looking !== null) clearTimeout(this.#looking)
    if (this.#closed) return
    this.#looking = setTimeout(() => {
      this.state()
        .then((state) => ipc.conflicts(this.run, state))
        .then((conflicts) => {
          if (!this.#closed) this.conflicts = conflicts
        })
        // A repository that is gone has no conflicts to show; applying says so.
        .catch(() => (this.conflicts = []))
    }, CONFLICTS_AFTER_MS)
  }
}

export function sameCursor(a: Cursor, b: Cursor): boolean {
  return a.file === b.file && a.hunk === b.hunk && a.part === b.part
}
