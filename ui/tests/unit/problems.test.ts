// @vitest-environment node
// Problems from Rust in the language in force: by code and by what they name, else as Rust says them.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { setLanguage } from '../../src/i18n/index.svelte'
import { told } from '../../src/i18n/problems'
import { zh_hans } from '../../src/i18n/zh_hans/problems'
import type { Problem } from '../../src/ipc'

afterEach(() => setLanguage('en'))

const over: Problem = {
  code: 'run_over',
  message: 'Run 3 is over.',
  remedy: 'Run it again from a stage.',
  given: { run: '3' },
}
const rust = fileURLToPath(new URL('../../../src-tauri', import.meta.url))

function sources(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? sources(path) : name.endsWith('.rs') ? [readFileSync(path, 'utf8')] : []
  })
}

test('in English a problem is said as Rust says it', () => {
  setLanguage('en')
  expect(told(over)).toMatchObject({ message: 'Run 3 is over.', remedy: 'Run it again from a stage.' })
})

test('in Chinese it is said by its code, with what it names', () => {
  setLanguage('zh_hans')
  expect(told(over)).toEqual({ message: '运行 3 已结束。', remedy: '请从某个阶段重新运行。' })
})

test('a problem that names too little, or has no sentence, stays as Rust says it', () => {
  setLanguage('zh_hans')
  expect(told({ ...over, given: null }).message).toBe('Run 3 is over.')
  expect(told({ ...over, given: { path: 'a' } }).message).toBe('Run 3 is over.')
  expect(told({ code: 'constructor', message: 'Odd.', remedy: null }).message).toBe('Odd.')
})

test('what is named stands in the sentence as it is', () => {
  setLanguage('zh_hans')
  expect(told({ ...over, given: { run: '{run} $& <b>' } }).message).toBe('运行 {run} $& <b> 已结束。')
})

test('every code with a sentence is one that Rust tells', () => {
  const text = [
    ...sources(join(rust, 'src')),
    ...['magis-repo', 'magis-store'].flatMap((crate) => sources(join(rust, 'crates', crate, 'src'))),
  ].join('\n')
  expect(Object.keys(zh_hans).filter((code) => !text.includes(`"${code}"`))).toEqual([])
})

test('Chinese sentences are whole, and written with their own marks', () => {
  const said = Object.values(zh_hans).flatMap((one) => (one === undefined ? [] : [one.message, one.remedy ?? '。']))
  expect(said.filter((sentence) => !sentence.endsWith('。') || /[\u4e00-\u9fff][,;:?!]/.test(sentence))).toEqual([])
})
