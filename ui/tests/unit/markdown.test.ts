// Markdown becomes a tree of words; markup of other kinds stays text.
import { render } from '@testing-library/svelte'
import { expect, test } from 'vitest'
import Markdown from '../../src/components/Markdown.svelte'
import { LONGEST_RENDERED, readMarkdown } from '../../src/components/markdown'
import { hostile } from '../script/scenes'

test('headings, lists, code and tables are read', () => {
  expect(readMarkdown('## Title\n\n- [x] a\n- [ ] b\n\n```python\nx = 1\n```\n\n| h |\n|---|\n| c |')).toEqual([
    { kind: 'heading', level: 2, inside: [{ kind: 'text', text: 'Title' }] },
    {
      kind: 'list',
      ordered: false,
      start: 1,
      items: [
        { done: true, inside: [{ kind: 'paragraph', inside: [{ kind: 'text', text: ' a' }] }] },
        { done: false, inside: [{ kind: 'paragraph', inside: [{ kind: 'text', text: ' b' }] }] },
      ],
    },
    { kind: 'code', language: 'python', text: 'x = 1' },
    { kind: 'table', head: [[{ kind: 'text', text: 'h' }]], rows: [[[{ kind: 'text', text: 'c' }]]] },
  ])
})

test('an indented block of code keeps its lines as they are', () => {
  expect(readMarkdown('Trace:\n\n    File "a.py"\n\n      raise\n    end\n\nThat is all.')[1]).toEqual({
    kind: 'code',
    language: '',
    text: 'File "a.py"\n\n  raise\nend',
  })
})

test('HTML, handlers and script addresses stay text', () => {
  const { container } = render(Markdown, {
    text: `${hostile}\n\n${hostile}\n\n> ${hostile}\n\n- ${hostile}\n\n\`\`\`html\n${hostile}\n\`\`\``,
  })
  expect(container.querySelectorAll('img, script, b, a, [onclick], [onerror]')).toHaveLength(0)
  expect(container.textContent).toContain('<script>window.acted=1</script>')
})

test('a link shows its words and leads nowhere', () => {
  const { container } = render(Markdown, { text: '[the page](https://example.org/x) and https://example.org' })
  expect(container.querySelectorAll('a')).toHaveLength(0)
  expect(container.querySelector('[title="https://example.org/x"]')?.textContent).toBe('the page')
})

test('a megabyte is shown as it is instead of being rendered', () => {
  const text = '**x** '.repeat(LONGEST_RENDERED / 4)
  expect(readMarkdown(text)).toEqual([{ kind: 'code', language: '', text }])
})
