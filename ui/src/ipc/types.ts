// Owns the types of everything that crosses between window and Rust: those generated from Rust, and what follows from
// them. Components import types from here and never from the generated file.
import type { commands, events, SolveForm } from './bindings'

export type * from './bindings'

/** A form as it was left, kept for each repository. */
export type Draft = SolveForm

/** Rust's commands as the window calls them: each answers with its data, or rejects with an IpcError. */
export type Commands = {
  [Name in keyof typeof commands]: (
    ...given: Parameters<(typeof commands)[Name]>
  ) => Promise<Answer<Awaited<ReturnType<(typeof commands)[Name]>>>>
}
/** An answer of nothing says only that the command was carried out. */
type Answer<Result> = Result extends { status: 'ok'; data: infer Data }
  ? [Data] extends [null]
    ? unknown
    : Data
  : never

type Payload<Event> = Event extends { listen: (heard: (event: infer Heard) => void) => unknown }
  ? Heard extends { payload: infer Data }
    ? Data
    : never
  : never

/** What the window does about each thing that Rust says unasked; none may be missing. */
export type AppEventHandlers = { [Name in keyof typeof events]: (payload: Payload<(typeof events)[Name]>) => void }

/** What Rust says unasked. */
export type AppEvent = {
  [Name in keyof AppEventHandlers]: { name: Name; payload: Parameters<AppEventHandlers[Name]>[0] }
}[keyof AppEventHandlers]
