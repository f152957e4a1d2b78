// Owns how wide the window's parts are and which of them are shown. It is remembered from one start to the next.
import { keep, kept } from './storage'

export class Layout {
  railWide = $state(kept('rail') === 'wide')
  /** Whether the window is too narrow for the inspector to stand beside the work. */
  narrow = $state(false)
  inspectorWidth = $state(Number(kept('inspector-width') ?? 320) || 320)
  private inspectorBeside = $state(kept('inspector') !== 'hidden')
  private inspectorOver = $state(kept('inspector-drawer') === 'shown')

  widenRail(wide: boolean): void {
    this.railWide = wide
    keep('rail', wide ? 'wide' : 'narrow')
  }

  get inspectorShown(): boolean {
    return this.narrow ? this.inspectorOver : this.inspectorBeside
  }

  /** Wide and narrow windows remember it apart: beside the work it is in nobody's way. */
  showInspector(shown: boolean): void {
    if (this.narrow) this.inspectorOver = shown
    else this.inspectorBeside = shown
    keep(this.narrow ? 'inspector-drawer' : 'inspector', shown ? 'shown' : 'hidden')
  }

  widenInspector(width: number): void {
    this.inspectorWidth = width
    keep('inspector-width', String(width))
  }
}
