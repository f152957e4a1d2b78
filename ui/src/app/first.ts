// Owns where the focus begins on a screen: at the field or list that its keys are mostly for, which bears `data-first`.

/** Moves the focus to where a screen begins, or to the screen itself as long as that is not drawn. */
export function beginKeys(work: HTMLElement | null): void {
  const first = work?.querySelector<HTMLElement>('[data-first]') ?? work
  first?.focus({ preventScroll: true })
}

/**
 * An attachment for what is drawn later than its screen: it takes the focus from the screen, never from a thing in it.
 */
export function first(element: HTMLElement): void {
  element.dataset['first'] = ''
  const at = document.activeElement
  if (at === null || at === document.body || at.id === 'work') element.focus({ preventScroll: true })
}
