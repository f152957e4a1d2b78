// Owns the Chinese sentences of the feature solve. Its keys are those of the English file.
import type { solve as english } from '../en/solve'

export const solve: Record<keyof typeof english, string> = {
  'solve.title': '解决',
}
