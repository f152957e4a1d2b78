// The table: draws what is in sight, moves, opens and chooses by keys.
import { fireEvent, render } from '@testing-library/svelte'
import { tick } from 'svelte'
import { expect, test, vi } from 'vitest'
import Listing from './Listing.svelte'

test('of ten thousand rows only those in sight are drawn, and all are counted', () => {
  const { container, getByRole } = render(Listing, { count: 10_000, onopen: () => undefined })
  expect(getByRole('grid').getAttribute('aria-rowcount')).toBe('10001')
  expect(container.querySelectorAll('.line').length).toBeLessThan(60)
})

test('arrows move, Enter opens, Space chooses', async () => {
  const onopen = vi.fn()
  const { getByRole, container } = render(Listing, { count: 100, onopen })
  const grid = getByRole('grid')
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp', 'Enter', ' '])
    await fireEvent.keyDown(grid, { key })
  await tick()
  expect(onopen).toHaveBeenCalledWith(1, 1)
  expect(container.querySelector('output')?.textContent).toBe('1')
  expect(grid.getAttribute('aria-activedescendant')).toMatch(/-1$/)
})
