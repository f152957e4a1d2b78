// Owns how what the models think of a change is said: as an opinion, with what stands behind it. Green is for tests and
// for what a person did.
import { t, word } from '../../i18n/index.svelte'
import type { Decision, ModelReview, QaMode, TaskOutcome } from '../../ipc'

/**
 * What the model's review of a task's change came to; none where there is no change. As `ModelReview::of_task` in Rust.
 */
export function reviewOf(outcome: TaskOutcome, qa: QaMode): ModelReview | null {
  if (outcome.kind === 'failed' || outcome.kind === 'set_aside') return null
  if (qa === 'skip') return 'not_run'
  return outcome.kind === 'approved' ? 'passed' : 'not_passed'
}

export const reviewOfDecision = (decision: Decision): ModelReview => (decision === 'approved' ? 'passed' : 'not_passed')

/** `Model review: passed`. */
export const reviewText = (review: ModelReview): string => word(`verdict.review.${review}`)

/** `Model review: passed · Tests: not run`. */
export const evidenceText = (review: ModelReview): string => `${reviewText(review)} · ${t('verdict.tests.not_run')}`
