// What a round's attempts are, place by place: which number is at which place, how each stands, which is shown first.
// It says nothing in words and draws nothing.
import type { AttemptView, ChangeTests, Finding, CodePlace, Proof, RoundView, TaskView } from '../../ipc'

/**
 * How an attempt stands. `breaks`: what shows the fault passes, and tests fail that passed before. `idle`: it repeats
 * another, or has no usable code, so that it was not tested.
 */
export type AttemptStanding = 'missing' | 'untested' | 'idle' | 'not_shown' | 'breaks' | 'shown'

export interface Dot {
  /** Which attempt, from 0. */
  readonly number: number
  readonly standing: AttemptStanding
  readonly attempt: AttemptView | null
}

export interface PlaceDots {
  readonly place: CodePlace
  readonly dots: readonly Dot[]
}

/** Whether a change with this finding cannot be used; as `Finding::is_fatal` in Rust. */
export const isFatal = (finding: Finding): boolean =>
  finding.kind !== 'deletes_far_more' && finding.kind !== 'only_deletes'

/** Whether its change could go into the patch. */
export function isUsable(attempt: AttemptView): boolean {
  return attempt.change !== null && attempt.failed === null && !attempt.findings.some(isFatal)
}

export function standingOf(attempt: AttemptView): AttemptStanding {
  if (attempt.tested === null) return isUsable(attempt) && attempt.same_as === null ? 'untested' : 'idle'
  if (passes(attempt.proof)) return 'shown'
  return breaksAlone(attempt.tested) ? 'breaks' : 'not_shown'
}

/** Whether every check passes and no test fails, by whatever grade. */
export function passes(proof: Proof): boolean {
  return proof.kind === 'shown_to_work' || proof.kind === 'plausible'
}

function breaksAlone({ checks, tests }: ChangeTests): boolean {
  return (
    (tests?.newly_failing.length ?? 0) > 0 && checks.length > 0 && checks.every((check) => check.state.kind === 'gone')
  )
}

/** The attempts that a round may have, by place, as Rust says of each. */
export function dotsOf(round: RoundView): PlaceDots[] {
  const places = placesOf(round)
  const most = Math.max(1, round.answer_places.length, ...round.attempts.map((one) => one.attempt + 1))
  const dots = Array.from({ length: most }, (_, number): Dot => {
    const attempt = round.attempts.find((one) => one.attempt === number) ?? null
    return { number, attempt, standing: attempt === null ? 'missing' : standingOf(attempt) }
  })
  return places.map((place, at) => ({
    place,
    dots: dots.filter(({ number, attempt }) => placeAt(round, number, attempt, places.length) === at),
  }))
}

/**
 * Which attempt an arrow leads to from a chosen one: left and right through all that are written, up and down to the
 * row beside it; none for another key, or where there is no further row.
 */
export function dotTowards(key: string, rows: readonly Pick<PlaceDots, 'dots'>[], chosen: number): number | null {
  const written = rows
    .map(({ dots }) => dots.filter((dot) => dot.attempt !== null).map((dot) => dot.number))
    .filter((row) => row.length > 0)
  const all = written.flat()
  const row = written.findIndex((numbers) => numbers.includes(chosen))
  const column = written[row]?.indexOf(chosen) ?? 0
  const beside = (by: number): number | null => {
    const next = row === -1 ? undefined : written[row + by]
    return next?.[Math.min(column, next.length - 1)] ?? null
  }
  switch (key) {
    case 'ArrowRight':
      return all[all.indexOf(chosen) + 1] ?? null
    case 'ArrowLeft':
      return all[all.indexOf(chosen) - 1] ?? null
    case 'ArrowDown':
      return beside(1)
    case 'ArrowUp':
      return beside(-1)
    case 'Home':
      return all[0] ?? null
    case 'End':
      return all[all.length - 1] ?? null
    default:
      return null
  }
}

/** At which place an attempt is, from 0. */
function placeAt(round: RoundView, number: number, attempt: AttemptView | null, places: number): number {
  return Math.min(attempt?.place ?? round.answer_places[number] ?? 0, places - 1)
}

/** The places of a round; a run of before they were told has the one of its lines. */
export function placesOf(round: RoundView): readonly CodePlace[] {
  return round.places.length > 0 ? round.places : [{ symbols: round.symbols, spans: round.spans }]
}

/** Whether a round has more than one attempt or place to tell apart. */
export function hasMany(round: RoundView): boolean {
  return round.answer_places.length > 1 || round.attempts.length > 1 || round.places.length > 1
}

/** The attempt that is shown where none was chosen: the one in the patch, else one that works, else the last. */
export function firstShown(round: RoundView, accepted: TaskView['accepted']): AttemptView | undefined {
  return (
    (accepted !== null && accepted[0] === round.round
      ? round.attempts.find((one) => one.attempt === accepted[1])
      : undefined) ??
    round.attempts.find((one) => standingOf(one) === 'shown') ??
    round.attempts[round.attempts.length - 1]
  )
}

/** The attempt whose change goes into the patch. */
export function acceptedOf({ rounds, accepted }: TaskView): AttemptView | null {
  if (accepted === null) return null
  const round = rounds.find((one) => one.round === accepted[0])
  return round?.attempts.find((one) => one.attempt === accepted[1]) ?? null
}
