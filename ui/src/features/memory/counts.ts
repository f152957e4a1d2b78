// Owns what the numbers of memory say: how many files it should know, which share of them it does, and all of them as
// words for a sentence.
import { number } from '../../i18n/format'
import type { MemoryCounts } from '../../ipc'

/** The files that a description is of use for. */
export const wanting = (counts: MemoryCounts): number => counts.fresh + counts.stale + counts.none

/** Which part of these is described as they are; all of it, where there are files and none wants a description. */
export const covered = (counts: MemoryCounts): number =>
  wanting(counts) > 0 ? counts.fresh / wanting(counts) : counts.needs_none > 0 ? 1 : 0

export const inWords = (counts: MemoryCounts): { fresh: string; stale: string; none: string; needless: string } => ({
  fresh: number(counts.fresh),
  stale: number(counts.stale),
  none: number(counts.none),
  needless: number(counts.needs_none),
})
