// Tells the window how high the foot of the screen shown is, so that messages stand above it and hide none of its
// buttons.

/** An attachment for the foot of a screen; at most one is shown at a time. */
export function foot(element: HTMLElement): () => void {
  const { style } = document.documentElement
  const watch = new ResizeObserver(() => style.setProperty('--foot', `${element.offsetHeight}px`))
  watch.observe(element)
  return () => {
    watch.disconnect()
    style.removeProperty('--foot')
  }
}
