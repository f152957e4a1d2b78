// Owns the list of screens: what each is called, what draws it, and how a person comes to it. A screen that is missing
// here does not compile. Which one is shown is the navigation's matter.
import type { Component } from 'svelte'
import type { IconName } from '../components/icons'
import Memory from '../features/memory/index.svelte'
import Models from '../features/models/index.svelte'
import Repositories from '../features/repositories/index.svelte'
import Review from '../features/review/index.svelte'
import Runs from '../features/runs/index.svelte'
import Settings from '../features/settings/index.svelte'
import Solve from '../features/solve/index.svelte'
import type { Key } from '../i18n/index.svelte'
import type { Screen } from './navigation.svelte'
import Start from './Start.svelte'

export type ScreenName = Screen['name']
type Named<Name extends ScreenName> = Extract<Screen, { name: Name }>

type Entry<Name extends ScreenName> = {
  title: Key
  component: Component<Omit<Named<Name>, 'name'>>
  /** How it is reached by name and key; without it, only from other screens. */
  section?: {
    keys: string
    begin: Named<Name>
    /** Its place in the rail, which is in the order of this list. */ icon?: IconName
  }
  /** The section that the rail marks while it is shown, where that is not its own. */
  within?: ScreenName
  /** What it is about: for another value it is made anew. */
  subject?: (screen: Named<Name>) => unknown
}

export const screens: { readonly [Name in ScreenName]: Entry<Name> } = {
  start: { title: 'start.title', component: Start, within: 'solve' },
  solve: {
    title: 'solve.title',
    component: Solve,
    section: { keys: 'Ctrl+1', icon: 'solve', begin: { name: 'solve', run: null } },
  },
  runs: {
    title: 'runs.title',
    component: Runs,
    section: { keys: 'Ctrl+2', icon: 'runs', begin: { name: 'runs', view: { kind: 'list' } } },
  },
  review: { title: 'review.title', component: Review, within: 'runs', subject: ({ run }) => run },
  memory: {
    title: 'memory.title',
    component: Memory,
    section: { keys: 'Ctrl+3', icon: 'memory', begin: { name: 'memory', path: null } },
  },
  models: {
    title: 'models.title',
    component: Models,
    section: { keys: 'Ctrl+4', icon: 'models', begin: { name: 'models' } },
  },
  settings: {
    title: 'settings.title',
    component: Settings,
    section: { keys: 'Ctrl+5', icon: 'settings', begin: { name: 'settings', page: 'appearance' } },
  },
  repositories: {
    title: 'repositories.title',
    component: Repositories,
    section: { keys: 'Ctrl+6', begin: { name: 'repositories' } },
  },
}

/** A screen that is reached by name and key. */
export type Section = { name: ScreenName; title: Key; keys: string; begin: Screen; icon: IconName | null }

export const sections: readonly Section[] = (Object.keys(screens) as ScreenName[]).flatMap((name) => {
  const { title, section } = screens[name]
  return section ? [{ name, title, keys: section.keys, begin: section.begin, icon: section.icon ?? null }] : []
})

/** The section that the rail marks. */
export const sectionOf = ({ name }: Screen): ScreenName => screens[name].within ?? name

/** What draws a screen, with what it is given; every entry's component fits its own screens, which a union cannot say. */
export function drawn(screen: Screen): {
  component: Component<Record<string, unknown>>
  given: Record<string, unknown>
  subject: unknown
} {
  const { component, subject } = screens[screen.name] as unknown as Entry<never> & {
    component: Component<Record<string, unknown>>
  }
  const { name: _, ...given } = screen
  return { component, given, subject: (subject as ((screen: Screen) => unknown) | undefined)?.(screen) }
}
