// Owns the reading of Markdown into a tree of plain blocks and words: GitHub's flavour, raw HTML off. It makes no HTML;
// Markdown.svelte draws the tree as elements. Addresses are kept as text: nothing is fetched or opened.
import { GFM, parser as commonmark, type MarkdownParser } from '@lezer/markdown'
import type { SyntaxNode } from '@lezer/common'

export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'strong' | 'em' | 'strike'; inside: Inline[] }
  | { kind: 'link'; inside: Inline[]; address: string }
  | { kind: 'break' }

export type Block =
  | { kind: 'paragraph'; inside: Inline[] }
  | { kind: 'heading'; level: 1 | 2 | 3 | 4 | 5 | 6; inside: Inline[] }
  | { kind: 'code'; language: string; text: string }
  | { kind: 'quote'; inside: Block[] }
  | { kind: 'list'; ordered: boolean; start: number; items: { done: boolean | null; inside: Block[] }[] }
  | { kind: 'table'; head: Inline[][]; rows: Inline[][][] }
  | { kind: 'rule' }

/**
 * Longer texts are shown as they are: nobody reads a megabyte of rendered Markdown, and its tree would hold the window
 * up.
 */
export const LONGEST_RENDERED = 200_000

const parser: MarkdownParser = commonmark.configure([GFM, { remove: ['HTMLBlock', 'HTMLTag'] }])

export function readMarkdown(source: string): Block[] {
  const text = source.replace(/\r\n?/g, '\n')
  if (text.length > LONGEST_RENDERED) return [{ kind: 'code', language: '', text }]
  return blocks(parser.parse(text).topNode, text)
}

function children(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = []
  for (let child = node.firstChild; child; child = child.nextSibling) found.push(child)
  return found
}

function blocks(parent: SyntaxNode, text: string): Block[] {
  return children(parent).flatMap((node) => block(node, text))
}

function block(node: SyntaxNode, text: string): Block[] {
  const heading = /^(?:ATX|Setext)Heading([1-6])$/.exec(node.name)
  if (heading) return [{ kind: 'heading', level: level(Number(heading[1])), inside: trimmed(inlines(node, text)) }]
  switch (node.name) {
    case 'Paragraph':
    case 'Task':
      return [{ kind: 'paragraph', inside: inlines(node, text) }]
    case 'FencedCode':
    case 'CodeBlock': {
      const info = node.getChild('CodeInfo')
      const parts = node.getChildren('CodeText').map((part) => text.slice(part.from, part.to))
      return [
        {
          kind: 'code',
          language: info ? (text.slice(info.from, info.to).split(/\s/)[0] ?? '') : '',
          text: parts.join(''),
        },
      ]
    }
    case 'Blockquote':
      return [{ kind: 'quote', inside: blocks(node, text) }]
    case 'BulletList':
    case 'OrderedList': {
      const items = node.getChildren('ListItem')
      const mark = items[0]?.getChild('ListMark')
      const start = mark ? Number.parseInt(text.slice(mark.from, mark.to), 10) : 1
      return [
        {
          kind: 'list',
          ordered: node.name === 'OrderedList',
          start: Number.isNaN(start) ? 1 : start,
          items: items.map((item) => {
            const marker = item.getChild('Task')?.getChild('TaskMarker')
            return { done: marker ? /x/i.test(text.slice(marker.from, marker.to)) : null, inside: blocks(item, text) }
          }),
        },
      ]
    }
    case 'Table': {
      const cells = (row: SyntaxNode): Inline[][] => row.getChildren('TableCell').map((cell) => inlines(cell, text))
      const head = node.getChild('TableHeader')
      return [{ kind: 'table', head: head ? cells(head) : [], rows: node.getChildren('TableRow').map(cells) }]
    }
    case 'HorizontalRule':
      return [{ kind: 'rule' }]
    case 'LinkReference':
      return [{ kind: 'paragraph', inside: [{ kind: 'text', text: text.slice(node.from, node.to) }] }]
    default:
      return []
  }
}

const silent = new Set([
  'HeaderMark',
  'EmphasisMark',
  'CodeMark',
  'LinkMark',
  'QuoteMark',
  'ListMark',
  'StrikethroughMark',
  'TaskMarker',
  'TableDelimiter',
])

function inlines(node: SyntaxNode, text: string): Inline[] {
  const found: Inline[] = []
  let at = node.from
  const plain = (to: number): void => {
    if (to > at) found.push({ kind: 'text', text: text.slice(at, to) })
    at = Math.max(at, to)
  }
  for (const child of children(node)) {
    plain(child.from)
    at = child.to
    const inside = inline(child, text)
    if (inside) found.push(inside)
  }
  plain(node.to)
  return found
}

function inline(node: SyntaxNode, text: string): Inline | null {
  if (silent.has(node.name)) return null
  switch (node.name) {
    case 'StrongEmphasis':
      return { kind: 'strong', inside: inlines(node, text) }
    case 'Emphasis':
      return { kind: 'em', inside: inlines(node, text) }
    case 'Strikethrough':
      return { kind: 'strike', inside: inlines(node, text) }
    case 'InlineCode': {
      const marks = node.getChildren('CodeMark')
      return { kind: 'code', text: text.slice(marks[0]?.to ?? node.from, marks.at(-1)?.from ?? node.to).trim() }
    }
    case 'Link':
    case 'Image': {
      const url = node.getChild('URL')
      const marks = node.getChildren('LinkMark')
      const from = marks[0]?.to ?? node.from
      const to = marks[1]?.from ?? node.to
      return {
        kind: 'link',
        inside: [{ kind: 'text', text: text.slice(from, to) }],
        address: url ? text.slice(url.from, url.to) : '',
      }
    }
    case 'URL':
    case 'Autolink':
      return {
        kind: 'link',
        inside: [{ kind: 'text', text: text.slice(node.from, node.to) }],
        address: text.slice(node.from, node.to),
      }
    case 'HardBreak':
      return { kind: 'break' }
    case 'Escape':
      return { kind: 'text', text: text.slice(node.from + 1, node.to) }
    default:
      return { kind: 'text', text: text.slice(node.from, node.to) }
  }
}

/** The mark of a heading leaves its space behind. */
function trimmed(inside: Inline[]): Inline[] {
  return inside.map((one, index) => {
    if (one.kind !== 'text') return one
    const start = index === 0 ? one.text.trimStart() : one.text
    return { kind: 'text' as const, text: index === inside.length - 1 ? start.trimEnd() : start }
  })
}

function level(n: number): 1 | 2 | 3 | 4 | 5 | 6 {
  return n === 1 || n === 2 || n === 3 || n === 4 || n === 5 ? n : 6
}
