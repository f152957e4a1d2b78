// Owns the English sentences of the feature memory. Keys start with the feature's name.
export const memory = {
  'memory.title': 'Memory',
} as const
