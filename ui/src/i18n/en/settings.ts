// Owns the English sentences of the feature settings. Keys start with the feature's name.
export const settings = {
  'settings.title': 'Settings',
} as const
