// Where tasks stand in the picture of a plan, which arrows are drawn, and where the arrow keys lead.
import { describe, expect, test } from 'vitest'
import { MEASURES, neighbour, planPicture } from '../../src/features/solve/plan_layout'

const GROUPS = [[1, 2, 3], [4], [5, 6]]
const STEPS = [
  { task: 1, after: [] },
  { task: 2, after: [] },
  { task: 3, after: [] },
  { task: 4, after: [1, 3] },
  { task: 5, after: [4] },
  { task: 6, after: [1, 4] },
]

describe('the picture of a plan', () => {
  const picture = planPicture(GROUPS, STEPS)

  test('parallel tasks share a column and do not overlap', () => {
    const first = picture.tasks.filter((task) => task.column === 0)
    expect(first.map((task) => task.task)).toEqual([1, 2, 3])
    expect(new Set(first.map((task) => task.x)).size).toBe(1)
    for (const [index, task] of first.entries()) {
      const next = first[index + 1]
      if (next !== undefined) expect(next.y - task.y).toBeGreaterThanOrEqual(MEASURES.height)
    }
  })

  test('everything lies within the picture', () => {
    for (const task of picture.tasks) {
      expect(task.x + MEASURES.width).toBeLessThanOrEqual(picture.width)
      expect(task.y + MEASURES.height).toBeLessThanOrEqual(picture.height)
    }
  })

  test('an arrow that follows from others is not drawn', () => {
    expect(picture.arrows.map(({ from, to }) => `${from}-${to}`)).toEqual(['1-4', '3-4', '4-5', '4-6'])
  })

  test('arrow keys walk between columns and within one, and stay at the edge', () => {
    expect(neighbour(picture, 1, 'ArrowDown')).toBe(2)
    expect(neighbour(picture, 2, 'ArrowRight')).toBe(4)
    expect(neighbour(picture, 4, 'ArrowRight')).toBe(5)
    expect(neighbour(picture, 5, 'ArrowUp')).toBe(5)
    expect(neighbour(picture, 1, 'ArrowLeft')).toBe(1)
  })
})

test('an empty plan has a picture of nothing', () => {
  expect(planPicture([], [])).toMatchObject({ tasks: [], arrows: [] })
})

test('a damaged plan that waits in a circle is still drawn', () => {
  const picture = planPicture(
    [[1], [2]],
    [
      { task: 1, after: [2] },
      { task: 2, after: [1] },
    ],
  )
  expect(picture.tasks).toHaveLength(2)
})
