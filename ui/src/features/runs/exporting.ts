// Writing a run to a file that the person names. What is in the file is Rust's matter.
import { app } from '../../app/app.svelte'
import { t } from '../../i18n/index.svelte'
import { ipc, type ExportFormat, type RunId } from '../../ipc'

const ENDINGS: Readonly<Record<ExportFormat, string>> = { json: 'json', markdown: 'md', patch: 'patch' }

export async function exportRun(run: RunId, format: ExportFormat, title: string): Promise<void> {
  try {
    const path = await ipc.pickSavePath(t('runs.export.title'), `${fileName(run, title)}.${ENDINGS[format]}`)
    if (path === null) return
    await ipc.exportRun(run, format, path)
    app.notices.say(t('runs.export.done', { path }))
  } catch (thrown) {
    app.notices.fail(thrown)
  }
}

/** Letters and digits of the title, so that every system takes it. */
export function fileName(run: RunId, title: string): string {
  const plain = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
  return `run-${run}${plain === '' ? '' : `-${plain.slice(0, 48)}`}`
}
