// The code that may be run in a repository: its test commands, what the person allowed of them, and whether this machine
// isolates what is run. It runs nothing and shows nothing.
import {
  ipc,
  problemOf,
  type CodePermission,
  type CodeTerm,
  type Problem,
  type RepoId,
  type SolveForm,
  type TestCommandRow,
  type TestsChoice,
} from '../../ipc'
import { chosenRow, sameLine, suffices, termOf } from './tests_choice'

type Base = SolveForm['base']

export class AllowedCode {
  readonly repo: RepoId
  /** The test commands of the repository; none until they are known. */
  commands = $state.raw<readonly TestCommandRow[] | null>(null)
  /** Whether what issues show may be run, and whether this machine isolates it; none until that is known. */
  permission = $state.raw<CodePermission | null>(null)
  problem = $state.raw<Problem | null>(null)
  #base: Base | null = null

  constructor(repo: RepoId) {
    this.repo = repo
  }

  /** Reads the commands of a base, and what is allowed; of several calls the last one counts. */
  async read(base: Base): Promise<void> {
    this.#base = base
    this.problem = null
    const [commands, permission] = await Promise.allSettled([
      ipc.testCommands(this.repo, base),
      ipc.codePermission(this.repo),
    ])
    if (this.#base !== base) return
    this.commands = commands.status === 'fulfilled' ? commands.value : []
    if (permission.status === 'fulfilled') this.permission = permission.value
    const failed = [commands, permission].find((one) => one.status === 'rejected')
    if (failed !== undefined) this.problem = problemOf(failed.reason)
  }

  /** All that the person allowed in the repository: lines of commands. */
  readonly allowed = $derived(
    (this.commands ?? []).filter((row) => row.allowed !== null).map((row) => row.command.line),
  )

  /** On which terms the person allowed what is chosen; none where those do not suffice here. */
  termOf(choice: TestsChoice): CodeTerm | null {
    if (this.permission === null) return null
    const term = termOf(choice, this.commands ?? [], this.permission)
    return suffices(term, this.permission) ? term : null
  }

  /**
   * Remembers for the repository that what is chosen may be run on these terms. Returns it as it is remembered, for a
   * command may come back worded otherwise; none where it is not.
   */
  async allow(choice: TestsChoice, base: Base, term: CodeTerm): Promise<TestsChoice | null> {
    const asked = chosenRow(choice, this.commands ?? [])
    let kept = choice
    try {
      if (asked !== null) {
        const row = await ipc.allowTests(this.repo, base, asked.command, term)
        const others = (this.commands ?? []).map((one) => (sameLine(one.command, row.command) ? row : one))
        this.commands = others.includes(row) ? others : [...others, row]
        kept = { kind: 'run', command: row.command }
      } else if (choice.kind === 'issue_code') await ipc.allowIssueCode(this.repo, term)
      await this.#ask()
      return kept
    } catch (thrown) {
      this.problem = problemOf(thrown)
      return null
    }
  }

  /** Takes back all that was allowed in the repository. */
  async forbid(): Promise<void> {
    try {
      await ipc.forbidTests(this.repo)
      this.commands = this.commands?.map((row) => ({ ...row, allowed: null })) ?? null
      await this.#ask()
    } catch (thrown) {
      this.problem = problemOf(thrown)
    }
  }

  async #ask(): Promise<void> {
    this.permission = await ipc.codePermission(this.repo)
    this.problem = null
  }
}
