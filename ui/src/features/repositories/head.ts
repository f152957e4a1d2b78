// Owns how a repository's HEAD is written (a branch by its name, a commit by its first letters), how its index stands
// to it and what that leaves out. It reads no repository.
import type { HeadView, IndexView, UnreadableFiles, WatchedIndex } from '../../ipc'
import { number } from '../../i18n/format'
import { t, tn } from '../../i18n/index.svelte'

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

/** The index of the current repository, which follows every change. */
export function watchedText(index: WatchedIndex): string {
  switch (index.kind) {
    case 'looking':
      return t('repositories.index.looking')
    case 'reading':
      return t('repositories.index.reading', { done: number(index.done), total: number(index.total) })
    case 'right':
      return tn('repositories.index.right', index.files)
  }
}

/** The first of the files that cannot be read, and how many there are beside them. */
export function leftOutText({ count, first }: UnreadableFiles): string {
  const files = first.join(', ')
  return count > first.length ? t('repositories.unreadable.more', { files, n: number(count - first.length) }) : files
}

export function indexText(index: IndexView): string {
  switch (index.kind) {
    case 'none':
      return t('repositories.index.none')
    case 'fresh':
      return t('repositories.index.fresh')
    case 'older':
      return tn('repositories.index.older', index.commits)
    case 'elsewhere':
      return t('repositories.index.elsewhere', { commit: index.commit.slice(0, 7) })
  }
}
