// Reads text in git's unified form into hunks, for the diff of an attempt and for the outline of a merge.
// It does not make diffs and knows nothing of decisions.
import type { DiffLine, FileDiff, HunkView } from '../../ipc'

const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/

/** All files of a patch; text before the first hunk of a single file without `diff --git` belongs to that file. */
export function readPatch(patch: string): FileDiff[] {
  const files: FileDiff[] = []
  let file: FileDiff | null = null
  let hunk: HunkView | null = null
  let oldLine = 0
  let newLine = 0
  let oldLeft = 0
  let newLeft = 0
  for (const raw of patch.split('\n')) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
    if (hunk !== null && file !== null && (oldLeft > 0 || newLeft > 0) && /^([ +\\-]|$)/.test(line)) {
      const mark = line.charAt(0)
      if (mark === '\\') continue
      const read = lineOf(mark, line.slice(1), oldLine, newLine)
      if (read.kind !== 'added') {
        oldLine += 1
        oldLeft -= 1
      }
      if (read.kind !== 'deleted') {
        newLine += 1
        newLeft -= 1
      }
      if (read.kind === 'added') file.added += 1
      if (read.kind === 'deleted') file.deleted += 1
      hunk.lines.push(read)
      continue
    }
    if (line.startsWith('diff --git ')) {
      file = emptyFile(pathOfGitLine(line))
      files.push(file)
      hunk = null
      continue
    }
    const header = HEADER.exec(line)
    if (header !== null) {
      file ??= startFile(files)
      oldLine = Number(header[1])
      newLine = Number(header[3])
      oldLeft = header[2] === undefined ? 1 : Number(header[2])
      newLeft = header[4] === undefined ? 1 : Number(header[4])
      hunk = {
        number: file.hunks.length,
        header: header[5] ?? '',
        old_start: oldLine,
        old_lines: oldLeft,
        new_start: newLine,
        new_lines: newLeft,
        lines: [],
        tasks: [],
      }
      file.hunks.push(hunk)
      continue
    }
    if (line.startsWith('--- ') || line.startsWith('+++ ')) {
      if (file === null || (line.startsWith('--- ') && file.hunks.length > 0)) file = startFile(files)
      const path = pathOfSide(line.slice(4))
      if (path === null) file.kind = line.startsWith('--- ') ? 'added' : 'deleted'
      else if (line.startsWith('+++ ') || file.path === '') file.path = path
      continue
    }
    if (file !== null) readExtended(file, line)
  }
  return files
}

/** The hunks of the first file of a patch. */
export function readHunks(patch: string): HunkView[] {
  return readPatch(patch)[0]?.hunks ?? []
}

/** A hunk in unified form again, with its `@@` line; what is copied. */
export function writeHunk(hunk: HunkView): string {
  const head = `@@ -${hunk.old_start},${hunk.old_lines} +${hunk.new_start},${hunk.new_lines} @@ ${hunk.header}`
  return [head.trimEnd(), ...hunk.lines.map((line) => mark(line.kind) + line.text)].join('\n') + '\n'
}

/** The sign of a line in unified form. */
export function mark(kind: DiffLine['kind']): '+' | '-' | ' ' {
  if (kind === 'added') return '+'
  return kind === 'deleted' ? '-' : ' '
}

function lineOf(sign: string, text: string, oldLine: number, newLine: number): DiffLine {
  if (sign === '+') return { kind: 'added', old: null, new: newLine, text }
  if (sign === '-') return { kind: 'deleted', old: oldLine, new: null, text }
  return { kind: 'context', old: oldLine, new: newLine, text }
}

function emptyFile(path: string): FileDiff {
  return { path, old_path: null, kind: 'modified', binary: false, added: 0, deleted: 0, hunks: [] }
}

function startFile(files: FileDiff[]): FileDiff {
  const file = emptyFile('')
  files.push(file)
  return file
}

function readExtended(file: FileDiff, line: string): void {
  if (line.startsWith('new file mode')) file.kind = 'added'
  else if (line.startsWith('deleted file mode')) file.kind = 'deleted'
  else if (line.startsWith('rename from ')) {
    file.kind = 'renamed'
    file.old_path = unquoted(line.slice('rename from '.length))
  } else if (line.startsWith('rename to ')) file.path = unquoted(line.slice('rename to '.length))
  else if (line.startsWith('Binary files ')) file.binary = true
}

function pathOfGitLine(line: string): string {
  const both = line.slice('diff --git '.length)
  const half = both.slice(0, (both.length - 1) / 2)
  return half.startsWith('a/') && both === `${half} b/${half.slice(2)}` ? half.slice(2) : ''
}

function pathOfSide(side: string): string | null {
  const bare = unquoted(side.split('\t')[0] ?? side)
  if (bare === '/dev/null') return null
  return bare.startsWith('a/') || bare.startsWith('b/') ? bare.slice(2) : bare
}

/** git puts paths with unusual bytes into quotes, with octal escapes of their UTF-8 bytes. */
function unquoted(path: string): string {
  if (!path.startsWith('"') || !path.endsWith('"')) return path
  const bytes: number[] = []
  const inner = path.slice(1, -1)
  const simple: Record<string, number> = { n: 10, t: 9, r: 13, '"': 34, '\\': 92 }
  for (let i = 0; i < inner.length; i += 1) {
    const char = inner.charAt(i)
    const octal = /^\\([0-7]{3})/.exec(inner.slice(i, i + 4))
    if (octal !== null) {
      bytes.push(Number.parseInt(octal[1] ?? '0', 8))
      i += 3
    } else if (char === '\\') {
      i += 1
      bytes.push(simple[inner.charAt(i)] ?? inner.charCodeAt(i))
    } else {
      bytes.push(...new TextEncoder().encode(char))
    }
  }
  return new TextDecoder().decode(new Uint8Array(bytes))
}
