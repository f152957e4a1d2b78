// Which paths fit what was typed: all its words must occur, a hit in the file's name counts more than one in its
// folders.

export function matches(files: readonly string[], typed: string, most: number): string[] {
  const words = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  if (words.length === 0) return []
  const found: { path: string; score: number }[] = []
  for (const path of files) {
    const low = path.toLowerCase()
    const name = low.slice(low.lastIndexOf('/') + 1)
    let score = -path.length / 1000
    for (const word of words) {
      if (!low.includes(word)) {
        score = Number.NaN
        break
      }
      if (name === word) score += 4
      else if (name.startsWith(word)) score += 3
      else if (name.includes(word)) score += 2
      else score += 1
    }
    if (!Number.isNaN(score)) found.push({ path, score })
  }
  return found
    .sort((a, b) => b.score - a.score || a.path.localeCompare(b.path))
    .slice(0, most)
    .map(({ path }) => path)
}
