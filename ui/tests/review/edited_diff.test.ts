// The diff of a text written by hand has to lead from the old text to the new one.
import { expect, test } from 'vitest'
import { editedDiff, lineDiff } from '../../src/features/review/edited_diff'
import type { FileDiff } from '../../src/ipc'

function check(before: string, after: string, expected: string): void {
  const lines = lineDiff([...before], [...after])
  expect(
    lines
      .filter((line) => line.kind !== 'added')
      .map((line) => line.text)
      .join(''),
  ).toBe(before)
  expect(
    lines
      .filter((line) => line.kind !== 'deleted')
      .map((line) => line.text)
      .join(''),
  ).toBe(after)
  expect(
    lines.map((line) => ({ context: line.text, added: `+${line.text}`, deleted: `-${line.text}` })[line.kind]).join(''),
  ).toBe(expected)
}

test('the shortest way from one text to the other', () => {
  check('abcabba', 'cbabac', '-a-bc+bab-ba+c')
  check('', 'ab', '+a+b')
  check('ab', '', '-a-b')
  check('same', 'same', 'same')
  check('abcdef', 'abXdef', 'ab-c+Xdef')
})

test('any two texts are led from one to the other', () => {
  let seed = 7
  const random = (below: number): number => (seed = (seed * 1103515245 + 12345) % 2147483648) % below
  for (let round = 0; round < 200; round += 1) {
    const make = (): string[] => Array.from({ length: random(30) }, () => 'abc'.charAt(random(3)))
    const [before, after] = [make(), make()]
    const lines = lineDiff(before, after)
    expect(lines.filter((line) => line.kind !== 'added').map((line) => line.text)).toEqual(before)
    expect(lines.filter((line) => line.kind !== 'deleted').map((line) => line.text)).toEqual(after)
  }
})

test('hunks have three lines of context and join where these would touch', () => {
  const file: FileDiff = { path: 'x', old_path: null, kind: 'modified', binary: false, added: 0, deleted: 0, hunks: [] }
  const before = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`)
  const after = before.map((line, index) => ([9, 14, 34].includes(index) ? `new ${line}` : line))
  const diff = editedDiff(file, before.join(''), after.join(''))
  expect(
    diff.hunks.map(({ old_start, old_lines, new_start, new_lines }) => [old_start, old_lines, new_start, new_lines]),
  ).toEqual([
    [7, 12, 7, 12],
    [32, 7, 32, 7],
  ])
  expect([diff.added, diff.deleted]).toEqual([3, 3])
})
