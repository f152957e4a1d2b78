// What two runs have in common and where they differ: candidates, tasks, files of the patch, costs. Plain data;
// Compare.svelte draws it. It loads nothing.
import type { CandidateView, FileDiff, RunView, Stage, TaskView } from '../../ipc'
import { readPatch } from '../review/unified'

export interface Beside<T> {
  readonly name: string
  readonly left: T | null
  readonly right: T | null
}

export interface Cost {
  readonly stage: Stage
  readonly left: StageCost
  readonly right: StageCost
}

export interface StageCost {
  readonly ms: number
  readonly tokens: number
}

export interface RunComparison {
  readonly candidates: readonly Beside<CandidateView>[]
  readonly tasks: readonly Beside<TaskView>[]
  readonly files: readonly Beside<FileDiff>[]
  readonly costs: readonly Cost[]
  /** Whether both ask the same thing of the same tree. */
  readonly sameIssue: boolean
  readonly sameBase: boolean
  readonly samePatch: boolean
}

export const STAGES: readonly Stage[] = ['evidence', 'locate', 'team', 'meeting', 'plan', 'code', 'merge']

export function compareRuns(left: RunView, right: RunView): RunComparison {
  return {
    candidates: beside(shown(left), shown(right), (view) => view.candidate.path),
    tasks: beside(left.tasks, right.tasks, (view) => view.task.path),
    files: beside(filesOf(left), filesOf(right), (file) => file.path),
    costs: STAGES.map((stage) => ({ stage, left: costOf(left, stage), right: costOf(right, stage) })),
    sameIssue: left.request.issue === right.request.issue,
    sameBase: left.base.tree === right.base.tree,
    samePatch: (left.merged?.patch ?? '') === (right.merged?.patch ?? ''),
  }
}

/** By name, in the left side's order, then what only the right side has. */
export function beside<T>(left: readonly T[], right: readonly T[], nameOf: (one: T) => string): Beside<T>[] {
  const others = new Map(right.map((one) => [nameOf(one), one] as const))
  const rows: Beside<T>[] = []
  for (const one of left) {
    const name = nameOf(one)
    rows.push({ name, left: one, right: others.get(name) ?? null })
    others.delete(name)
  }
  for (const [name, one] of others) rows.push({ name, left: null, right: one })
  return rows
}

function shown(run: RunView): CandidateView[] {
  return run.candidates.filter((view) => view.state.kind === 'kept' || view.state.kind === 'declined')
}

function filesOf(run: RunView): FileDiff[] {
  return run.merged === null ? [] : readPatch(run.merged.patch)
}

function costOf(run: RunView, stage: Stage): StageCost {
  const found = run.stages.find((one) => one.stage === stage)
  if (found === undefined) return { ms: 0, tokens: 0 }
  return { ms: found.ms, tokens: found.computed_tokens + found.generated_tokens }
}
