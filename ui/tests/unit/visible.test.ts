// Characters that are not seen: shown by their number wherever they stand, and never where somebody types.
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
