// Which checks fail again without a hunk. It is known where what a change can do without was taken out of it, and where
// the patch has one hunk alone.
import type { RunView, TaskId } from '../../ipc'
import { passedChecks } from '../solve/proof'

/** The checks that need a hunk of these tasks, `C1, C2`; none where that is not known. `hunks`: of the whole patch. */
export function neededBy(view: RunView | null, tasks: readonly TaskId[], hunks: number): string | null {
  const evidence = view?.evidence ?? null
  if (view === null || evidence === null || evidence.patch === null || evidence.proof.kind !== 'shown_to_work')
    return null
  const minimised = view.tasks.some((one) => tasks.includes(one.task.id) && one.left_out !== null)
  const checks = passedChecks(evidence.patch)
  return (minimised || hunks === 1) && checks !== '' ? checks : null
}
