// The days' use as one series a stage, in the order of the stages, each with its colour token; green and red are
// kept for added and removed. It draws nothing.
import type { Stage, StageView, UsageDay } from '../../ipc'

export interface StageSeries {
  readonly stage: Stage
  /** Name of a colour token. */
  readonly colour: string
  readonly values: number[]
}

const COLOURS: readonly (readonly [Stage, string])[] = [
  ['evidence', '--fresh'],
  ['locate', '--custodian'],
  ['team', '--manager'],
  ['meeting', '--stale'],
  ['plan', '--person'],
  ['code', '--developer'],
  ['merge', '--qa'],
]

export function bySeries(days: readonly UsageDay[], value: (stage: StageView) => number): StageSeries[] {
  const series = COLOURS.map(([stage, colour]) => ({
    stage,
    colour,
    values: days.map((day) => {
      const found = day.by_stage.find((one) => one.stage === stage)
      return found === undefined ? 0 : value(found)
    }),
  }))
  // Only runs that run code have this one.
  return series.filter(({ stage, values }) => stage !== 'evidence' || values.some((one) => one > 0))
}
