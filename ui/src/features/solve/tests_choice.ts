// What the form knows of the tests of a run: which command is meant, whether code may be run, and what that means for
// attempts. It asks nothing and shows nothing.
import type { CodePermission, CodeTerm, SolveForm, TestCommandRow, TestLine, TestsChoice } from '../../ipc'

/** What stands in the way of a run with tests. */
export type TestsObstacle = 'no_command' | 'no_consent'

export const SKIP: TestsChoice = { kind: 'skip' }
export const ISSUE_CODE: TestsChoice = { kind: 'issue_code' }

export const sameLine = (one: TestLine, other: TestLine): boolean =>
  one.line === other.line && one.folder === other.folder

/** The command that a choice means, as a row; one that is not among those found is the person's own. */
export function chosenRow(choice: TestsChoice, rows: readonly TestCommandRow[]): TestCommandRow | null {
  if (choice.kind !== 'run') return null
  return (
    rows.find((row) => sameLine(row.command, choice.command)) ?? {
      command: choice.command,
      runner: null,
      reason: '',
      before: [],
      allowed: null,
    }
  )
}

export const isFound = (command: TestLine, rows: readonly TestCommandRow[]): boolean =>
  rows.some((row) => row.reason !== '' && sameLine(row.command, command))

/** Whether only what the issue shows can be chosen to be run: where the repository has no command, or it was chosen. */
export const offersIssueCode = (choice: TestsChoice, rows: readonly TestCommandRow[] | null): boolean =>
  choice.kind === 'issue_code' || (rows !== null && rows.every((row) => row.reason === ''))

/** What a switch to running means at first: the command allowed already, else the best guess, else one to be typed. */
export function firstChoice(rows: readonly TestCommandRow[]): TestsChoice {
  const row = rows.find((one) => one.allowed !== null) ?? rows[0]
  return { kind: 'run', command: row?.command ?? { line: '', folder: '' } }
}

/** On which terms the person allowed what is chosen; none where they did not. */
export function termOf(
  choice: TestsChoice,
  rows: readonly TestCommandRow[],
  permission: CodePermission,
): CodeTerm | null {
  switch (choice.kind) {
    case 'skip':
      return null
    case 'issue_code':
      return permission.issue_code
    case 'run':
      return chosenRow(choice, rows)?.allowed ?? null
  }
}

/** Whether code may be run on these terms here: where nothing isolates it, only if the person said so of that, too. */
export const suffices = (term: CodeTerm | null, permission: CodePermission): boolean =>
  term === 'not_isolated' || (term === 'isolated' && permission.not_isolated === null)

/** Why a run cannot begin yet; what is null is not known, and then Rust has the last word. */
export function obstacle(
  choice: TestsChoice,
  rows: readonly TestCommandRow[] | null,
  permission: CodePermission | null,
): TestsObstacle | null {
  if (choice.kind === 'skip') return null
  if (choice.kind === 'run' && choice.command.line.trim() === '') return 'no_command'
  if (permission === null || rows === null) return null
  return suffices(termOf(choice, rows, permission), permission) ? null : 'no_consent'
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
