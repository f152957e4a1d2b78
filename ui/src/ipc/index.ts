// Owns the one way from the window to Rust: `ipc`. Components import from here alone.
// Which transport stands behind it is the build's choice: Tauri's, or the tests' scripted one.
export { ipc } from './transport'
export { IpcError, problemOf } from './ipc'
export type { Dropped, DropNews, Ipc, Stop } from './ipc'
export type * from './types'
