// Owns the English sentences of the feature repositories. Keys start with the feature's name.
export const repositories = {
  'repositories.title': 'Repositories',
  'repositories.pick': 'Choose the folder of a git repository',
} as const
