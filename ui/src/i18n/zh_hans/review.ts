// Owns the Chinese sentences of the feature review. Its keys are those of the English file.
import type { review as english } from '../en/review'

export const review: Record<keyof typeof english, string> = {
  'review.title': '审阅',
}
