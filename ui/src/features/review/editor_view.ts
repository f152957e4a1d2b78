// CodeMirror for one file: its text over or beside the base version, coloured as the rest of the window. Loaded lazily.
// It knows no review and saves nothing.
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { goToNextChunk, goToPreviousChunk, MergeView, unifiedMergeView } from '@codemirror/merge'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { EditorState, type Extension } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { classHighlighter } from '@lezer/highlight'
import { languageOf } from '../../components/code/languages'
import { ALL_UNSEEN, numberOf } from '../../components/visible'

export interface EditorHandle {
  text: () => string
  destroy: () => void
}

export interface EditorWish {
  readonly parent: HTMLElement
  readonly path: string
  readonly before: string
  readonly now: string
  readonly split: boolean
  /** The line to begin at, from 1. */
  readonly line: number
  /** What a screen reader says. */
  readonly name: string
  /** CodeMirror's own words in the language in force. */
  readonly words: Readonly<Record<string, string>>
}

export async function openEditor(wish: EditorWish): Promise<EditorHandle> {
  const language = await languageOf(wish.path)
  const ending = wish.now.includes('\r\n') ? '\r\n' : '\n'
  const shared: Extension[] = [
    lineNumbers(),
    drawSelection(),
    highlightSpecialChars({ specialChars: ALL_UNSEEN, render: unseen }),
    bracketMatching(),
    highlightSelectionMatches(),
    search({ top: true }),
    syntaxHighlighting(classHighlighter),
    LOOK,
    EditorState.tabSize.of(4),
    EditorState.phrases.of(wish.words),
    ...(language === null ? [] : [language as Extension]),
  ]
  const own: Extension[] = [
    history(),
    indentOnInput(),
    highlightActiveLine(),
    EditorView.contentAttributes.of({ 'aria-label': wish.name, tabindex: '0' }),
    keymap.of([
      { key: 'Alt-ArrowDown', run: goToNextChunk },
      { key: 'Alt-ArrowUp', run: goToPreviousChunk },
      indentWithTab,
      ...defaultKeymap.filter(({ key }) => key !== 'Mod-Enter' && key !== 'Escape'),
      ...historyKeymap,
      ...searchKeymap,
    ]),
  ]
  const collapse = { margin: 4, minSize: 8 }
  if (wish.split) {
    const merge = new MergeView({
      parent: wish.parent,
      a: { doc: wish.before, extensions: [shared, EditorState.readOnly.of(true), EditorView.editable.of(false)] },
      b: { doc: wish.now, extensions: [shared, own] },
      collapseUnchanged: collapse,
      gutter: true,
    })
    start(merge.b, wish.line)
    return { text: () => textOf(merge.b.state, ending), destroy: () => merge.destroy() }
  }
  const view = new EditorView({
    parent: wish.parent,
    doc: wish.now,
    extensions: [
      shared,
      own,
      unifiedMergeView({ original: wish.before, mergeControls: false, gutter: true, collapseUnchanged: collapse }),
    ],
  })
  start(view, wish.line)
  return { text: () => textOf(view.state, ending), destroy: () => view.destroy() }
}

/** The file's own line ends; a file that mixes them gets its most frequent kind only where it is edited here. */
function textOf(state: EditorState, ending: string): string {
  return state.doc.toJSON().join(ending)
}

function start(view: EditorView, line: number): void {
  const at = view.state.doc.line(Math.max(1, Math.min(view.state.doc.lines, line))).from
  view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) })
  view.focus()
}

const LOOK = EditorView.theme({
  '&': { color: 'var(--code-name)', backgroundColor: 'var(--page)', fontSize: 'var(--text-code)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', fontVariantLigatures: 'none' },
  '.cm-content': { caretColor: 'var(--accent)' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '.cm-gutters': { backgroundColor: 'var(--page)', color: 'var(--ink-3)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent-soft) 40%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 28%, transparent)',
  },
  '.cm-selectionMatch': { backgroundColor: 'color-mix(in srgb, var(--warn) 22%, transparent)' },
  '.cm-changedLine, .cm-insertedLine': { backgroundColor: 'var(--added-soft) !important' },
  '.cm-deletedChunk, .cm-deletedLine': { backgroundColor: 'var(--removed-soft) !important' },
  // Underlined, not filled: colours of code are read well on the soft ground alone.
  '.cm-changedText': {
    background: 'linear-gradient(var(--added), var(--added)) bottom / 100% 1.5px no-repeat !important',
  },
  '.cm-deletedText, .cm-deletedChunk .cm-deletedText': {
    background: 'linear-gradient(var(--removed), var(--removed)) bottom / 100% 1.5px no-repeat !important',
  },
  '.cm-collapsedLines': {
    background: 'var(--sunken)',
    color: 'var(--ink-2)',
    fontFamily: 'var(--font)',
    padding: '3px 12px',
  },
  // Its signs are in none of the window's fonts.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"" !important' },
  '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--ink)' },
  '.cm-panels.cm-panels-top': { borderBottom: '1px solid var(--line-soft)' },
  '.cm-textfield, .cm-button': {
    background: 'var(--page)',
    border: '1px solid var(--line-hard)',
    borderRadius: 'var(--radius-s)',
    color: 'var(--ink)',
    fontSize: 'var(--text-s)',
  },
})

function unseen(code: number): HTMLElement {
  const mark = document.createElement('span')
  mark.className = 'unseen-character'
  mark.textContent = numberOf(String.fromCodePoint(code))
  return mark
}
