// The base version of a file of a run, asked for once, and the text that hunks make of it. It colours nothing.
import { ipc, type HunkView, type RunId } from '../../ipc'
import { linesOf } from '../review/choice'

/** Texts kept; a run has few files, and the rest is asked for again. */
const MOST = 24
const known = new Map<string, Promise<string>>()

export function baseText(run: RunId, path: string): Promise<string> {
  const key = `${run} ${path}`
  let text = known.get(key)
  if (text === undefined) {
    text = ipc.baseFile(run, path)
    known.set(key, text)
    // A failure is not kept: the repository may come back.
    text.catch(() => known.delete(key))
    const [oldest] = known.keys()
    if (known.size > MOST && oldest !== undefined) known.delete(oldest)
  }
  return text
}

/** `base` with all hunks applied, for its colours; line ends are not kept. */
export function patchedText(base: string, hunks: readonly HunkView[]): string {
  const old = linesOf(base).map((line) => line.replace(/\r?\n$/, ''))
  const out: string[] = []
  let next = 1
  for (const hunk of hunks) {
    const start = hunk.old_lines === 0 ? hunk.old_start + 1 : hunk.old_start
    for (; next < start; next += 1) out.push(old[next - 1] ?? '')
    for (const line of hunk.lines) {
      if (line.kind !== 'deleted') out.push(line.text)
      if (line.kind !== 'added') next += 1
    }
  }
  for (; next <= old.length; next += 1) out.push(old[next - 1] ?? '')
  return out.join('\n')
}
