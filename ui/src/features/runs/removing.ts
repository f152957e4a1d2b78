// Deleting a run from its own screen: back to the list, with a way to have it back. The list deletes several at once by
// itself.
import { tick } from 'svelte'
import { app } from '../../app/app.svelte'
import { t } from '../../i18n/index.svelte'
import { ipc, type RunId } from '../../ipc'

export async function removeRun(run: RunId, title: string): Promise<void> {
  try {
    const { ticket, note } = await ipc.deleteRun(run)
    app.navigation.go({ name: 'runs', view: { kind: 'list' } })
    // The screen that goes takes the messages of its own with it.
    await tick()
    app.notices.say([t('runs.deleted', { title }), note].join(' '), {
      sticky: true,
      action: { label: t('common.undo'), run: () => void bringBack(ticket) },
    })
  } catch (thrown) {
    app.notices.fail(thrown)
  }
}

async function bringBack(ticket: number): Promise<void> {
  await ipc.undoDelete(ticket).catch((thrown: unknown) => app.notices.fail(thrown))
}
