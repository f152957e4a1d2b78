// What will be applied, counted: the words of the bar at the bottom and of the file tree come from here.
// It applies nothing.
import type { FileDiff } from '../../ipc'
import { hunkState, isLineTaken, type FileChoice } from './choice'

export interface Outcome {
  readonly acceptedHunks: number
  readonly partlyHunks: number
  readonly rejectedHunks: number
  readonly openHunks: number
  readonly hunks: number
  /** Files of which something is applied. */
  readonly files: number
  readonly editedFiles: number
  readonly seenFiles: number
  readonly added: number
  readonly deleted: number
}

/** A file without hunks (an empty new file, a bare rename, a binary) is decided as if it had hunk 0. */
export const WHOLE_FILE = 0

export function outcomeOf(files: readonly FileDiff[], choiceOf: (path: string) => FileChoice): Outcome {
  const sum = { acceptedHunks: 0, partlyHunks: 0, rejectedHunks: 0, openHunks: 0, hunks: 0, files: 0 }
  let editedFiles = 0
  let seenFiles = 0
  let added = 0
  let deleted = 0
  for (const file of files) {
    const choice = choiceOf(file.path)
    if (choice.seen) seenFiles += 1
    if (choice.text !== null) {
      editedFiles += 1
      sum.files += 1
      sum.hunks += Math.max(1, file.hunks.length)
      sum.acceptedHunks += Math.max(1, file.hunks.length)
      added += file.added
      deleted += file.deleted
      continue
    }
    let touched = false
    if (file.hunks.length === 0) {
      sum.hunks += 1
      const decision = choice.decisions.get(WHOLE_FILE)
      if (decision === 'accepted') {
        sum.acceptedHunks += 1
        touched = true
      } else if (decision === 'rejected') sum.rejectedHunks += 1
      else sum.openHunks += 1
    }
    for (const hunk of file.hunks) {
      sum.hunks += 1
      const state = hunkState(choice, hunk)
      if (state === 'open') sum.openHunks += 1
      else if (state === 'rejected') sum.rejectedHunks += 1
      else {
        touched = true
        sum.acceptedHunks += 1
        if (state === 'partly') sum.partlyHunks += 1
        for (const [index, line] of hunk.lines.entries()) {
          if (line.kind === 'context' || !isLineTaken(choice, hunk.number, index)) continue
          if (line.kind === 'added') added += 1
          else deleted += 1
        }
      }
    }
    if (touched) sum.files += 1
  }
  return { ...sum, editedFiles, seenFiles, added, deleted }
}
