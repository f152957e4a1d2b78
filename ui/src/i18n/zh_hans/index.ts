// Owns the joining of the Simplified Chinese sentences of all features into one table.
import { frame } from './frame'
import { memory } from './memory'
import { models } from './models'
import { repositories } from './repositories'
import { review } from './review'
import { runs } from './runs'
import { settings } from './settings'
import { solve } from './solve'

export const zh_hans = { ...frame, ...repositories, ...solve, ...review, ...runs, ...memory, ...models, ...settings } as const
