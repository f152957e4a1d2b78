// The five steps of the effort slider and what each means in files judged, rounds, and attempts where code is run. It
// estimates nothing.
import type { SolveForm } from '../../ipc'

export type EffortName = 'quick' | 'light' | 'balanced' | 'careful' | 'thorough'

export interface Effort {
  readonly name: EffortName
  readonly top_k: number
  readonly max_rounds: number
  readonly qa: boolean
  /** Answers of a round and the places they are shared out over, where they can be told apart by running them. */
  readonly attempts: number
  readonly places: number
}

/** From quick to thorough. */
export const EFFORTS: readonly [Effort, Effort, Effort, Effort, Effort] = [
  { name: 'quick', top_k: 5, max_rounds: 1, qa: false, attempts: 1, places: 1 },
  { name: 'light', top_k: 10, max_rounds: 1, qa: true, attempts: 32, places: 2 },
  { name: 'balanced', top_k: 20, max_rounds: 2, qa: true, attempts: 192, places: 4 },
  { name: 'careful', top_k: 20, max_rounds: 3, qa: true, attempts: 192, places: 4 },
  { name: 'thorough', top_k: 40, max_rounds: 5, qa: true, attempts: 288, places: 6 },
]

/** The step nearest to a form's own numbers; `exact` says whether they are that step's. */
export function effortOf(form: Pick<SolveForm, 'top_k' | 'max_rounds' | 'qa'>): { index: number; exact: boolean } {
  const distance = (effort: Effort): number =>
    Math.abs(Math.log(effort.top_k / Math.max(1, form.top_k))) +
    Math.abs(effort.max_rounds - form.max_rounds) +
    (effort.qa === form.qa ? 0 : 0.5)
  let index = 0
  for (const [at, effort] of EFFORTS.entries()) {
    if (distance(effort) < distance(EFFORTS[index] ?? EFFORTS[0])) index = at
  }
  return { index, exact: distance(EFFORTS[index] ?? EFFORTS[0]) === 0 }
}

/** The first line that says something, without Markdown's marks for headings and code: the title as Rust shows it. */
export function titleOf(issue: string): string {
  const bare = (line: string): string => line.replace(/^[# \t]+|[# \t]+$/g, '')
  for (const line of issue.split(/\r?\n/)) if (bare(line) !== '') return withoutCodeMarks(bare(line))
  return ''
}

/**
 * The line as it reads where inline code is not drawn: without the backticks around code. One that closes nothing
 * stays.
 */
export function withoutCodeMarks(line: string): string {
  return line.replace(/(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)/g, (_, _marks: string, code: string) =>
    /^ .*[^ ].* $/.test(code) ? code.slice(1, -1) : code,
  )
}

/** Why an issue would be refused, before it is sent. */
export function refusal(issue: string): 'empty' | 'only_address' | null {
  const text = issue.trim()
  if (text === '') return 'empty'
  return /^https?:\/\/\S+$/.test(text) ? 'only_address' : null
}
