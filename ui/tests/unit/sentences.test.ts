// @vitest-environment node
// The table of sentences: both languages whole, nothing left over, nothing shouted.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { en, zh_hans } from '../../src/i18n/sentences'
import { zh_hans as chineseCatalog } from '../../src/i18n/zh_hans/catalog'

const english: Record<string, string> = en
const chinese: Record<string, string> = zh_hans
const src = fileURLToPath(new URL('../../src', import.meta.url))

function sources(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) return path.endsWith(join('src', 'i18n')) ? [] : sources(path)
    return /\.(ts|svelte)$/.test(name) ? [readFileSync(path, 'utf8')] : []
  })
}

const names = (sentence: string): string[] => [...sentence.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '').sort()

test('both languages have the same keys', () => {
  expect(Object.keys(chinese).sort()).toEqual(Object.keys(english).sort())
})

test('no sentence is empty', () => {
  const empty = [...Object.entries(english), ...Object.entries(chinese)].filter(
    ([, sentence]) => sentence.trim() === '',
  )
  expect(empty).toEqual([])
})

test('a sentence has the same names in braces in both languages', () => {
  const differing = Object.keys(english).filter(
    (key) => names(english[key] ?? '').join() !== names(chinese[key] ?? '').join(),
  )
  expect(differing).toEqual([])
})

test('every key is used', () => {
  const text = sources(src).join('\n')
  // Keys made at run time: `stage.${stage}`, and the two forms of a counted sentence by their stem.
  const stems = [...text.matchAll(/`([\w.]+\.)\$\{/g)].map((match) => match[1] ?? '')
  const used = (key: string): boolean =>
    text.includes(`'${key}'`) ||
    text.includes(`\`${key}\``) ||
    stems.some((stem) => key.startsWith(stem)) ||
    (/\.(one|other)$/.test(key) &&
      (text.includes(`'${key.replace(/\.(one|other)$/, '')}'`) || stems.some((stem) => key.startsWith(stem))))
  expect(Object.keys(english).filter((key) => !used(key))).toEqual([])
})

test('nothing is shouted, sparkled or called AI', () => {
  const loud = Object.entries({ ...english }).filter(([, sentence]) =>
    /!|\bAI\b|\p{Extended_Pictographic}/u.test(sentence),
  )
  const loudToo = Object.entries({ ...chinese }).filter(([, sentence]) =>
    /[!！]|\bAI\b|人工智能|\p{Extended_Pictographic}/u.test(sentence),
  )
  expect([...loud, ...loudToo]).toEqual([])
})

test('Chinese is written with its own marks', () => {
  const western = Object.entries(chinese).filter(([, sentence]) => /[\u4e00-\u9fff][,;:?]/.test(sentence))
  expect(western).toEqual([])
})

test('every model that is offered has a Chinese sentence, and no other model has one', () => {
  const offered = ['catalog', 'suggestions']
    .map((name) => readFileSync(fileURLToPath(new URL(`../../../models/${name}.toml`, import.meta.url)), 'utf8'))
    .join('\n')
  const ids = [...offered.matchAll(/^(?:id|hub) = "(.+)"$/gm)].map((found) => found[1] ?? '')
  expect(Object.keys(chineseCatalog).sort()).toEqual(ids.sort())
})
