// A system without a language of its own does not end the page.
import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => {
  Reflect.deleteProperty(navigator, 'language')
  Reflect.deleteProperty(navigator, 'languages')
  vi.resetModules()
})

async function check(language: string, languages: string[], expected: string): Promise<void> {
  Object.defineProperty(navigator, 'language', { value: language, configurable: true })
  Object.defineProperty(navigator, 'languages', { value: languages, configurable: true })
  await import('../../src/i18n/own_locale')
  expect(navigator.language).toBe(expected)
  expect(() => new Intl.NumberFormat(navigator.language)).not.toThrow()
}

test('a language that is none becomes one', () => check('C', ['C'], 'en'))
test('another language of the person is taken', () => check('C', ['C', 'zh-CN'], 'zh-CN'))
test('a real one stays', () => check('de-AT', ['de-AT'], 'de-AT'))
