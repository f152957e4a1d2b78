// Owns what is wrong with a screen as it is laid out: controls that cannot be reached, text over text, a page wider
// than its window. It opens nothing and asserts nothing.
import type { Page } from 'playwright-core'

/** Each fault as a sentence; empty where the screen is whole. */
export async function layoutFaults(page: Page): Promise<string[]> {
  // tsx and esbuild name inner functions by a call of their own, which the page does not have.
  await page.evaluate('globalThis.__name = (one) => one')
  return page.evaluate(() => {
    const faults: string[] = []
    const seen = (element: Element): boolean =>
      element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
      element.closest('[inert], [aria-hidden="true"], .unseen, .skip') === null
    const words = (element: Element): string =>
      (
        element.getAttribute('aria-label') ??
        (element.textContent || element.getAttribute('placeholder') || element.tagName)
      )
        .trim()
        .replace(/\s+/g, ' ')
        .slice(0, 60)
    const named = (element: Element): string =>
      `${element.tagName.toLowerCase()}.${(element.getAttribute('class') ?? '')
        .replace(/\s*svelte-\w+/g, '')
        .trim()
        .replaceAll(' ', '.')} "${words(element)}"`

    const within = (element: Element, is: (at: Element) => boolean): boolean => {
      for (let at: Element | null = element; at !== null; at = at.parentElement) if (is(at)) return true
      return false
    }

    // What lies over the window is judged by itself, and so is the window only where nothing does.
    const over =
      [...document.querySelectorAll('[role="dialog"], [role="menu"], [role="listbox"]')].filter(seen).at(-1) ?? null
    const floating = '[role="dialog"], [role="menu"], [role="listbox"], [role="tooltip"], .toasts'
    const drawer = document.querySelector('aside.drawer')
    const judged = (element: Element): boolean =>
      over !== null ? over.contains(element) : drawer === null || drawer.contains(element)

    for (const element of document.querySelectorAll(
      'html, body, #app, .frame, .middle, main, .screen, .screen-head, .screen-body, header, footer, aside, aside .body, [role="dialog"]',
    )) {
      if (seen(element) && element.scrollWidth > element.clientWidth + 1)
        faults.push(`${named(element)} is ${element.scrollWidth} px wide in ${element.clientWidth}`)
    }

    const reach = (element: Element): string | null => {
      const box = element.getBoundingClientRect()
      const x = box.left + box.width / 2
      const y = box.top + box.height / 2
      if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight)
        return `is outside the window at ${Math.round(x)}, ${Math.round(y)}`
      const hit = document.elementFromPoint(x, y)
      if (hit === null) return 'cannot be hit'
      const own = element.closest('label') ?? element
      if (own.contains(hit) || hit.contains(element)) {
        // An ancestor is hit where a part of it hides what hangs out of it.
        return own.contains(hit) || getComputedStyle(element).pointerEvents === 'none'
          ? null
          : `is cut off by ${named(hit)}`
      }
      // The head of a file stays in sight as its twin while its lines go by.
      if (hit.closest('.stuck') !== null && element.closest('.stuck') === null) return null
      return over === null && hit.closest(floating) !== null ? null : `lies under ${named(hit)}`
    }
    for (const element of document.querySelectorAll(
      'button, input, textarea, a[href], [role="tab"], [role="menuitem"], [role="option"]',
    )) {
      const box = element.getBoundingClientRect()
      if (!seen(element) || !judged(element) || box.width === 0 || box.height === 0) continue
      // The smallest files of memory's picture are less than a pixel, and have a row in the table.
      if (element.closest('.picture .field') !== null && Math.min(box.width, box.height) < 3) continue
      let fault = reach(element)
      if (fault !== null) {
        // What can be scrolled to is within reach; it is scrolled upright only.
        const moved: [Element, number][] = []
        for (let at = element.parentElement; at !== null; at = at.parentElement) {
          if (/auto|scroll/.test(getComputedStyle(at).overflowY) && at.scrollHeight > at.clientHeight)
            moved.push([at, at.scrollTop])
        }
        for (const [place] of moved) {
          const inside = element.getBoundingClientRect()
          const around = place.getBoundingClientRect()
          place.scrollTop += inside.top + inside.height / 2 - (around.top + around.height / 2)
        }
        if (moved.length > 0) fault = reach(element)
        for (const [place, top] of moved) place.scrollTop = top
      }
      if (fault !== null) faults.push(`${named(element)} ${fault}`)
    }

    // Pieces of text as far as they are not cut off by what stands around them.
    type Piece = { node: Node; text: string; parent: Element; left: number; right: number; top: number; bottom: number }
    const pieces: Piece[] = []
    const walker = document.createTreeWalker(over ?? drawer ?? document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const parent = node.parentElement
      if (parent === null || (node.textContent ?? '').trim() === '' || !seen(parent)) continue
      if (over === null && parent.closest(floating) !== null) continue
      if (parent.closest('svg, .cm-editor, .u-over, .u-under') !== null) continue
      // A head that stays in sight has what goes by beneath it.
      if (within(parent, (at) => getComputedStyle(at).position === 'sticky')) continue
      const range = document.createRange()
      range.selectNodeContents(node)
      for (const box of range.getClientRects()) {
        const piece = {
          node,
          text: (node.textContent ?? '').trim().slice(0, 40),
          parent,
          left: box.left,
          right: box.right,
          top: box.top,
          bottom: box.bottom,
        }
        for (let at: Element | null = parent; at !== null; at = at.parentElement) {
          const style = getComputedStyle(at)
          if (style.display === 'inline' || style.overflowX === 'visible') continue
          const around = at.getBoundingClientRect()
          piece.left = Math.max(piece.left, around.left)
          piece.right = Math.min(piece.right, around.right)
          piece.top = Math.max(piece.top, around.top)
          piece.bottom = Math.min(piece.bottom, around.bottom)
        }
        // Lines of one paragraph touch each other; letters do not fill the height of their box.
        piece.top += 3
        piece.bottom -= 3
        if (piece.right - piece.left > 2 && piece.bottom - piece.top > 2 && piece.top < innerHeight && piece.bottom > 0)
          pieces.push(piece)
      }
    }
    for (const [at, one] of pieces.entries()) {
      for (const other of pieces.slice(at + 1)) {
        // A text that is shortened by an ellipsis has two boxes.
        if (one.node === other.node) continue
        if (
          one.parent.contains(other.parent) &&
          one.parent !== other.parent &&
          getComputedStyle(other.parent).display === 'inline'
        )
          continue
        const across = Math.min(one.right, other.right) - Math.max(one.left, other.left)
        const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)
        if (across > 2 && down > 2) faults.push(`"${one.text}" is printed over "${other.text}"`)
      }
    }
    return [...new Set(faults)].slice(0, 12)
  })
}
