// The form of a new run as it is being filled in: kept as a draft for each repository, with an estimate beside it.
// It starts no run and shows nothing.
import {
  ipc,
  problemOf,
  type BranchName,
  type Estimate,
  type Problem,
  type RepoId,
  type SolveForm,
  type TestsChoice,
} from '../../ipc'
import { AllowedCode } from './allowed_code.svelte'
import { EFFORTS, effortOf, refusal, titleOf } from './effort'
import { SKIP, obstacle, shares, type TestsObstacle } from './tests_choice'

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

/** Puts what is to be run into the form of a repository that is not open, for its next run. */
export async function keepTests(repo: RepoId, defaults: Defaults, tests: TestsChoice): Promise<void> {
  const form = { ...emptyForm(repo, defaults), ...(await ipc.draft(repo)) }
  await ipc.saveDraft({ ...form, tests, ...shares(tests, EFFORTS[effortOf(form).index] ?? EFFORTS[0]) })
}

export class FormState {
  readonly repo: RepoId
  form = $state.raw<SolveForm>(emptyForm(0, { top_k: 20, max_rounds: 3 }))
  ready = $state(false)
  estimate = $state.raw<Estimate | null>(null)
  branches = $state.raw<readonly BranchName[]>([])
  files = $state.raw<readonly string[]>([])
  readonly code: AllowedCode
  problem = $state.raw<Problem | null>(null)
  readonly #defaults: Defaults
  #saving: ReturnType<typeof setTimeout> | null = null
  #estimating: ReturnType<typeof setTimeout> | null = null
  #closed = false

  readonly title = $derived(titleOf(this.form.issue))
  readonly refusal = $derived(refusal(this.form.issue))
  readonly effort = $derived(effortOf(this.form))
  readonly tests = $derived(this.form.tests ?? SKIP)
  readonly obstacle = $derived(this.#obstacle())

  constructor(repo: RepoId, defaults: Defaults) {
    this.repo = repo
    this.code = new AllowedCode(repo)
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
    void this.code.read(this.form.base)
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
    this.code.problem = null
    if (this.#saving !== null) clearTimeout(this.#saving)
    this.#saving = setTimeout(() => this.#save(), SAVE_AFTER_MS)
    if (ESTIMATED.some((name) => name in change)) this.#estimateSoon()
    if ('base' in change) {
      this.#readFiles()
      void this.code.read(this.form.base)
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

  #obstacle(): TestsObstacle | null {
    return obstacle(this.tests, this.code.commands, this.code.permission)
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
