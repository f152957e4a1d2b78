// Owns a patch of any size, made up: for what a long diff asks of the window. It is no recorded run.
import type { FileDiff, PatchView } from '../../src/ipc/types'

/** Files of changed lines, every one with a word of its own. */
export function bigPatch(files: number, lines: number): PatchView {
  return {
    commit_message: 'Many',
    pull_request: '',
    branch: 'magis/many',
    tests: [],
    files: Array.from({ length: files }, (_, file): FileDiff => ({
      path: `src/part${Math.floor(file / 20)}/file${file}.py`,
      old_path: null,
      kind: 'modified',
      binary: false,
      added: lines,
      deleted: 0,
      hunks: [
        {
          number: file + 1,
          header: `def part_${file}(self):`,
          old_start: 1,
          old_lines: 1,
          new_start: 1,
          new_lines: lines + 1,
          tasks: [1],
          lines: [
            { kind: 'context', old: 1, new: 1, text: `def part_${file}(self):` },
            ...Array.from({ length: lines }, (_, line) => ({
              kind: 'added' as const,
              old: null,
              new: line + 2,
              text: line === 3 ? `    needle ${file}` : `    value = compute(${line}, "text")`,
            })),
          ],
        },
      ],
    })),
  }
}
