// Owns the joining of the English sentences of all features into one table.
import { frame } from './frame'
import { memory } from './memory'
import { models } from './models'
import { repositories } from './repositories'
import { review } from './review'
import { runs } from './runs'
import { settings } from './settings'
import { solve } from './solve'

export const en = { ...frame, ...repositories, ...solve, ...review, ...runs, ...memory, ...models, ...settings } as const
