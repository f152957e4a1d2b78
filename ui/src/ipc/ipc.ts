// Owns what the window can ask of Rust, as one interface: the real transport and the tests' scripted one both keep it.
// The commands and their types follow from the generated bindings; here stands what is more than one question and answer.
// Every method rejects with an IpcError, whose problem has one sentence and one remedy. No implementation here.
import type * as T from './types'

/** Ends a subscription; calling it twice does nothing. */
export type Stop = () => void

/** What a person dropped from outside the window, and where over it. */
export type Dropped = { paths: string[]; x: number; y: number }
export type DropNews = { kind: 'over'; x: number; y: number } | { kind: 'left' } | ({ kind: 'dropped' } & Dropped)

/** Commands that answer more than once, and the end of following a run, which is a subscription's own. */
type Told = 'followRun' | 'unfollowRun' | 'fetchModel'

export interface Ipc extends Omit<T.Commands, Told> {
  /** Updates of a run until it ends or the returned function is called. */
  followRun(run: T.RunId, onUpdate: (update: T.RunUpdate) => void): Stop
  /** Fetches a model and says how far it is; returns at once. */
  fetchModel(id: string, onNews: (news: T.FetchNews) => void): Promise<unknown>

  // what comes unasked
  onEvent(handlers: T.AppEventHandlers): Stop
  onDrop(handler: (news: DropNews) => void): Stop

  // the system's own file dialogs; null when the person cancels
  pickFolder(title: string): Promise<string | null>
  pickFile(title: string, extensions: string[]): Promise<string | null>
  pickSavePath(title: string, name: string): Promise<string | null>
}

/** What a call failed with: a thrown Problem. */
export class IpcError extends Error {
  readonly problem: T.Problem
  constructor(problem: T.Problem) {
    super(problem.message)
    this.name = 'IpcError'
    this.problem = problem
  }
}

/** The problem in whatever was thrown; what is no IpcError is a bug in the window, and says so. */
export function problemOf(thrown: unknown): T.Problem {
  if (thrown instanceof IpcError) return thrown.problem
  return { code: 'window', message: thrown instanceof Error ? thrown.message : String(thrown), remedy: null }
}
