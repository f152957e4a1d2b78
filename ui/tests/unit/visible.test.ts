// Characters that are not seen: shown by their number wherever they stand, and never where somebody types.
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { coloursOf, piecesOf } from '../../src/components/code/colours'
import { keepVisible, visible } from '../../src/components/visible'

let stop = (): void => undefined
afterEach(() => stop())

test('what turns or hides is written as its number', () => {
  expect(visible('access != "user\u202e \u2066// admin\u2069 \u2066"')).toBe(
    'access != "user⟨U+202E⟩ ⟨U+2066⟩// admin⟨U+2069⟩ ⟨U+2066⟩"',
  )
  expect(visible('is\u200bAdmin \u061c\u200e\u200f\ufeff \x1b[2J \x9b')).toBe(
    'is⟨U+200B⟩Admin ⟨U+061C⟩⟨U+200E⟩⟨U+200F⟩⟨U+FEFF⟩ ⟨U+001B⟩[2J ⟨U+009B⟩',
  )
  expect(visible('tag \u{e0041}')).toBe('tag ⟨U+E0041⟩')
})

test('what is read as it stands is left', () => {
  const plain = 'ünï 码 שלום \ttab\r\n👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥'
  expect(visible(plain)).toBe(plain)
  expect(visible('pay\u200dload')).toBe('pay⟨U+200D⟩load')
})

test('in code it is a piece of its own with a title, and the colours around it stay', async () => {
  const text = 'if x: # \u202e go'
  const colours = await coloursOf('a.py', text, () => false)
  const pieces = piecesOf(text, colours?.get(1) ?? [], [], [])
  expect(pieces.find((piece) => piece.unseen !== undefined)).toMatchObject({
    text: 'U+202E',
    name: 'unseen-character',
    unseen: 'U+202E',
  })
  expect(pieces.map((piece) => piece.text).join('')).toBe('if x: # U+202E go')
  expect(pieces[0]?.name).toBe('tok-keyword')
})

test('the page is kept visible as it changes, and what is typed is not touched', async () => {
  document.body.innerHTML = '<p title="a\u202eb">x\u202ey</p><textarea>t\u202eu</textarea>'
  stop = keepVisible(document.body)
  const [p, field] = [document.querySelector('p'), document.querySelector('textarea')]
  expect([p?.textContent, p?.title, field?.value]).toEqual(['x⟨U+202E⟩y', 'a⟨U+202E⟩b', 't\u202eu'])
  const late = document.createElement('div')
  late.innerHTML = '<span aria-label="l\u2066">\u2066</span>'
  document.body.append(late)
  if (p?.firstChild) (p.firstChild as Text).data = '\u200e'
  await Promise.resolve()
  expect([late.textContent, late.querySelector('span')?.getAttribute('aria-label'), p?.textContent]).toEqual([
    '⟨U+2066⟩',
    'l⟨U+2066⟩',
    '⟨U+200E⟩',
  ])
})

/** Any text, often with what turns, hides or is obeyed in it. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\x1b[2J', '\x07', '\x9b', '\u202e', '\u2066', '\u200b', '\u{e0041}', '\u200d', '👨', 'a\n\t'),
    ),
  )
  .map((parts) => parts.join(''))

/** How text comes onto a page, one step after another. */
const anySteps = fc.array(
  fc.record({
    how: fc.constantFrom('child', 'text', 'title', 'aria-label', 'placeholder', 'html'),
    at: fc.nat(),
    text: anyText,
  }),
  { maxLength: 12 },
)

test('whatever is put on the page in whatever way, nothing of it turns, hides or rings', async () => {
  await fc.assert(
    fc.asyncProperty(anySteps, async (steps) => {
      document.body.innerHTML = '<main><p>x</p></main>'
      stop = keepVisible(document.body)
      for (const { how, at, text } of steps) {
        const all = [...document.body.querySelectorAll('*')]
        const element = all[at % all.length] ?? document.body
        if (how === 'child') element.append(document.createElement('span'), text)
        else if (how === 'html') element.innerHTML = `<b>${text}</b>`
        else if (how === 'text') (element.firstChild ?? element).textContent = text
        else element.setAttribute(how, text)
        // Some changes come together, and some after those before were seen.
        if (at % 3 === 0) await Promise.resolve()
      }
      await Promise.resolve()
      const shown = [...document.body.querySelectorAll('*')].flatMap((element) => [
        ...[...element.childNodes].filter((node) => node instanceof Text).map((node) => node.data),
        ...['title', 'aria-label', 'placeholder'].map((name) => element.getAttribute(name) ?? ''),
      ])
      stop()
      // Written anew here, so that a gap in the list of the code is seen.
      for (const text of shown)
        expect(text).not.toMatch(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/)
    }),
    { numRuns: 300 },
  )
})
