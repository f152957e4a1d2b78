// Owns the Chinese sentences of the feature memory. Its keys are those of the English file.
import type { memory as english } from '../en/memory'

export const memory: Record<keyof typeof english, string> = {
  'memory.title': '记忆',
}
