// Owns the Chinese sentences of the feature models. Its keys are those of the English file.
import type { models as english } from '../en/models'

export const models: Record<keyof typeof english, string> = {
  'models.title': '模型',
}
