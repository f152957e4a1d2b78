// @vitest-environment node
// Sentences with numbers in them: none says "1 files" or "2 file", whatever the number is.
import { beforeEach, expect, test, vi } from 'vitest'
import { type Counted, type Key, setLanguage, t, tn } from '../../src/i18n/index.svelte'
import { en } from '../../src/i18n/sentences'

vi.stubGlobal('navigator', { language: 'en', languages: ['en'] })
beforeEach(() => setLanguage('en'))

const keys = Object.keys(en) as Key[]
const stems = keys.filter((key) => key.endsWith('.one')).map((key) => key.slice(0, -'.one'.length) as Counted)
const names = (sentence: string): string[] => [...sentence.matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? '')
/** Every name but the number filled with a word. */
const others = (stem: Counted): Record<string, string> =>
  Object.fromEntries(
    names(en[`${stem}.other`])
      .filter((name) => name !== 'n')
      .map((name) => [name, 'x']),
  )
const render = (stem: Counted, n: number): string =>
  (tn as (stem: Counted, n: number, values: Record<string, string>) => string)(stem, n, others(stem))

/**
 * One of something that is written as many. What is said of one thing ("1 is undecided"), and units of time and speed,
 * are no plurals.
 */
const ONE_AS_MANY = /(?<![\w.,–+−-])1 (?!(?:is|was|has|as|ms)\b)[a-z]+s\b(?!\/s)/
/** The nouns that are counted: what follows the number in the singular and is different in the plural. */
const nouns = stems.flatMap((stem) => {
  const noun = /\{n\} ((?:changed |undecided )?[A-Za-z]+)/.exec(en[`${stem}.one`])?.[1]
  return noun === undefined || new RegExp(`\\{n\\} ${noun}(?![a-z])`).test(en[`${stem}.other`]) ? [] : [noun]
})
const MANY_AS_ONE = new RegExp(`(?<![\\d.,])[02] (?:${[...new Set(nouns)].join('|')})(?![a-z])`)

test('counted sentences fit 0, 1 and 2', () => {
  expect(nouns).toContain('file')
  const wrong = stems
    .flatMap((stem) => [0, 1, 2].map((n) => render(stem, n)))
    .filter((sentence) => ONE_AS_MANY.test(sentence) || MANY_AS_ONE.test(sentence) || /[{}]/.test(sentence))
  expect(wrong).toEqual([])
})

test('what is not counted by the rule of the language reads well with 1, too', () => {
  // A share of summaries: "0 of 1 summaries ready".
  const share: Key = 'frame.remembered'
  const plain = keys.filter((key) => !/\.(one|other)$/.test(key) && key !== share)
  const wrong = plain
    .map((key) =>
      (t as (key: Key, values: Record<string, number>) => string)(
        key,
        Object.fromEntries(names(en[key]).map((name) => [name, 1])),
      ),
    )
    .filter((sentence) => ONE_AS_MANY.test(sentence))
  expect(wrong).toEqual([])
})

test('a counted sentence takes more values, and a number written in another way', () => {
  expect(tn('common.tokens', 12_430, { n: '12.4k' })).toBe('12.4k tokens')
  expect(tn('common.tokens', 1, { n: '1' })).toBe('1 token')
})
