// The form of a new run as it is being filled in: kept as a draft for each repository, with an estimate beside it.
// It starts no run and shows nothing.
import {
  ipc,
  problemOf,
  type BranchName,
  type CodePermission,
  type CodeTerm,
  type Estimate,
  type Problem,
  type RepoId,
  type SolveForm,
  type TestCommandRow,
  type TestsChoice,
} from '../../ipc'
import { EFFORTS, effortOf, refusal, titleOf } from './effort'
import { SKIP, chosenRow, obstacle, sameLine, shares, suffices, termOf } from './tests_choice'

const SAVE_AFTER_MS = 400
const ESTIMATE_AFTER_MS = 200

/** What the time of a run depends on. */
const ESTIMATED = ['model', 'top_k', 'max_rounds', 'qa', 'attempts', 'tests'] as const

export interface Defaults {
  readonly top_k: number
  readonly max_rounds: number
}

export function emptyForm(repo: RepoId, { top_k, max_rounds }: Defaults): SolveForm {
  return {
    repo,
    issue: '',
    comments: '',
    failing_log: '',
    base: { kind: 'head' },
    model: null,
    files: [],
    seed: 1,
    top_k,
    max_rounds,
    qa: true,
    attempts: 1,
    places: 1,
    tests: SKIP,
    failing_tests: [],
  }
}

export class FormState {
  readonly repo: RepoId
  form = $state.raw<SolveForm>(emptyForm(0, { top_k: 20, max_rounds: 3 }))
  ready = $state(false)
  estimate = $state.raw<Estimate | null>(null)
  branches = $state.raw<readonly BranchName[]>([])
  files = $state.raw<readonly string[]>([])
  /** The test commands of the repository; none until they are known. */
  commands = $state.raw<readonly TestCommandRow[] | null>(null)
  /** Whether what issues show may be run, and whether this machine isolates it; none until that is known. */
  permission = $state.raw<CodePermission | null>(null)
  problem = $state.raw<Problem | null>(null)
  readonly #defaults: Defaults
  #saving: ReturnType<typeof setTimeout> | null = null
  #estimating: ReturnType<typeof setTimeout> | null = null
  #closed = false

  readonly title = $derived(titleOf(this.form.issue))
  readonly refusal = $derived(refusal(this.form.issue))
  readonly effort = $derived(effortOf(this.form))
  readonly tests = $derived(this.form.tests ?? SKIP)
  /** The command that is meant, with whether it is allowed. */
  readonly command = $derived(chosenRow(this.tests, this.commands ?? []))
  /** The terms on which the person allowed what is chosen; none where those do not suffice here. */
  readonly allowed = $derived(this.#allowed())
  readonly obstacle = $derived(obstacle(this.tests, this.commands, this.permission))

  constructor(repo: RepoId, defaults: Defaults) {
    this.repo = repo
    this.#defaults = defaults
    this.form = emptyForm(repo, defaults)
  }

  async open(): Promise<void> {
    try {
      const draft = await ipc.draft(this.repo)
      if (this.#closed) return
      if (draft !== null) this.form = { ...emptyForm(this.repo, this.#defaults), ...draft }
    } catch (thrown) {
      this.problem = problemOf(thrown)
    }
    this.ready = true
    this.#estimateSoon()
    // What the choosers offer may come late, and the form works without it.
    ipc.branches(this.repo).then(
      (branches) => (this.branches = branches),
      () => undefined,
    )
    this.#readFiles()
    this.#readCommands()
    ipc.codePermission(this.repo).then(
      (permission) => (this.permission = permission),
      (thrown: unknown) => (this.problem = problemOf(thrown)),
    )
  }

  close(): void {
    this.#closed = true
    if (this.#estimating !== null) clearTimeout(this.#estimating)
    if (this.#saving !== null) this.#save()
  }

  set(change: Partial<SolveForm>): void {
    const before = this.form
    this.form = { ...before, ...change }
    this.problem = null
    if (this.#saving !== null) clearTimeout(this.#saving)
    this.#saving = setTimeout(() => this.#save(), SAVE_AFTER_MS)
    if (ESTIMATED.some((name) => name in change)) this.#estimateSoon()
    if ('base' in change) {
      this.#readFiles()
      this.#readCommands()
    }
  }

  setEffort(index: number): void {
    const effort = EFFORTS[index]
    if (effort === undefined) return
    const { top_k, max_rounds, qa } = effort
    this.set({ top_k, max_rounds, qa, ...shares(this.tests, effort) })
  }

  setTests(tests: TestsChoice): void {
    this.set({ tests, ...shares(tests, EFFORTS[this.effort.index] ?? EFFORTS[0]) })
  }

  /**
   * Remembers for the repository that what is chosen may be run on these terms; a command may come back worded
   * otherwise.
   */
  async allow(term: CodeTerm): Promise<void> {
    const asked = this.command
    try {
      if (asked !== null) {
        const row = await ipc.allowTests(this.repo, this.form.base, asked.command, term)
        const others = (this.commands ?? []).map((one) => (sameLine(one.command, row.command) ? row : one))
        this.commands = others.includes(row) ? others : [...others, row]
        this.setTests({ kind: 'run', command: row.command })
      } else if (this.tests.kind === 'issue_code') await ipc.allowIssueCode(this.repo, term)
      this.permission = await ipc.codePermission(this.repo)
    } catch (thrown) {
      this.problem = problemOf(thrown)
    }
  }

  /** Takes back all that was allowed in the repository. */
  async forbid(): Promise<void> {
    try {
      await ipc.forbidTests(this.repo)
      this.commands = this.commands?.map((row) => ({ ...row, allowed: null })) ?? null
      this.permission = await ipc.codePermission(this.repo)
    } catch (thrown) {
      this.problem = problemOf(thrown)
    }
  }

  /** Text that was dropped or opened; it goes behind what is there, unless it stands there already. */
  take(into: 'issue' | 'failing_log', text: string): void {
    const before = this.form[into]
    if (before.includes(text.trim())) return
    this.set({ [into]: before.trim() === '' ? text : `${before.trimEnd()}\n\n${text}` })
  }

  /** Empties what belongs to one issue, once its run has begun. */
  forget(): void {
    this.set({ issue: '', comments: '', failing_log: '', files: [], failing_tests: [] })
  }

  #allowed(): CodeTerm | null {
    if (this.permission === null) return null
    const term = termOf(this.tests, this.commands ?? [], this.permission)
    return suffices(term, this.permission) ? term : null
  }

  #save(): void {
    if (this.#saving !== null) clearTimeout(this.#saving)
    this.#saving = null
    ipc.saveDraft(this.form).catch((thrown: unknown) => {
      this.problem = problemOf(thrown)
    })
  }

  #estimateSoon(): void {
    if (this.#estimating !== null) clearTimeout(this.#estimating)
    this.#estimating = setTimeout(() => {
      const asked = this.form
      ipc.estimate(asked).then(
        (estimate) => {
          if (!this.#closed) this.estimate = estimate
        },
        () => (this.estimate = null),
      )
    }, ESTIMATE_AFTER_MS)
  }

  #readCommands(): void {
    const { base } = this.form
    ipc.testCommands(this.repo, base).then(
      (commands) => {
        if (!this.#closed && this.form.base === base) this.commands = commands
      },
      () => (this.commands = []),
    )
  }

  #readFiles(): void {
    const { base } = this.form
    ipc.repositoryFiles(this.repo, base).then(
      (files) => {
        if (!this.#closed && this.form.base === base) this.files = files
      },
      () => (this.files = []),
    )
  }
}
