// Owns the Chinese sentences of the feature runs. Its keys are those of the English file.
import type { runs as english } from '../en/runs'

export const runs: Record<keyof typeof english, string> = {
  'runs.title': '运行记录',
}
