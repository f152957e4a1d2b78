// Reading patches, laying out their rows, marking changed words and finding text in them.
import { expect, test } from 'vitest'
import type { FileDiff } from '../../src/ipc'
import { search } from '../../src/features/review/find.svelte'
import { outcomeOf } from '../../src/features/review/outcome'
import { decideHunk, decideLines, NO_CHOICE, type FileChoice } from '../../src/features/review/choice'
import { pairsOf, rowAt, rowsOf } from '../../src/features/review/rows'
import { treeRows } from '../../src/features/review/tree'
import { readPatch, writeHunk } from '../../src/features/review/unified'
import { compare } from '../../src/features/review/word_changes'

const PATCH = `diff --git a/src/net/url.py b/src/net/url.py
index 1..2 100644
--- a/src/net/url.py
+++ b/src/net/url.py
@@ -3,4 +3,4 @@ def prepare_url(url):
     url = url.strip()
-    return url.encode()
+    # -- not a header
+    return url.encode("utf-8")
 
--- not a file head
diff --git a/src/net/old name.py b/src/net/new name.py
similarity index 90%
rename from src/net/old name.py
rename to src/net/new name.py
diff --git a/logo.png b/logo.png
Binary files a/logo.png and b/logo.png differ
diff --git a/docs/new.md b/docs/new.md
new file mode 100644
--- /dev/null
+++ b/docs/new.md
@@ -0,0 +1 @@
+<script>alert(1)</script>
`
const HEIGHTS = { file: 38, note: 44, hunk: 30, line: 20, conflict: 30, gap: 14 }

test('a patch is read with renames, binaries, new files and lines that look like heads', () => {
  const files = readPatch(PATCH)
  expect(files.map(({ path, kind, binary, added, deleted }) => ({ path, kind, binary, added, deleted }))).toEqual([
    { path: 'src/net/url.py', kind: 'modified', binary: false, added: 2, deleted: 2 },
    { path: 'src/net/new name.py', kind: 'renamed', binary: false, added: 0, deleted: 0 },
    { path: 'logo.png', kind: 'modified', binary: true, added: 0, deleted: 0 },
    { path: 'docs/new.md', kind: 'added', binary: false, added: 1, deleted: 0 },
  ])
  expect(files[0]?.hunks[0]?.header).toBe('def prepare_url(url):')
  expect(files[0]?.hunks[0]?.lines.at(-1)).toMatchObject({ kind: 'deleted', text: '-- not a file head' })
})

test('a hunk is written as it was read', () => {
  const hunk = readPatch(PATCH)[0]?.hunks[0]
  expect(hunk && writeHunk(hunk).split('\n').slice(1, 5)).toEqual([
    '     url = url.strip()',
    '-    return url.encode()',
    '+    # -- not a header',
    '+    return url.encode("utf-8")',
  ])
})

test('rows of one layout are a place for each line, the other puts deleted beside added', () => {
  const files = readPatch(PATCH)
  const unified = rowsOf(files, 'unified', HEIGHTS, () => 'open')
  expect(unified.rows.filter((row) => row.kind === 'line')).toHaveLength(7)
  expect(unified.tops.at(-1)).toBe(4 * 38 + 2 * 30 + 7 * 20 + 2 * 44 + 4 * 14)
  const hunk = files[0]?.hunks[0]
  expect(hunk && pairsOf(hunk).map(({ left, right }) => [left, right])).toEqual([
    [0, 0],
    [1, 2],
    [null, 3],
    [4, 4],
    [5, null],
  ])
  const folded = rowsOf(files, 'split', HEIGHTS, (file) => (file === 0 ? 'folded' : 'open'))
  expect(folded.rows.slice(0, 3).map((row) => row.kind)).toEqual(['file', 'note', 'gap'])
})

test('a conflict stands under the hunk it hits', () => {
  const files = readPatch(PATCH)
  const { rows } = rowsOf(files, 'unified', HEIGHTS, () => 'open', [
    { path: 'src/net/url.py', line: 4, reason: 'changed' },
  ])
  expect(rows.slice(0, 3).map((row) => row.kind)).toEqual(['file', 'hunk', 'conflict'])
})

test('the row at a height is found from the top to below the end', () => {
  const { tops, rows } = rowsOf(readPatch(PATCH), 'unified', HEIGHTS, () => 'open')
  for (let row = 0; row < rows.length; row += 1) {
    expect(rowAt(tops, tops[row] ?? 0)).toBe(row)
    expect(rowAt(tops, (tops[row + 1] ?? 0) - 1)).toBe(row)
  }
  expect(rowAt(tops, 1e9)).toBe(rows.length - 1)
})

test('what will be applied is counted by hunks, lines and files', () => {
  const files = readPatch(PATCH).map((file) => ({
    ...file,
    hunks: file.hunks.map((hunk) => ({ ...hunk, number: hunk.number + 1 })),
  }))
  const first = files[0]?.hunks[0]
  if (first === undefined) throw new Error('no hunk')
  const choices = new Map<string, FileChoice>([
    ['src/net/url.py', decideLines(decideHunk(NO_CHOICE, 1, 'accepted'), first, [5], 'rejected')],
    ['docs/new.md', decideHunk({ ...NO_CHOICE, seen: true }, 1, 'rejected')],
  ])
  expect(outcomeOf(files, (path) => choices.get(path) ?? NO_CHOICE)).toEqual({
    acceptedHunks: 1,
    partlyHunks: 1,
    rejectedHunks: 1,
    openHunks: 2,
    hunks: 4,
    files: 1,
    editedFiles: 0,
    seenFiles: 1,
    added: 2,
    deleted: 1,
  })
})

test('a folder with one folder in it is joined to it', () => {
  const files = readPatch(PATCH)
  const names = (folded: string[]): string[] =>
    treeRows(files, new Set(folded)).map((row) => `${' '.repeat(row.depth)}${row.name}`)
  expect(names([])).toEqual(['src/net', ' url.py', ' new name.py', 'docs', ' new.md', 'logo.png'])
  expect(names(['src/net'])).toEqual(['src/net', 'docs', ' new.md', 'logo.png'])
})

test('only the words that differ are marked, and nothing in lines that are wholly different', () => {
  const marks = compare('    return url.encode()', '    return url.encode("utf-8")')
  expect(marks).toEqual({ left: [], right: [{ from: 22, to: 29 }] })
  expect(compare('import os', 'class Reader(Base):')).toBeNull()
})

test('a text is found in lines of any file, with regard to case only when it has a capital', () => {
  const files: FileDiff[] = readPatch(PATCH)
  expect(search(files, 'URL')).toEqual([])
  expect(search(files, 'url.')).toHaveLength(3)
  expect(search(files, '<script')).toEqual([{ file: 3, hunk: 0, line: 0, from: 0, to: 7 }])
})
