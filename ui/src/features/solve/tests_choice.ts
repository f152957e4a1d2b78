// What the form knows of the tests of a run: which command is meant, whether it may be run, and what that means for
// attempts. It asks nothing and shows nothing.
import type { SolveForm, TestCommandRow, TestLine, TestsChoice } from '../../ipc'

/** What stands in the way of a run with tests. */
export type TestsObstacle = 'no_command' | 'no_consent'

export const SKIP: TestsChoice = { kind: 'skip' }

export const sameLine = (one: TestLine, other: TestLine): boolean =>
  one.line === other.line && one.folder === other.folder

/** The command that a choice means, as a row; one that is not among those found is the person's own. */
export function chosenRow(choice: TestsChoice, rows: readonly TestCommandRow[]): TestCommandRow | null {
  if (choice.kind === 'skip') return null
  return (
    rows.find((row) => sameLine(row.command, choice.command)) ?? {
      command: choice.command,
      runner: null,
      reason: '',
      allowed: false,
    }
  )
}

export const isFound = (command: TestLine, rows: readonly TestCommandRow[]): boolean =>
  rows.some((row) => row.reason !== '' && sameLine(row.command, command))

/** What a switch to running means at first: the command allowed already, else the best guess, else one to be typed. */
export function firstChoice(rows: readonly TestCommandRow[]): TestsChoice {
  const row = rows.find((one) => one.allowed) ?? rows[0]
  return { kind: 'run', command: row?.command ?? { line: '', folder: '' } }
}

/** Why a run cannot begin yet; `rows` is null while they are not known, and then Rust has the last word. */
export function obstacle(choice: TestsChoice, rows: readonly TestCommandRow[] | null): TestsObstacle | null {
  if (choice.kind === 'skip') return null
  if (choice.command.line.trim() === '') return 'no_command'
  return rows === null || chosenRow(choice, rows)?.allowed === true ? null : 'no_consent'
}

/** Attempts and places of a round: where nothing is run, more than one could not be told apart. */
export function shares(
  choice: TestsChoice,
  effort: { attempts: number; places: number },
): Pick<SolveForm, 'attempts' | 'places'> {
  return choice.kind === 'skip' ? { attempts: 1, places: 1 } : { attempts: effort.attempts, places: effort.places }
}

/** Names of tests as they were typed, one a line. */
export const namesIn = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
