// Owns the language of the window: which one is in force, and the lookup of every sentence by its key.
// The sentences are in en/ and zh_hans/, one file per feature; numbers and times are in format.ts.
import { numberFormat, pluralRules } from './formatters'
import { en, zh_hans } from './sentences'

export type Tongue = 'en' | 'zh_hans'
export type Key = keyof typeof en

/** The names in braces of a sentence. */
type Names<S extends string> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never
export type NamesOf<K extends Key> = Names<(typeof en)[K]>
type Given<K extends Key> = [NamesOf<K>] extends [never] ? [] : [values: Record<NamesOf<K>, string | number>]

const tables: Record<Tongue, Record<Key, string>> = { en, zh_hans }
const tags: Record<Tongue, string> = { en: 'en', zh_hans: 'zh-Hans' }
let tongue = $state<Tongue>('en')

/** The sentence of a key in the language in force. */
export function t<K extends Key>(key: K, ...values: Given<K>): string {
  const [given] = values
  return fill(tables[tongue][key], given ?? {})
}

/** A key made at run time, such as `stage.${stage}`; its sentence has no names in braces. */
export function word(key: Key): string {
  return tables[tongue][key]
}

/** A sentence whose key and values are made at run time; what its names stand for is the caller's to check. */
export function filled(key: Key, values: Record<string, string | number>): string {
  return fill(tables[tongue][key], values)
}

/** The stems of keys that come as `stem.one` and `stem.other`. */
export type Counted = { [K in Key]: K extends `${infer Stem}.one` ? Stem : never }[Key]

/** What a counted sentence names beside its number. */
type Beside<S extends Counted> = Exclude<Names<(typeof en)[`${S}.other`]>, 'n'>
type GivenBeside<S extends Counted> = [Beside<S>] extends [never]
  ? [values?: { n?: string }]
  : [values: Record<Beside<S>, string | number> & { n?: string }]

/**
 * A sentence with a number in it, `{n}`, by the language's own rule for numbers; `n` among the values writes the number
 * in another way.
 */
export function tn<S extends Counted>(stem: S, n: number, ...values: GivenBeside<S>): string {
  const rule = pluralRules(localeTag(), {}).select(n) === 'one' ? 'one' : 'other'
  return fill(tables[tongue][`${stem}.${rule}`], { n: numberFormat(localeTag(), {}).format(n), ...values[0] })
}

export function language(): Tongue {
  return tongue
}

/** Puts a language in force; `system` follows the system's own. */
export function setLanguage(wish: Tongue | 'system'): void {
  tongue = wish === 'system' ? systemTongue() : wish
}

/** For the document's `lang` and for Intl. */
export function languageTag(): string {
  return tags[tongue]
}

/** The locale for numbers and times: the person's own where it is of the language in force. */
export function localeTag(): string {
  const own = navigator.languages.find((tag) => tag.toLowerCase().startsWith(tongue === 'en' ? 'en' : 'zh'))
  return own ?? tags[tongue]
}

function systemTongue(): Tongue {
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh_hans' : 'en'
}

function fill(sentence: string, values: Record<string, string | number>): string {
  return sentence.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name]
    return value === undefined ? whole : String(value)
  })
}
