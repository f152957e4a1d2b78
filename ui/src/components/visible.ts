// Owns how characters that are not seen, or that turn the direction of what stands around them, are shown: as `U+202E`.
// Code that reads as something else than it is would pass a review otherwise. The terminal has the same list (`clean`
// in magis-engine's transcript). What is typed, saved and sent is never touched; this is about what stands on the page.

/**
 * Never seen, or obeyed instead of shown; the joiner within one picture of several (👨‍👩‍👧) is left. Line ends and tabs
 * are layout.
 */
const UNSEEN =
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|(?<![\u2190-\u2bff\ufe0f\u{1f000}-\u{1faff}])\u200d/u
export const ALL_UNSEEN = new RegExp(UNSEEN.source, 'gu')

/** The number of a character, as it is written in its place. */
export const numberOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/**
 * `text` with each such character as a mark in brackets that no keyboard has, so that it is not taken for the text's
 * own.
 */
export function visible(text: string): string {
  return UNSEEN.test(text) ? text.replace(ALL_UNSEEN, (character) => `⟨${numberOf(character)}⟩`) : text
}

/** Where such characters stand. */
export function unseenIn(text: string): { from: number; to: number }[] {
  if (!UNSEEN.test(text)) return []
  return [...text.matchAll(ALL_UNSEEN)].map((found) => ({ from: found.index, to: found.index + found[0].length }))
}

/** Attributes that are shown or read out. */
const SAID = ['title', 'aria-label', 'aria-description', 'placeholder', 'alt']
/**
 * What is written in by a person, or is no text: an editor marks such characters itself, and a field keeps what was
 * typed.
 */
const OWN = '[contenteditable="true"], textarea, style, script'

/** Keeps everything below `root` visible, now and as it changes, before it is drawn. Returns the way to stop. */
export function keepVisible(root: Node): () => void {
  const watching = new MutationObserver((changes) => {
    for (const change of changes) {
      if (change.type === 'characterData') ofText(change.target as Text)
      else if (change.type === 'attributes') ofAttribute(change.target as Element, change.attributeName ?? '')
      else change.addedNodes.forEach(ofTree)
    }
  })
  ofTree(root)
  watching.observe(root, {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
    attributeFilter: SAID,
  })
  return () => watching.disconnect()
}

function ofTree(node: Node): void {
  if (node instanceof Text) ofText(node)
  if (!(node instanceof Element)) return
  const walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT)
  for (let at: Node | null = node; at !== null; at = walk.nextNode()) {
    if (at instanceof Text) ofText(at)
    else for (const name of SAID) ofAttribute(at as Element, name)
  }
}

function ofText(text: Text): void {
  if (UNSEEN.test(text.data) && text.parentElement?.closest(OWN) === null) text.data = visible(text.data)
}

function ofAttribute(element: Element, name: string): void {
  const value = element.getAttribute(name)
  if (value !== null && UNSEEN.test(value)) element.setAttribute(name, visible(value))
}
