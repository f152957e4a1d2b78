// What a reviewed file becomes, byte for byte, and how decisions survive the way to Rust and back.
import { describe, expect, test } from 'vitest'
import type { FileDiff } from '../../src/ipc'
import {
  decideFile,
  decideHunk,
  decideLines,
  fromReview,
  hunkState,
  NO_CHOICE,
  partsOf,
  textOf,
  toReview,
  type FileChoice,
} from '../../src/features/review/choice'
import { readPatch } from '../../src/features/review/unified'

const BEFORE = 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n'
const AFTER = 'a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nnew\nk2\nl\n'
const PATCH = `--- a/x.txt
+++ b/x.txt
@@ -1,5 +1,5 @@
 a
-b
+B
 c
 d
 e
@@ -8,5 +8,6 @@
 h
 i
 j
-k
+new
+k2
 l
`

function file(patch = PATCH): FileDiff {
  const [read] = readPatch(patch)
  if (read === undefined) throw new Error('no file in the patch')
  // Rust counts hunks from 1 over the whole patch.
  return { ...read, hunks: read.hunks.map((hunk, index) => ({ ...hunk, number: index + 1 })) }
}

function hunk(diff: FileDiff, index: number) {
  const found = diff.hunks[index]
  if (found === undefined) throw new Error(`no hunk ${index}`)
  return found
}

/** The text after the way to Rust and back, which has to be the same. */
function roundTrip(diff: FileDiff, choice: FileChoice, before = BEFORE, after = AFTER): string {
  const text = textOf(diff, choice, before, after)
  const back = fromReview(diff, toReview(diff, choice, { before, after }), { before, after })
  expect(textOf(diff, back, before, after)).toBe(text)
  expect(diff.hunks.map((one) => hunkState(back, one))).toEqual(diff.hunks.map((one) => hunkState(choice, one)))
  return text
}

describe('the text of a reviewed file', () => {
  const diff = file()

  test('an undecided hunk stays out, an accepted one comes in', () => {
    expect(roundTrip(diff, NO_CHOICE)).toBe(BEFORE)
    expect(roundTrip(diff, decideHunk(NO_CHOICE, 2, 'accepted'))).toBe(BEFORE.replace('k\n', 'new\nk2\n'))
    expect(roundTrip(diff, decideFile(NO_CHOICE, diff, 'accepted'))).toBe(AFTER)
    expect(roundTrip(diff, decideFile(NO_CHOICE, diff, 'rejected'))).toBe(BEFORE)
  })

  test('one line of a hunk can be left out', () => {
    const accepted = decideFile(NO_CHOICE, diff, 'accepted')
    const withoutNew = decideLines(accepted, hunk(diff, 1), [4], 'rejected')
    expect(hunkState(withoutNew, hunk(diff, 1))).toBe('partly')
    expect(roundTrip(diff, withoutNew)).toBe(AFTER.replace('new\n', ''))
  })

  test('one line of an open hunk can be taken alone', () => {
    const onlyNew = decideLines(NO_CHOICE, hunk(diff, 1), [4], 'accepted')
    expect(roundTrip(diff, onlyNew)).toBe(BEFORE.replace('k\n', 'k\nnew\n'))
  })

  test('rejecting all lines one by one rejects the hunk', () => {
    let choice = decideHunk(NO_CHOICE, 1, 'accepted')
    for (const line of [1, 2]) choice = decideLines(choice, hunk(diff, 0), [line], 'rejected')
    expect(hunkState(choice, hunk(diff, 0))).toBe('rejected')
    expect(toReview(diff, choice, null).edited).toBeNull()
  })

  test('a whole decision forgets the lines', () => {
    const mixed = decideLines(decideHunk(NO_CHOICE, 2, 'accepted'), hunk(diff, 1), [4], 'rejected')
    expect(decideHunk(mixed, 2, 'accepted').turned.size).toBe(0)
  })
})

test('line endings and a missing final newline stay as they are', () => {
  const before = 'one\r\ntwo\r\nthree'
  const after = 'one\r\n2\r\nthree\r\nfour'
  const diff = file(
    '--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n-three\n+three\n+four\n\\ No newline at end of file\n',
  )
  expect(roundTrip(diff, decideFile(NO_CHOICE, diff, 'accepted'), before, after)).toBe(after)
  const both = decideLines(decideFile(NO_CHOICE, diff, 'accepted'), hunk(diff, 0), [3, 4], 'rejected')
  expect(textOf(diff, both, before, after)).toBe('one\r\n2\r\nthree\r\nfour')
})

test('a new file and a deleted one follow from their lines', () => {
  const added = file('--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,2 @@\n+x = 1\n+y = 2\n')
  expect(added.kind).toBe('added')
  expect(textOf(added, decideFile(NO_CHOICE, added, 'accepted'), '', 'x = 1\ny = 2\n')).toBe('x = 1\ny = 2\n')
  const gone = file('--- a/old.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x = 1\n-y = 2\n')
  expect(gone.kind).toBe('deleted')
  expect(textOf(gone, decideFile(NO_CHOICE, gone, 'accepted'), 'x = 1\ny = 2\n', '')).toBe('')
})

test('a text written by hand comes back as one, and a text that follows from lines as decisions', () => {
  const diff = file()
  const texts = { before: BEFORE, after: AFTER }
  const byHand = fromReview(diff, { path: 'x.txt', seen: true, decisions: [], edited: 'wholly mine\n' }, texts)
  expect(byHand).toMatchObject({ text: 'wholly mine\n', seen: true })
  const byLine = fromReview(
    diff,
    { path: 'x.txt', seen: false, decisions: [], edited: BEFORE.replace('b\n', 'B\n') },
    texts,
  )
  expect(byLine.text).toBeNull()
  expect(diff.hunks.map((one) => hunkState(byLine, one))).toEqual(['accepted', 'open'])
})

test('every choice of lines survives a restart', () => {
  const diff = file()
  const changes = [
    [0, 1],
    [0, 2],
    [1, 3],
    [1, 4],
    [1, 5],
  ] as const
  for (let mask = 0; mask < 2 ** changes.length; mask += 1) {
    let choice = decideFile(NO_CHOICE, diff, 'accepted')
    for (const [bit, [at, line]] of changes.entries()) {
      if ((mask & (1 << bit)) === 0) choice = decideLines(choice, hunk(diff, at), [line], 'rejected')
    }
    roundTrip(diff, choice)
  }
})

test('a hunk splits at its context lines', () => {
  const diff = file('--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n-a\n+A\n b\n c\n-d\n+D\n e\n')
  expect(partsOf(hunk(diff, 0))).toEqual([
    [0, 1],
    [4, 5],
  ])
})
