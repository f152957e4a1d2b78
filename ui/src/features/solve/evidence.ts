// How one reason for a file to be a candidate is said on a chip, and how relevance becomes a share of a bar.
import { filled, t, tn, type NamesOf } from '../../i18n/index.svelte'
import type { CandidateView, Evidence, SkipReason } from '../../ipc'
import { bytes } from '../../i18n/format'

/** Evidence that is said in other words than its fields have. */
type Worded = Extract<Evidence, { kind: 'trace_frame' | 'lines' | 'past_commit' | 'changed_lately' | 'reached' }>
type Plain = Exclude<Evidence, Worded>

/** Names in the sentence of a plain kind that are no field of it: none, or this does not compile. */
type Strange = { [E in Plain as E['kind']]: Exclude<NamesOf<`solve.evidence.${E['kind']}`>, keyof E> }[Plain['kind']]
const noneIsStrange: [Strange] extends [never] ? true : Strange = true
void noneIsStrange

/** Fields that hold a path. */
const PATHS = ['with', 'test', 'by', 'of']

/** The words of a chip; long lists are cut, the chip's title has them all. */
export function evidenceText(evidence: Evidence, most = Infinity): string {
  switch (evidence.kind) {
    case 'trace_frame':
      return evidence.depth === 0
        ? t('solve.evidence.trace_frame.innermost')
        : t('solve.evidence.trace_frame', { n: evidence.depth })
    case 'lines':
      return t('solve.evidence.lines', { first: evidence.span[0], last: evidence.span[1] })
    case 'past_commit':
      return t('solve.evidence.past_commit', { commit: evidence.commit.slice(0, 8), subject: evidence.subject })
    case 'changed_lately':
      return evidence.ago === 0
        ? t('solve.evidence.changed_lately.last')
        : tn('solve.evidence.changed_lately', evidence.ago)
    case 'reached':
      return tn('solve.evidence.reached', evidence.functions)
    default: {
      const { kind, ...fields } = evidence
      const values = Object.entries(fields).map(([name, value]: [string, string | string[]]) => {
        if (typeof value !== 'string') return [name, listed(value, most)]
        return [name, PATHS.includes(name) ? shortened(value, most) : value]
      })
      return filled(`solve.evidence.${kind}`, Object.fromEntries(values) as Record<string, string>)
    }
  }
}

export function skipText(reason: SkipReason): string {
  switch (reason.kind) {
    case 'too_large':
      return t('solve.skip.too_large', { size: bytes(reason.bytes), limit: bytes(reason.limit) })
    case 'binary':
    case 'minified':
    case 'not_utf8':
    case 'symlink':
    case 'submodule':
    case 'lfs_pointer':
    case 'missing':
    case 'unsupported_path':
    case 'unreadable':
      return t(`solve.skip.${reason.kind}`)
  }
}

/** Relevance of each candidate as a share of the run's most relevant one; z-scores have no zero of their own. */
export function relevanceShares(candidates: readonly CandidateView[]): ReadonlyMap<string, number> {
  const known = candidates.filter((one) => one.judgement !== null)
  const values = known.map((one) => one.judgement?.relevance ?? 0)
  const low = Math.min(...values)
  const high = Math.max(...values)
  const reach = high - low
  return new Map(
    known.map((one) => [
      one.candidate.path,
      reach <= 0 ? 1 : 0.04 + (0.96 * ((one.judgement?.relevance ?? low) - low)) / reach,
    ]),
  )
}

/** The order of the table: kept ones by relevance, then what was declined, then what was set aside. */
export function tableOrder(candidates: readonly CandidateView[]): { kept: CandidateView[]; aside: CandidateView[] } {
  const relevance = (one: CandidateView): number => one.judgement?.relevance ?? -Infinity
  const sorted = [...candidates].sort((a, b) => relevance(b) - relevance(a) || b.candidate.score - a.candidate.score)
  return {
    kept: sorted.filter((one) => one.state.kind === 'kept' || one.state.kind === 'waiting'),
    aside: sorted.filter((one) => one.state.kind !== 'kept' && one.state.kind !== 'waiting'),
  }
}

/** A path, or its last part where there is little room. */
function shortened(path: string, most: number): string {
  return most < Infinity ? (path.split('/').pop() ?? path) : path
}

function listed(words: readonly string[], most: number): string {
  const shown = words.slice(0, most).join(', ')
  return words.length > most ? `${shown} +${words.length - most}` : shown
}
