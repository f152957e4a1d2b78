// Owns how a problem from Rust is said in the language in force: by its code and the things it names. Where a language
// has no sentence for a code, or the problem does not name what the sentence needs, Rust's own English stands.
import type { Problem } from '../ipc'
import { language } from './index.svelte'
import { zh_hans } from './zh_hans/problems'

/** What is said for a code: what happened, and what can be done. */
export type Said = { readonly message: string; readonly remedy: string | null }

/** The problem as it is shown. */
export function told(problem: Problem): Said {
  const said = language() === 'zh_hans' && Object.hasOwn(zh_hans, problem.code) ? zh_hans[problem.code] : undefined
  const message = said === undefined ? null : filled(said.message, problem.given ?? {})
  return said === undefined || message === null ? problem : { message, remedy: said.remedy }
}

/** The sentence with what it names; null where something is not given. */
function filled(sentence: string, given: Partial<Record<string, string>>): string | null {
  const names = [...sentence.matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? '')
  if (names.some((name) => given[name] === undefined)) return null
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => given[name] ?? '')
}
