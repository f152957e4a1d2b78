// The window's small decisions: key presses, narrowing, areas, diffs, numbers.
import { beforeEach, expect, test } from 'vitest'
import { chord, isWriting } from '../../src/app/commands.svelte'
import { narrowed } from '../../src/app/narrowing'
import { coloursOf } from '../../src/components/code/colours'
import { readDiff } from '../../src/components/diff'
import { nodeAt, tiles, treeOf } from '../../src/features/memory/treemap'
import { bytes, clock, duration, short } from '../../src/i18n/format'
import { setLanguage, tn } from '../../src/i18n/index.svelte'
import type { MemoryFile } from '../../src/ipc/types'

beforeEach(() => setLanguage('en'))

const press = (key: string, more: KeyboardEventInit = {}): string =>
  chord(new KeyboardEvent('keydown', { key, ...more }))

test('a key press is named by its modifiers and its key', () => {
  expect(press('j')).toBe('j')
  expect(press('?', { shiftKey: true })).toBe('?')
  expect(press('k', { ctrlKey: true })).toBe('Ctrl+K')
  expect(press('k', { metaKey: true })).toBe('Ctrl+K')
  expect(press('P', { ctrlKey: true, shiftKey: true })).toBe('Ctrl+Shift+P')
  expect(press('Enter', { shiftKey: true })).toBe('Shift+Enter')
  expect(press('ArrowLeft', { altKey: true })).toBe('Alt+ArrowLeft')
})

test('text fields are written in, check boxes are not', () => {
  const field = (type: string): HTMLInputElement => Object.assign(document.createElement('input'), { type })
  expect(isWriting(field('text'))).toBe(true)
  expect(isWriting(document.createElement('textarea'))).toBe(true)
  expect(isWriting(field('checkbox'))).toBe(false)
  expect(isWriting(document.body)).toBe(false)
})

test('narrowing wants every word and puts titles that begin with the first word before others', () => {
  const entries = [
    { title: 'Open models' },
    { title: 'Go to Models' },
    { title: 'Models', note: 'fetch' },
    { title: 'Memory' },
  ]
  expect(narrowed(entries, 'mod').map((entry) => entry.title)).toEqual(['Models', 'Open models', 'Go to Models'])
  expect(narrowed(entries, 'fetch mod')).toEqual([{ title: 'Models', note: 'fetch' }])
  expect(narrowed(entries, ' ')).toEqual(entries)
})

const file = (path: string, size: number, state: MemoryFile['state'] = 'fresh'): MemoryFile => ({
  path,
  bytes: size,
  state,
  needs_none: null,
  tokens: null,
  made_at_ms: null,
  corrected: false,
})

test('areas of the picture are as the bytes, fill the box and do not overlap', () => {
  const root = treeOf([file('a/x.py', 600), file('a/y.py', 200), file('b.py', 200, 'none')])
  const found = tiles(root, 0, 0, 100, 100)
  expect(found.map((tile) => [tile.node.path, Math.round(tile.width * tile.height)])).toEqual([
    ['a', 8000],
    ['b.py', 2000],
  ])
  const [first, second] = found
  expect(
    first && second && (first.x + first.width <= second.x + 0.001 || first.y + first.height <= second.y + 0.001),
  ).toBe(true)
  expect(root.counts).toEqual({ fresh: 2, stale: 0, none: 1, needs_none: 0 })
})

test('a folder that holds one folder alone is joined with it', () => {
  const root = treeOf([file('src/main/java/A.java', 1), file('src/main/java/B.java', 1), file('README', 1)])
  expect(root.children.map((child) => [child.name, child.path])).toContainEqual(['src/main/java', 'src/main/java'])
  expect(nodeAt(root, 'src/main/java').children).toHaveLength(2)
})

test('a diff is read with the numbers of both sides', () => {
  const diff =
    'diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@ def f():\n a\n--- b\n+++ c\n d\n\\ No newline at end of file\n'
  expect(readDiff(diff).slice(1)).toEqual([
    { kind: 'context', old: 3, new: 3, text: 'a' },
    { kind: 'deleted', old: 4, new: null, text: '-- b' },
    { kind: 'added', old: null, new: 4, text: '++ c' },
    { kind: 'context', old: 5, new: 5, text: 'd' },
  ])
})

test('code that was cut out inside a docstring is coloured as code after its end', async () => {
  const colours = await coloursOf('x.py', '    of the header.\n    """\n    while True:\n        read()\n', () => false)
  expect(colours?.get(1)?.map((one) => one.name)).toEqual(['tok-string'])
  expect(colours?.get(3)?.[0]).toEqual({ from: 4, to: 9, name: 'tok-keyword' })
})

test('sizes are decimal and have one decimal from GB on, as in Rust', () => {
  const sizes: [number, string][] = [
    [0, '0 B'],
    [208, '208 B'],
    [999, '999 B'],
    [4_681, '5 kB'],
    [491_400_032, '491 MB'],
    [999_499_999, '999 MB'],
    [999_500_000, '1.0 GB'],
    [1_117_320_768, '1.1 GB'],
    [5_900_000_000, '5.9 GB'],
    [22_020_000_000, '22.0 GB'],
    [999_950_000_000, '1.0 TB'],
  ]
  expect(sizes.map(([n]) => bytes(n))).toEqual(sizes.map(([, written]) => written))
})

test('numbers are written short and with their units', () => {
  expect([short(950), short(12_430), short(3_140_000)]).toEqual(['950', '12.4k', '3.1M'])
  expect([duration(420), duration(12_400), duration(185_000), duration(7_800_000)]).toEqual([
    '0.4 s',
    '12 s',
    '3 min 05 s',
    '2 h 10 min',
  ])
  expect([clock(7_000), clock(760_000), clock(3_731_000)]).toEqual(['0:07', '12:40', '1:02:11'])
  expect([tn('common.files', 1), tn('common.files', 1200)]).toEqual(['1 file', '1,200 files'])
})
