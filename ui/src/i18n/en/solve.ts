// Owns the English sentences of the feature solve. Keys start with the feature's name.
export const solve = {
  'solve.title': 'Solve',
} as const
