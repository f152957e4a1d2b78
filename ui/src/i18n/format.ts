// Owns how numbers, times and sizes are written, in the person's own format. No sentences.
import { dateFormat, numberFormat } from './formatters'
import { language, localeTag, tn } from './index.svelte'

/** A whole or decimal number with the locale's marks. */
export function number(n: number, digits = 0): string {
  return numberFormat(localeTag(), { maximumFractionDigits: digits }).format(n)
}

/** Tokens and the like, short: 950, 12.4k, 3.1M. */
export function short(n: number): string {
  if (n < 1000) return number(n)
  if (n < 1_000_000) return `${number(n / 1000, n < 100_000 ? 1 : 0)}k`
  return `${number(n / 1_000_000, 1)}M`
}

/** A number of tokens, short, with its word. */
export function tokens(n: number): string {
  return tn('common.tokens', n, { n: short(n) })
}

export function percent(share: number): string {
  return numberFormat(localeTag(), { style: 'percent', maximumFractionDigits: 0 }).format(share)
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/**
 * Decimal units, as disks are sold and file managers count: 208 B, 491 MB, 5.9 GB; from GB on with one decimal. Rust
 * writes sizes by the same rule.
 */
export function bytes(n: number): string {
  let value = n
  let unit = 0
  const digits = (): number => (unit < 3 ? 0 : 1)
  // What would be rounded up to 1000 is one of the next unit.
  while (Number(value.toFixed(digits())) >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  const written = numberFormat(localeTag(), {
    minimumFractionDigits: digits(),
    maximumFractionDigits: digits(),
  }).format(value)
  return `${written} ${units[unit] ?? 'B'}`
}

/** A length of time: 0.4 s, 12 s, 3 min 05 s, 2 h 10 min. */
export function duration(ms: number): string {
  const words =
    language() === 'en' ? { s: ' s', min: ' min', h: ' h', gap: ' ' } : { s: ' 秒', min: ' 分', h: ' 小时', gap: ' ' }
  const seconds = ms / 1000
  if (seconds < 10) return `${number(seconds, 1)}${words.s}`
  if (seconds < 60) return `${number(Math.round(seconds))}${words.s}`
  const whole = Math.round(seconds)
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes}${words.min}${words.gap}${String(whole % 60).padStart(2, '0')}${words.s}`
  return `${Math.floor(minutes / 60)}${words.h}${words.gap}${String(minutes % 60).padStart(2, '0')}${words.min}`
}

/** A running clock that keeps its width: 0:07, 12:40, 1:02:11. */
export function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const rest = `${String(Math.floor(seconds / 60) % 60).padStart(seconds >= 3600 ? 2 : 1, '0')}:${String(seconds % 60).padStart(2, '0')}`
  return seconds >= 3600 ? `${Math.floor(seconds / 3600)}:${rest}` : rest
}

/** A moment: the time today, the day this year, the date otherwise. */
export function when(ms: number, now: number = Date.now()): string {
  const then = new Date(ms)
  const today = new Date(now)
  const sameDay = then.toDateString() === today.toDateString()
  const options: Intl.DateTimeFormatOptions = sameDay
    ? { hour: '2-digit', minute: '2-digit' }
    : then.getFullYear() === today.getFullYear()
      ? { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' }
      : { year: 'numeric', month: 'short', day: 'numeric' }
  return dateFormat(localeTag(), options).format(then)
}

/** A moment in full, for tooltips. */
export function moment(ms: number): string {
  return dateFormat(localeTag(), { dateStyle: 'long', timeStyle: 'short' }).format(new Date(ms))
}

export function day(iso: string): string {
  return dateFormat(localeTag(), { month: 'short', day: 'numeric' }).format(new Date(`${iso}T00:00:00`))
}
