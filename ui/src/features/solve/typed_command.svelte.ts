// A test command as a person types it, and how Rust reads it shortly after: as it would be run, with what is run before it,
// or what is wrong with it.
import {
  ipc,
  problemOf,
  type Problem,
  type RepoId,
  type SolveForm,
  type TestCommandRow,
  type TestLine,
} from '../../ipc'

const READ_AFTER_MS = 200

type Base = SolveForm['base']
type Answer = { readonly row: TestCommandRow | null; readonly problem: Problem | null }

export class TypedCommand {
  readonly #repo: RepoId
  #answer = $state.raw<{ key: string; answer: Answer } | null>(null)
  /** What is asked for, or was last; an answer to anything else is dropped. */
  #asked = ''
  #reading: ReturnType<typeof setTimeout> | undefined

  constructor(repo: RepoId) {
    this.#repo = repo
  }

  /** How a command would be run on a base; none while it is not read. */
  answer(base: Base, command: TestLine): Answer | null {
    return this.#answer?.key === keyOf(base, command) ? this.#answer.answer : null
  }

  /** Has a command read, once nothing more is typed. */
  ask(base: Base, command: TestLine): void {
    const key = keyOf(base, command)
    if (key === this.#asked) return
    clearTimeout(this.#reading)
    this.#asked = key
    if (command.line.trim() === '') return
    this.#reading = setTimeout(() => {
      ipc.readTestCommand(this.#repo, base, command).then(
        (row) => this.#take(key, { row, problem: null }),
        (thrown: unknown) => this.#take(key, { row: null, problem: problemOf(thrown) }),
      )
    }, READ_AFTER_MS)
  }

  #take(key: string, answer: Answer): void {
    if (key === this.#asked) this.#answer = { key, answer }
  }
}

const keyOf = (base: Base, { line, folder }: TestLine): string => JSON.stringify([base, line, folder])
