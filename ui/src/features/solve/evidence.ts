// How one reason for a file to be a candidate is said on a chip, and how relevance becomes a share of a bar.
import { t, tn } from '../../i18n/index.svelte'
import type { CandidateView, Evidence, SkipReason } from '../../ipc'
import { bytes } from '../../i18n/format'

/** The words of a chip; long lists are cut, the chip's title has them all. */
export function evidenceText(evidence: Evidence, most = Infinity): string {
  switch (evidence.kind) {
    case 'quoted_path':
      return t('solve.evidence.quoted')
    case 'defines_name':
      return t('solve.evidence.defines', { name: evidence.name })
    case 'trace_frame':
      return evidence.depth === 0 ? t('solve.evidence.innermost') : t('solve.evidence.frame', { n: evidence.depth })
    case 'path_words':
      return t('solve.evidence.path', { words: listed(evidence.words, most) })
    case 'text':
      return t('solve.evidence.text', { words: listed(evidence.terms, most) })
    case 'title':
      return t('solve.evidence.title', { words: listed(evidence.terms, most) })
    case 'lines':
      return t('solve.evidence.lines', { first: evidence.span[0], last: evidence.span[1] })
    case 'called_in_issue':
      return t('solve.evidence.called_in_issue', { name: evidence.name })
    case 'changed_lately':
      return evidence.ago === 0 ? t('solve.evidence.changed_last') : tn('solve.evidence.changed_lately', evidence.ago)
    case 'changed_together':
      return t('solve.evidence.changed_together', { path: shortened(evidence.with, most) })
    case 'name_words':
      return t('solve.evidence.name_words', { name: evidence.name })
    case 'literal':
      return t('solve.evidence.literal', { text: evidence.text })
    case 'past_commit':
      return t('solve.evidence.past_commit', { commit: evidence.commit.slice(0, 8), subject: evidence.subject })
    case 'tested_by':
      return t('solve.evidence.tested_by', { path: shortened(evidence.test, most) })
    case 'called_by':
      return t('solve.evidence.called_by', { path: shortened(evidence.by, most) })
    case 'neighbour':
      return t('solve.evidence.neighbour', { path: shortened(evidence.of, most) })
    case 'demoted':
      return t('solve.evidence.demoted', { why: evidence.why })
    case 'given':
      return t('solve.evidence.given')
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
