// Owns the English sentences of the feature models. Keys start with the feature's name.
export const models = {
  'models.title': 'Models',
} as const
