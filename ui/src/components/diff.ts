// Owns the reading of a unified diff into lines with their numbers. It decides nothing about hunks; the review has its
// own from Rust.
export type DiffTextLine = {
  kind: 'context' | 'added' | 'deleted' | 'hunk'
  old: number | null
  new: number | null
  text: string
}

/** Lines of the hunks; what git writes before the first hunk is left out. */
export function readDiff(diff: string): DiffTextLine[] {
  const found: DiffTextLine[] = []
  let before = 0
  let after = 0
  let inside = false
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line)
    if (head) {
      before = Number(head[1])
      after = Number(head[2])
      inside = true
      found.push({ kind: 'hunk', old: null, new: null, text: line })
    } else if (
      /^(diff --git|--- |\+\+\+ |index |new file|deleted file|rename |similarity )/.test(line) &&
      (!inside || line.startsWith('diff --git'))
    ) {
      inside = false
    } else if (inside && line.startsWith('+')) {
      found.push({ kind: 'added', old: null, new: after++, text: line.slice(1) })
    } else if (inside && line.startsWith('-')) {
      found.push({ kind: 'deleted', old: before++, new: null, text: line.slice(1) })
    } else if (inside && !line.startsWith('\\')) {
      found.push({ kind: 'context', old: before++, new: after++, text: line.slice(1) })
    }
  }
  return found
}
