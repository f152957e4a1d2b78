// Owns the names, icons and keys of the sections, in their order. Which one is shown is the state's matter.
import type { IconName } from '../components/icons'
import type { Key } from '../i18n/index.svelte'
import type { Screen } from './state.svelte'

export type Place = {
  id: string
  title: Key
  icon: IconName
  keys: string
  screen: Screen
  holds: (screen: Screen) => boolean
}

export const places: Place[] = [
  {
    id: 'solve',
    title: 'solve.title',
    icon: 'solve',
    keys: 'Ctrl+1',
    screen: { name: 'solve', run: null },
    holds: (screen) => screen.name === 'solve' || screen.name === 'start',
  },
  {
    id: 'runs',
    title: 'runs.title',
    icon: 'runs',
    keys: 'Ctrl+2',
    screen: { name: 'runs', view: { kind: 'list' } },
    holds: (screen) => screen.name === 'runs' || screen.name === 'review',
  },
  {
    id: 'memory',
    title: 'memory.title',
    icon: 'memory',
    keys: 'Ctrl+3',
    screen: { name: 'memory', path: null },
    holds: (screen) => screen.name === 'memory',
  },
  {
    id: 'models',
    title: 'models.title',
    icon: 'models',
    keys: 'Ctrl+4',
    screen: { name: 'models' },
    holds: (screen) => screen.name === 'models',
  },
  {
    id: 'settings',
    title: 'settings.title',
    icon: 'settings',
    keys: 'Ctrl+5',
    screen: { name: 'settings', page: 'appearance' },
    holds: (screen) => screen.name === 'settings',
  },
]

/** The head of the document, so that a screen reader says which screen came. */
export function titleOf(screen: Screen): Key {
  switch (screen.name) {
    case 'start':
      return 'start.title'
    case 'review':
      return 'review.title'
    case 'repositories':
      return 'repositories.title'
    case 'solve':
    case 'runs':
    case 'memory':
    case 'models':
    case 'settings':
      return `${screen.name}.title`
  }
}
