// Moving a repository's memory to and from a file that the person names. What is in the file is Rust's matter.
import { app } from '../../app/app.svelte'
import { number } from '../../i18n/format'
import { t, tn } from '../../i18n/index.svelte'
import { ipc, type RepoId } from '../../ipc'

const ENDING = 'magis-memory'

export async function exportMemory(repo: RepoId, name: string): Promise<void> {
  try {
    const path = await ipc.pickSavePath(t('memory.export'), `${name === '' ? 'memory' : name}.${ENDING}`)
    if (path === null) return
    const written = await ipc.exportMemory(repo, path)
    app.notices.say(tn('memory.export.done', written.summaries, { path }))
  } catch (thrown) {
    app.notices.fail(thrown)
  }
}

export async function importMemory(repo: RepoId): Promise<void> {
  try {
    const path = await ipc.pickFile(t('memory.import'), [ENDING])
    if (path === null) return
    const taken = await ipc.importMemory(repo, path)
    app.notices.say(
      t('memory.import.done', {
        added: number(taken.added),
        replaced: number(taken.replaced),
        kept: number(taken.kept),
      }),
    )
  } catch (thrown) {
    app.notices.fail(thrown)
  }
}
