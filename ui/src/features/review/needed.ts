// What fails again without a hunk, where that was found out: a hunk that nothing needs is taken out of the patch.
import type { HunkNeed, RunView, TaskId } from '../../ipc'
import { passes } from '../solve/attempts'

/** Where a hunk lies in the base: its first line, and how many. */
export type BaseLines = { readonly first: number; readonly count: number }

/** What needs the hunk of these tasks on these lines, checks first: `C1`, `test_until`. None where that is not known. */
export function neededBy(view: RunView | null, tasks: readonly TaskId[], { first, count }: BaseLines): string[] {
  if (view === null || !view.evidence || !passes(view.evidence.proof)) return []
  const lies = ({ line }: HunkNeed): boolean => line >= first && line <= first + Math.max(count, 1)
  const needs = view.tasks.filter(({ task }) => tasks.includes(task.id)).flatMap(({ needed }) => needed.filter(lies))
  const checks = needs.flatMap((need) => need.checks.map((check) => `C${check}`))
  const tests = needs.flatMap((need) => need.tests)
  return [...new Set([...checks, ...tests])]
}
