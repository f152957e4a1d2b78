// The files of a patch as folders and files, a folder with one folder in it joined to it. Plain data; FileTree.svelte
// draws it.
import type { FileDiff } from '../../ipc'

export type TreeRow =
  | {
      readonly kind: 'folder'
      readonly name: string
      readonly path: string
      readonly depth: number
      readonly folded: boolean
    }
  | { readonly kind: 'file'; readonly name: string; readonly file: number; readonly depth: number }

interface Folder {
  readonly folders: Map<string, Folder>
  readonly files: { name: string; file: number }[]
}

export function treeRows(files: readonly FileDiff[], folded: ReadonlySet<string>): TreeRow[] {
  const root: Folder = { folders: new Map(), files: [] }
  for (const [file, { path }] of files.entries()) {
    const parts = path.split('/')
    const name = parts.pop() ?? path
    let folder = root
    for (const part of parts) {
      let next = folder.folders.get(part)
      if (next === undefined) folder.folders.set(part, (next = { folders: new Map(), files: [] }))
      folder = next
    }
    folder.files.push({ name, file })
  }
  const rows: TreeRow[] = []
  const walk = (folder: Folder, path: string, depth: number): void => {
    for (const [first, found] of folder.folders) {
      let name = first
      let inner = found
      let only = soleFolder(inner)
      while (only !== null) {
        name += `/${only[0]}`
        inner = only[1]
        only = soleFolder(inner)
      }
      const whole = path === '' ? name : `${path}/${name}`
      const closed = folded.has(whole)
      rows.push({ kind: 'folder', name, path: whole, depth, folded: closed })
      if (!closed) walk(inner, whole, depth + 1)
    }
    for (const { name, file } of folder.files) rows.push({ kind: 'file', name, file, depth })
  }
  walk(root, '', 0)
  return rows
}

function soleFolder(folder: Folder): [string, Folder] | null {
  if (folder.files.length > 0 || folder.folders.size !== 1) return null
  const [only] = folder.folders
  return only ?? null
}
