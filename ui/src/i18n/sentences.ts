// Owns the joining of both languages' sentences, feature by feature. The two of a feature are imported one after the
// other: their keys are the same, and what is packed keeps that order, so that they cost their bytes once.
import { frame as frame_en } from './en/frame'
import { frame as frame_zh } from './zh_hans/frame'
import { repositories as repositories_en } from './en/repositories'
import { repositories as repositories_zh } from './zh_hans/repositories'
import { solve as solve_en } from './en/solve'
import { solve as solve_zh } from './zh_hans/solve'
import { tests as tests_en } from './en/tests'
import { tests as tests_zh } from './zh_hans/tests'
import { review as review_en } from './en/review'
import { review as review_zh } from './zh_hans/review'
import { runs as runs_en } from './en/runs'
import { runs as runs_zh } from './zh_hans/runs'
import { memory as memory_en } from './en/memory'
import { memory as memory_zh } from './zh_hans/memory'
import { models as models_en } from './en/models'
import { models as models_zh } from './zh_hans/models'
import { settings as settings_en } from './en/settings'
import { settings as settings_zh } from './zh_hans/settings'

export const en = {
  ...frame_en,
  ...repositories_en,
  ...solve_en,
  ...tests_en,
  ...review_en,
  ...runs_en,
  ...memory_en,
  ...models_en,
  ...settings_en,
} as const
export const zh_hans = {
  ...frame_zh,
  ...repositories_zh,
  ...solve_zh,
  ...tests_zh,
  ...review_zh,
  ...runs_zh,
  ...memory_zh,
  ...models_zh,
  ...settings_zh,
} as const
