// Owns which screen is shown, the screens before it, and what lies over the window. What a screen looks like is the
// matter of screens.ts.
import type { RunId } from '../ipc'

export type SettingsPage = 'appearance' | 'engine' | 'other_engine' | 'privacy' | 'data' | 'about'
export type RunsView = { kind: 'list' } | { kind: 'run'; run: RunId } | { kind: 'compare'; left: RunId; right: RunId }

/** A screen with what it shows; beside `name`, the fields are what its component is given. */
export type Screen =
  | { name: 'start' }
  | { name: 'solve'; run: RunId | null }
  | { name: 'runs'; view: RunsView }
  | { name: 'review'; run: RunId }
  | { name: 'memory'; path: string | null }
  | { name: 'models' }
  | { name: 'settings'; page: SettingsPage }
  | { name: 'repositories' }

export class Navigation {
  screen = $state<Screen>({ name: 'solve', run: null })
  overlay = $state<'none' | 'palette' | 'switcher' | 'keys'>('none')
  private back: Screen[] = []

  /** `left` is told when the person goes on to another screen. */
  constructor(private readonly left: () => void) {}

  /** Shows another screen and remembers this one. */
  go(screen: Screen): void {
    this.back.push($state.snapshot(this.screen) as Screen)
    if (this.back.length > 50) this.back.shift()
    this.screen = screen
    this.overlay = 'none'
    this.left()
  }

  /** Shows the screen before; nothing when there is none. */
  goBack(): void {
    const before = this.back.pop()
    if (before) this.screen = before
  }
}
