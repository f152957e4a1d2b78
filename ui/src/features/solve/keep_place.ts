// Keeps what a reader is looking at where it is while the log around it grows, and follows the newest only for a reader
// who stands at the end. It knows nothing of what the log holds, but that some parts are read from their beginning.

export interface Place {
  /** Whether the reader stands at the end. */
  readonly atEnd: boolean
  toEnd: () => void
}

/** Within so many pixels of the end, the reader counts as standing there. */
const NEAR = 48

/**
 * An attachment for a scrolling element whose parts carry `data-anchor`; a section whose anchor is `top` is read from
 * its beginning, so following it stops at its head. `tell` hears whenever the reader reaches or leaves the end;
 * `follows` says whether the end is to be followed at all.
 */
export function keepPlace(follows: () => boolean, tell: (place: Place) => void) {
  return (element: HTMLElement): (() => void) => {
    let atEnd = true
    let anchor: HTMLElement | null = null
    let offset = 0
    let top = 0

    const toEnd = (): void => {
      atEnd = true
      element.scrollTop = element.scrollHeight
      top = element.scrollTop
      remember()
      report()
    }
    /** Where the newest section begins, where it is one that is read from its beginning. */
    const headOfNewest = (): number => {
      const newest = [...element.querySelectorAll<HTMLElement>('section[data-anchor]')].at(-1)
      if (newest?.dataset.anchor !== 'top') return Infinity
      return element.scrollTop + newest.getBoundingClientRect().top - element.getBoundingClientRect().top
    }
    const report = (): void => tell({ atEnd, toEnd })
    const remember = (): void => {
      const top = element.getBoundingClientRect().top
      anchor = null
      for (const part of element.querySelectorAll<HTMLElement>('[data-anchor]')) {
        const box = part.getBoundingClientRect()
        if (box.bottom <= top + 1) continue
        // The innermost part that begins in sight holds the eye; a part that reaches over the top edge will do.
        if (anchor === null || box.top <= top + 8) {
          anchor = part
          offset = box.top - top
        }
        if (box.top > top + 8) break
      }
    }
    const scrolled = (): void => {
      const near = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR
      // The log may have grown since it was scrolled to its end; only going up is leaving.
      const now = near || (atEnd && element.scrollTop >= top)
      top = element.scrollTop
      remember()
      if (now !== atEnd) {
        atEnd = now
        report()
      }
    }
    const grown = (): void => {
      if (atEnd && follows()) {
        element.scrollTop = Math.max(element.scrollTop, Math.min(element.scrollHeight, headOfNewest()))
      } else if (anchor?.isConnected === true) {
        const moved = anchor.getBoundingClientRect().top - element.getBoundingClientRect().top - offset
        if (Math.abs(moved) > 0.5) element.scrollTop += moved
      }
      top = element.scrollTop
      remember()
    }

    const watch = new ResizeObserver(grown)
    for (const child of element.children) watch.observe(child)
    element.addEventListener('scroll', scrolled, { passive: true })
    if (!follows()) {
      atEnd = element.scrollHeight - element.clientHeight < NEAR
      remember()
    }
    report()
    return () => {
      watch.disconnect()
      element.removeEventListener('scroll', scrolled)
    }
  }
}
