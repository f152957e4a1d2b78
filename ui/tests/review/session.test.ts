// A review as the window holds it: what of a kept one is taken over, and what it comes to.
import { expect, test } from 'vitest'
import { ReviewSession } from '../../src/features/review/session.svelte'
import type { ReviewState } from '../../src/ipc'
import { bigPatch } from '../script/big_patch'

test('no test is added by itself, and one that is not offered any more is left out', async () => {
  const kept: ReviewState = { files: [], commit_message: null, pull_request: null, tests: [7] }
  window.magis.answer('review', kept)
  window.magis.answer('patch', { ...bigPatch(1, 1), tests: [{ check: 1, path: 'tests/test_part.py', text: '' }] })
  const session = new ReviewSession(5)
  await session.open()
  expect(session.problem).toBeNull()
  const added = async (): Promise<unknown> => (await session.state()).tests
  expect(await added()).toEqual([])
  session.addTest(1, true)
  expect(await added()).toEqual([1])
  session.addTest(1, false)
  expect(await added()).toEqual([])
  session.close()
})

test('a test that was seen to fail and to pass after the review was opened is offered then', async () => {
  const merged = bigPatch(1, 1)
  window.magis.answer('patch', merged)
  const session = new ReviewSession(5)
  await session.open()
  if (session.view !== null) session.view = { ...session.view, outcome: null }
  window.magis.answer('patch', { ...merged, tests: [{ check: 1, path: 'tests/test_part.py', text: '' }] })
  await session.refresh()
  expect(session.patch?.tests.map(({ check }) => check)).toEqual([1])
  session.close()
})
