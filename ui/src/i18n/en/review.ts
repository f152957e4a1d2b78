// Owns the English sentences of the feature review. Keys start with the feature's name.
export const review = {
  'review.title': 'Review',
} as const
