// Two people of one name: the role stands beside it in words, not in a hue alone.
import { render } from '@testing-library/svelte'
import { beforeEach, expect, test } from 'vitest'
import AgentMark from '../../src/components/AgentMark.svelte'
import { setLanguage } from '../../src/i18n/index.svelte'

beforeEach(() => setLanguage('en'))

const shown = (agent: 'developer' | 'qa_engineer' | 'manager', name?: string): string | undefined =>
  render(AgentMark, { agent, ...(name === undefined ? {} : { name }) })
    .container.textContent?.replace(/\s+/g, ' ')
    .trim()

test('the role stands beside a name, and once where the name is the role', () => {
  expect(shown('developer', 'John Doe')).toBe('John Doe Developer')
  expect(shown('qa_engineer', 'John Doe 2')).toBe('John Doe 2 QA Engineer')
  expect(shown('qa_engineer', 'QA engineer')).toBe('QA engineer')
  expect(shown('manager')).toBe('Manager')
})
