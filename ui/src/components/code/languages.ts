// CodeMirror's languages by file name, each loaded when a file of that kind is first shown. No editor is made here.
import type { Language as Grammar, StreamParser } from '@codemirror/language'

/** The grammar alone, without what an editor would complete or snippet with it. */
export type Language = Grammar

/** The language of a path, or null where none is known; loading fails only with the bundle itself. */
export async function languageOf(path: string): Promise<Language | null> {
  const name = (path.split('/').pop() ?? path).toLowerCase()
  const dot = name.lastIndexOf('.')
  const load = LOADERS[dot < 0 ? name : name.slice(dot + 1)]
  if (load === undefined) return null
  let loading = loaded.get(load)
  if (loading === undefined) loaded.set(load, (loading = load()))
  return loading
}

type Load = () => Promise<Language>

const loaded = new Map<Load, Promise<Language>>()

const javascript: Load = async () => (await import('@codemirror/lang-javascript')).jsxLanguage
const typescript: Load = async () => (await import('@codemirror/lang-javascript')).typescriptLanguage
const tsx: Load = async () => (await import('@codemirror/lang-javascript')).tsxLanguage
const json: Load = async () => (await import('@codemirror/lang-json')).jsonLanguage
const css: Load = async () => (await import('@codemirror/lang-css')).cssLanguage
/** The parser that reads issues and summaries knows Markdown already. */
const markdown: Load = async () => {
  const [{ Language: Made, defineLanguageFacet }, { GFM, parser }] = await Promise.all([
    import('@codemirror/language'),
    import('@lezer/markdown'),
  ])
  return new Made(defineLanguageFacet(), parser.configure(GFM), [], 'markdown')
}

// The line-by-line modes colour as well for reading and are a tenth of the size of a grammar.
const python: Load = async () => stream((await import('@codemirror/legacy-modes/mode/python')).python)
const cpp: Load = async () => stream((await import('@codemirror/legacy-modes/mode/clike')).cpp)
const java: Load = async () => stream((await import('@codemirror/legacy-modes/mode/clike')).java)
const kotlin: Load = async () => stream((await import('@codemirror/legacy-modes/mode/clike')).kotlin)
const csharp: Load = async () => stream((await import('@codemirror/legacy-modes/mode/clike')).csharp)
const scala: Load = async () => stream((await import('@codemirror/legacy-modes/mode/clike')).scala)
const dart: Load = async () => stream((await import('@codemirror/legacy-modes/mode/clike')).dart)
const rust: Load = async () => stream((await import('@codemirror/legacy-modes/mode/rust')).rust)
const go: Load = async () => stream((await import('@codemirror/legacy-modes/mode/go')).go)
const swift: Load = async () => stream((await import('@codemirror/legacy-modes/mode/swift')).swift)
const html: Load = async () => stream((await import('@codemirror/legacy-modes/mode/xml')).html)
const xml: Load = async () => stream((await import('@codemirror/legacy-modes/mode/xml')).xml)
const yaml: Load = async () => stream((await import('@codemirror/legacy-modes/mode/yaml')).yaml)
const shell: Load = async () => stream((await import('@codemirror/legacy-modes/mode/shell')).shell)
const ruby: Load = async () => stream((await import('@codemirror/legacy-modes/mode/ruby')).ruby)
const toml: Load = async () => stream((await import('@codemirror/legacy-modes/mode/toml')).toml)
const lua: Load = async () => stream((await import('@codemirror/legacy-modes/mode/lua')).lua)

async function stream<State>(mode: StreamParser<State>): Promise<Language> {
  return (await import('@codemirror/language')).StreamLanguage.define(mode)
}

const LOADERS: Readonly<Record<string, Load>> = {
  py: python,
  pyi: python,
  pyx: python,
  js: javascript,
  jsx: javascript,
  mjs: javascript,
  cjs: javascript,
  ts: typescript,
  mts: typescript,
  cts: typescript,
  tsx,
  rs: rust,
  go,
  java,
  kt: kotlin,
  cs: csharp,
  scala,
  dart,
  swift,
  lua,
  c: cpp,
  h: cpp,
  cc: cpp,
  cpp,
  cxx: cpp,
  hpp: cpp,
  hh: cpp,
  json,
  md: markdown,
  html,
  htm: html,
  svelte: html,
  vue: html,
  xml,
  svg: xml,
  css,
  scss: css,
  yml: yaml,
  yaml,
  sh: shell,
  bash: shell,
  rb: ruby,
  toml,
}
