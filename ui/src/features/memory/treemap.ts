// Owns the shapes of memory's picture: a tree of folders from paths, and rectangles for it, squarified (Bruls, Huizing,
// van Wijk 2000). It knows bytes and states, no colours and no elements.
import type { MemoryCounts, MemoryFile } from '../../ipc'

export type Node = {
  name: string
  path: string
  bytes: number
  file: MemoryFile | null
  children: Node[]
  counts: MemoryCounts
}
export type Tile = { node: Node; x: number; y: number; width: number; height: number }

/**
 * The folders and files under a root whose path is the empty text; a folder that holds one folder alone is joined with
 * it.
 */
export function treeOf(files: readonly MemoryFile[]): Node {
  const root: Node = empty('', '')
  const known = new Map<string, Node>()
  for (const file of files) {
    const parts = file.path.split('/')
    let at = root
    parts.forEach((part, index) => {
      const path = parts.slice(0, index + 1).join('/')
      let next = known.get(path)
      if (!next) {
        next = empty(part, path)
        known.set(path, next)
        at.children.push(next)
      }
      if (index === parts.length - 1) next.file = file
      at = next
    })
  }
  return summed(root)
}

/** The node of a path, or the root. */
export function nodeAt(root: Node, path: string): Node {
  let at: Node = root
  for (;;) {
    const next = at.children.find((child) => path === child.path || path.startsWith(`${child.path}/`))
    if (!next) return at
    at = next
    if (at.path === path) return at
  }
}

/** Rectangles for the children of a node, in a box; none for what has no bytes. */
export function tiles(parent: Node, x: number, y: number, width: number, height: number): Tile[] {
  const children = parent.children.filter((child) => child.bytes > 0).sort((a, b) => b.bytes - a.bytes)
  const all = children.reduce((sum, child) => sum + child.bytes, 0)
  if (all === 0 || width <= 0 || height <= 0) return []
  const scale = (width * height) / all
  const found: Tile[] = []
  let box = { x, y, width, height }
  let row: Node[] = []
  let rest = children
  while (rest.length > 0) {
    const [next] = rest
    if (!next) break
    const side = Math.min(box.width, box.height)
    if (row.length === 0 || worst([...row, next], side, scale) <= worst(row, side, scale)) {
      row.push(next)
      rest = rest.slice(1)
    } else {
      box = lay(row, box, scale, found)
      row = []
    }
  }
  lay(row, box, scale, found)
  return found
}

function empty(name: string, path: string): Node {
  return { name, path, bytes: 0, file: null, children: [], counts: { fresh: 0, stale: 0, none: 0, needs_none: 0 } }
}

function summed(node: Node): Node {
  if (node.file) {
    node.bytes = Math.max(1, node.file.bytes)
    node.counts[node.file.state] = 1
    return node
  }
  node.children = node.children.map((child) => joined(summed(child)))
  for (const child of node.children) {
    node.bytes += child.bytes
    node.counts.fresh += child.counts.fresh
    node.counts.stale += child.counts.stale
    node.counts.none += child.counts.none
    node.counts.needs_none += child.counts.needs_none
  }
  return node
}

function joined(node: Node): Node {
  const [only] = node.children
  return node.children.length === 1 && only && only.file === null
    ? { ...only, name: `${node.name}/${only.name}` }
    : node
}

function worst(row: readonly Node[], side: number, scale: number): number {
  const areas = row.map((node) => node.bytes * scale)
  const sum = areas.reduce((a, b) => a + b, 0)
  const big = Math.max(...areas)
  const small = Math.min(...areas)
  return Math.max((side * side * big) / (sum * sum), (sum * sum) / (side * side * small))
}

type Box = { x: number; y: number; width: number; height: number }

/** Puts a row of nodes along the shorter side and gives what is left of the box. */
function lay(row: readonly Node[], box: Box, scale: number, into: Tile[]): Box {
  const area = row.reduce((sum, node) => sum + node.bytes, 0) * scale
  if (area === 0) return box
  if (box.width >= box.height) {
    const width = area / box.height
    let y = box.y
    for (const node of row) {
      const height = (node.bytes * scale) / width
      into.push({ node, x: box.x, y, width, height })
      y += height
    }
    return { ...box, x: box.x + width, width: box.width - width }
  }
  const height = area / box.width
  let x = box.x
  for (const node of row) {
    const width = (node.bytes * scale) / height
    into.push({ node, x, y: box.y, width, height })
    x += width
  }
  return { ...box, y: box.y + height, height: box.height - height }
}
