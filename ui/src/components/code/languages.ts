// CodeMirror's languages by file name, each loaded when a file of that kind is first shown. No editor is made here.
import type { LanguageSupport, StreamLanguage } from '@codemirror/language'

export type Language = LanguageSupport | StreamLanguage<unknown>

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

const python: Load = async () => (await import('@codemirror/lang-python')).python()
const javascript: Load = async () => (await import('@codemirror/lang-javascript')).javascript({ jsx: true })
const typescript: Load = async () => (await import('@codemirror/lang-javascript')).javascript({ typescript: true })
const tsx: Load = async () => (await import('@codemirror/lang-javascript')).javascript({ jsx: true, typescript: true })
const rust: Load = async () => (await import('@codemirror/lang-rust')).rust()
const go: Load = async () => (await import('@codemirror/lang-go')).go()
const java: Load = async () => (await import('@codemirror/lang-java')).java()
const cpp: Load = async () => (await import('@codemirror/lang-cpp')).cpp()
const json: Load = async () => (await import('@codemirror/lang-json')).json()
const markdown: Load = async () => (await import('@codemirror/lang-markdown')).markdown()
const html: Load = async () => (await import('@codemirror/lang-html')).html()
const css: Load = async () => (await import('@codemirror/lang-css')).css()
const yaml: Load = async () => (await import('@codemirror/lang-yaml')).yaml()
const php: Load = async () => (await import('@codemirror/lang-php')).php()
const shell: Load = async () => {
  const [{ StreamLanguage: Stream }, { shell: mode }] = await Promise.all([
    import('@codemirror/language'),
    import('@codemirror/legacy-modes/mode/shell'),
  ])
  return Stream.define(mode)
}
const ruby: Load = async () => {
  const [{ StreamLanguage: Stream }, { ruby: mode }] = await Promise.all([
    import('@codemirror/language'),
    import('@codemirror/legacy-modes/mode/ruby'),
  ])
  return Stream.define(mode)
}
const toml: Load = async () => {
  const [{ StreamLanguage: Stream }, { toml: mode }] = await Promise.all([
    import('@codemirror/language'),
    import('@codemirror/legacy-modes/mode/toml'),
  ])
  return Stream.define(mode)
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
  kt: java,
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
  css,
  scss: css,
  yml: yaml,
  yaml,
  php,
  sh: shell,
  bash: shell,
  rb: ruby,
  toml,
}
