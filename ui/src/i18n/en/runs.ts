// Owns the English sentences of the feature runs. Keys start with the feature's name.
export const runs = {
  'runs.title': 'Runs',
} as const
