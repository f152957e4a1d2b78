// Owns how a repository's HEAD is written: a branch by its name, a commit by its first letters. It reads no repository.
import type { HeadView } from '../../ipc'
import { t } from '../../i18n/index.svelte'

export function headText(head: HeadView | null): string {
  if (head === null) return ''
  switch (head.kind) {
    case 'branch':
      return head.name
    case 'detached':
      return t('repositories.detached', { commit: head.commit.slice(0, 7) })
    case 'unborn':
      return t('repositories.unborn', { name: head.name })
  }
}
