// Owns which of a list's entries fit the words typed, and in which order. It knows titles and notes, nothing else of an
// entry.
type Entry = { title: string; note?: string | undefined; group?: string | undefined }

/**
 * Entries that have every word, those whose title begins with the first word before the others; the given order
 * otherwise.
 */
export function narrowed<E extends Entry>(entries: readonly E[], words: string): E[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  if (wanted.length === 0) return [...entries]
  const first = wanted[0] ?? ''
  const rank = (entry: E): number => {
    const title = entry.title.toLowerCase()
    if (title.startsWith(first)) return 0
    return wanted.every((word) => title.includes(word)) ? 1 : 2
  }
  return entries
    .filter((entry) => {
      const text = `${entry.title} ${entry.note ?? ''} ${entry.group ?? ''}`.toLowerCase()
      return wanted.every((word) => text.includes(word))
    })
    .map((entry, at) => ({ entry, at, rank: rank(entry) }))
    .sort((a, b) => a.rank - b.rank || a.at - b.at)
    .map(({ entry }) => entry)
}
