// What fails again without a hunk, where that was found out: a hunk that nothing needs is taken out of the patch.
import type { CheckId, HunkNeed, RunView, TaskId } from '../../ipc'
import { passes } from '../solve/attempts'

/** Where a hunk lies in the base: its first line, and how many. */
export type BaseLines = { readonly first: number; readonly count: number }

export interface Needs {
  readonly checks: readonly CheckId[]
  readonly tests: readonly string[]
}

/** What needs the hunk of these tasks on these lines, each once. Nothing where that is not known. */
export function needsOf(view: RunView | null, tasks: readonly TaskId[], { first, count }: BaseLines): Needs {
  if (view === null || !view.evidence || !passes(view.evidence.proof)) return { checks: [], tests: [] }
  const lies = ({ line }: HunkNeed): boolean => line >= first && line <= first + Math.max(count, 1)
  const needs = view.tasks.filter(({ task }) => tasks.includes(task.id)).flatMap(({ needed }) => needed.filter(lies))
  return {
    checks: [...new Set(needs.flatMap((need) => need.checks))],
    tests: [...new Set(needs.flatMap((need) => need.tests))],
  }
}

/** The same as names, checks first: `C1`, `test_until`. */
export function neededBy(view: RunView | null, tasks: readonly TaskId[], lines: BaseLines): string[] {
  const { checks, tests } = needsOf(view, tasks, lines)
  return [...checks.map((check) => `C${check}`), ...tests]
}
