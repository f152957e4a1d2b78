// Owns the names of everything that crosses between window and Rust: those generated from Rust, and the few that the
// window adds. Components import types from here and never from the generated file.
import type { MemoryFileState, Opening, RepoId, RunId, SolveForm, WatchView } from './bindings'

export type * from './bindings'

/** A form as it was left, kept for each repository. */
export type Draft = SolveForm
export type MemoryState = MemoryFileState

/** What Rust says unasked. */
export type AppEvent =
  | { kind: 'repositories_changed' }
  | { kind: 'runs_changed'; run: RunId | null }
  | { kind: 'models_changed' }
  | { kind: 'memory_changed'; repo: RepoId }
  | { kind: 'settings_changed' }
  | { kind: 'watch_changed'; view: WatchView }
  | { kind: 'opening'; opening: Opening }
  | { kind: 'close_asked'; running: number }
