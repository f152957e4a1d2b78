// Text that arrives in pieces, written into a text node at most a few times a second, so that streaming costs the
// window little. It knows no run and no layout.

/** Between two writes into the page. Twelve a second read as flowing. */
const EVERY_MS = 80

export class StreamedText {
  #text = ''
  readonly #readers = new Set<() => void>()

  get text(): string {
    return this.#text
  }

  append(piece: string): void {
    this.#text += piece
    for (const tell of this.#readers) tell()
  }

  /**
   * An attachment that keeps an element's text the same as this one's, its last `most` characters where it is longer.
   */
  readonly into =
    (most = 6000) =>
    (element: HTMLElement): (() => void) => {
      const node = document.createTextNode('')
      element.append(node)
      let written = 0
      let cut = 0
      let waiting = false
      const write = (): void => {
        waiting = false
        const stuck = element.scrollHeight - element.scrollTop - element.clientHeight < 24
        if (this.#text.length - cut > most * 2) {
          cut = this.#text.indexOf('\n', this.#text.length - most) + 1 || this.#text.length - most
          node.data = this.#text.slice(cut)
        } else node.appendData(this.#text.slice(written))
        written = this.#text.length
        if (stuck) element.scrollTop = element.scrollHeight
      }
      const tell = (): void => {
        if (waiting) return
        waiting = true
        setTimeout(() => requestAnimationFrame(write), EVERY_MS)
      }
      write()
      this.#readers.add(tell)
      return () => {
        this.#readers.delete(tell)
        node.remove()
      }
    }
}
