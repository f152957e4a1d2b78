// A new run that goes on from an earlier one, which stays as it is.
import { app } from '../../app/app.svelte'
import type { RunId } from '../../ipc'
import type { LiveRun } from './live.svelte'

/** Whether a run can be gone on from: its repository is known, and nothing is under way. */
export const canRunAgain = (live: LiveRun): boolean => live.view?.row.repo !== null && !live.following

export async function openAgain(run: RunId): Promise<void> {
  await app.queue.read()
  app.navigation.go({ name: 'solve', run })
}
