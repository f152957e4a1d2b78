// Where the tasks of a plan stand in its picture: parallel groups are columns from left to right, tasks of one group
// are stacked, arrows go from a task to those that wait for it. Pure numbers; Plan.svelte draws them.
import type { PlanStep, TaskId } from '../../ipc'

export interface Measures {
  readonly width: number
  readonly height: number
  readonly columnGap: number
  readonly rowGap: number
  readonly margin: number
}

export interface PlacedTask {
  readonly task: TaskId
  readonly x: number
  readonly y: number
  readonly column: number
  readonly row: number
}

export interface Arrow {
  readonly from: TaskId
  readonly to: TaskId
  /** An SVG path. */
  readonly path: string
}

export interface PlanPicture {
  readonly tasks: readonly PlacedTask[]
  readonly arrows: readonly Arrow[]
  readonly width: number
  readonly height: number
}

export const MEASURES: Measures = { width: 216, height: 64, columnGap: 56, rowGap: 12, margin: 4 }

export function planPicture(
  groups: readonly (readonly TaskId[])[],
  steps: readonly PlanStep[],
  measures: Measures = MEASURES,
): PlanPicture {
  const { width, height, columnGap, rowGap, margin } = measures
  const after = new Map(steps.map((step) => [step.task, step.after] as const))
  const columns = untangled(groups, after)
  const tallest = Math.max(1, ...columns.map((column) => column.length))
  const whole = tallest * height + (tallest - 1) * rowGap
  const placed = new Map<TaskId, PlacedTask>()
  for (const [column, tasks] of columns.entries()) {
    const used = tasks.length * height + (tasks.length - 1) * rowGap
    for (const [row, task] of tasks.entries()) {
      placed.set(task, {
        task,
        column,
        row,
        x: margin + column * (width + columnGap),
        y: margin + (whole - used) / 2 + row * (height + rowGap),
      })
    }
  }
  const arrows: Arrow[] = []
  for (const step of steps) {
    const to = placed.get(step.task)
    if (to === undefined) continue
    for (const earlier of needed(step.task, after)) {
      const from = placed.get(earlier)
      if (from !== undefined) arrows.push({ from: earlier, to: step.task, path: curve(from, to, measures) })
    }
  }
  return {
    tasks: [...placed.values()],
    arrows,
    width: margin * 2 + columns.length * width + Math.max(0, columns.length - 1) * columnGap,
    height: margin * 2 + whole,
  }
}

/** The task an arrow key leads to from `task`, or the same one where there is none that way. */
export function neighbour(picture: PlanPicture, task: TaskId, key: string): TaskId {
  const here = picture.tasks.find((placed) => placed.task === task)
  if (here === undefined) return task
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key]
  if (step === undefined) return task
  const [column, row] = step
  const others = picture.tasks.filter((placed) =>
    column === 0
      ? placed.column === here.column && placed.row === here.row + (row ?? 0)
      : placed.column === here.column + (column ?? 0),
  )
  const nearest = others.sort((a, b) => Math.abs(a.y - here.y) - Math.abs(b.y - here.y))[0]
  return nearest?.task ?? task
}

/** What a task waits for directly; what follows from another edge is not drawn. */
function needed(task: TaskId, after: ReadonlyMap<TaskId, readonly TaskId[]>): TaskId[] {
  const direct = after.get(task) ?? []
  return direct.filter((one) => !direct.some((other) => other !== one && reaches(other, one, after, new Set())))
}

function reaches(
  from: TaskId,
  goal: TaskId,
  after: ReadonlyMap<TaskId, readonly TaskId[]>,
  visited: Set<TaskId>,
): boolean {
  if (visited.has(from)) return false
  visited.add(from)
  return (after.get(from) ?? []).some((earlier) => earlier === goal || reaches(earlier, goal, after, visited))
}

/** Each column in the order of the middle of what its tasks wait for, so that fewer arrows cross. */
function untangled(groups: readonly (readonly TaskId[])[], after: ReadonlyMap<TaskId, readonly TaskId[]>): TaskId[][] {
  const rows = new Map<TaskId, number>()
  return groups.map((group) => {
    const middle = (task: TaskId): number => {
      const known = (after.get(task) ?? []).map((one) => rows.get(one)).filter((row) => row !== undefined)
      return known.length === 0 ? group.indexOf(task) : known.reduce((sum, row) => sum + row, 0) / known.length
    }
    const sorted = [...group].sort((a, b) => middle(a) - middle(b) || a - b)
    for (const [row, task] of sorted.entries()) rows.set(task, row)
    return sorted
  })
}

function curve(from: PlacedTask, to: PlacedTask, { width, height }: Measures): string {
  const startX = from.x + width
  const startY = from.y + height / 2
  const endX = to.x - 3
  const endY = to.y + height / 2
  if (startY === endY) return `M${startX} ${startY}H${endX}`
  const bend = Math.min(40, (endX - startX) / 2)
  return `M${startX} ${startY}C${startX + bend} ${startY} ${endX - bend} ${endY} ${endX} ${endY}`
}
