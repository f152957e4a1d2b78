// Owns the shape of a recorded run, and its reading into what the window shows: the fold of its log, up to any event.
// It repeats in small what Rust does, for recorded runs alone; the window's own code has no such fold.
import { titleOf } from '../../src/features/solve/effort'
import type { ChangeTests, ModelReview, ProgramRun, Proof, RunStatus } from '../../src/ipc/types'
import type {
  AttemptView,
  CallRow,
  FileDiff,
  HunkView,
  PatchView,
  RunEventLike,
  RunView,
  Stage,
  StageView,
  TaskView,
} from './shapes'

export type RecordedCall = CallRow & {
  after_seq: number
  model: string
  seed: number
  template_hash: string
  prompt: string
  reply: string
}
export type Recorded = {
  number: number
  repository: string
  request: RunView['request']
  created_at_ms: number
  events: { seq: number; at_ms: number; event: RunEventLike }[]
  calls: RecordedCall[]
  files: Record<string, string>
  diffs: Record<string, string>
}

const order: Stage[] = ['evidence', 'locate', 'team', 'meeting', 'plan', 'code', 'merge']

export function stageOfStep(step: string): Stage {
  if (/^P[123]\b/.test(step)) return 'locate'
  if (/^P[45]\b/.test(step)) return 'team'
  if (/^(P6\b|open|speak|sum up)/.test(step)) return 'meeting'
  if (/^P7\b/.test(step)) return 'plan'
  if (/^(commit|pull)/.test(step)) return 'merge'
  return 'code'
}

/** What the window shows after the event `seq`, or after all. */
export function fold(recorded: Recorded, seq = Infinity): RunView {
  const log = recorded.events.filter((entry) => entry.seq <= seq)
  const last = log.at(-1)
  const begun = recorded.events[0]
  if (!begun || begun.event.event !== 'run_started' || !last) throw new Error('a recorded run begins with run_started')
  const calls = recorded.calls.filter((call) => call.after_seq < (Number.isFinite(seq) ? seq : Infinity))
  // A run recorded before something came into the view lacks it, so the type is asserted, not checked.
  const view = {
    row: {
      id: recorded.number,
      repo: 1,
      repository: recorded.repository,
      title: titleOf(recorded.request.issue),
      status: 'running',
      review: null,
      proof: { kind: 'not_run' },
      model: recorded.request.model,
      created_at_ms: recorded.created_at_ms,
      ended_at_ms: null,
      worked_ms: calls.reduce((sum, call) => sum + call.ms, 0),
      tokens: calls.reduce((sum, call) => sum + call.prompt_tokens + call.generated_tokens, 0),
      files: 0,
      added: 0,
      deleted: 0,
      parent: null,
      imported: false,
      tags: [],
      host: null,
      driven: true,
    },
    request: recorded.request,
    base: begun.event.base,
    condensed_issue: null,
    hints: recorded.request.hints,
    stage: 'locate',
    stages: [],
    worked_ms: 0,
    paused_reason: null,
    outcome: null,
    evidence:
      recorded.request.tests?.kind === 'run'
        ? { looked_for: false, checks: [], remarks: [], base: null, patch: null, proof: { kind: 'not_run' } }
        : null,
    candidates: [],
    skipped: [],
    tasks: [],
    meeting: [],
    plan: null,
    plan_groups: [],
    merged: null,
    notices: [],
    applied: null,
    import: null,
    repository_named: true,
    seq: last.seq,
  } as RunView
  for (const { event, at_ms } of log) apply(view, event, at_ms, recorded)
  view.worked_ms = view.row.worked_ms + runningCode(log)
  if (view.outcome === null)
    view.stage = view.plan
      ? 'code'
      : view.meeting.length > 0
        ? 'meeting'
        : view.candidates.some((one) => one.description)
          ? 'team'
          : view.evidence !== null && !view.evidence.looked_for
            ? 'evidence'
            : 'locate'
  else view.stage = 'merge'
  view.stages = order.map((stage): StageView => {
    const own = calls.filter((call) => stageOfStep(call.step) === stage)
    return {
      stage,
      ms: own.reduce((sum, call) => sum + call.ms, 0),
      calls: own.length,
      computed_tokens: own.reduce((sum, call) => sum + call.prompt_tokens, 0),
      reused_tokens: own.reduce((sum, call) => sum + call.reused_tokens, 0),
      generated_tokens: own.reduce((sum, call) => sum + call.generated_tokens, 0),
      done: view.outcome !== null || order.indexOf(stage) < order.indexOf(view.stage),
    }
  })
  return view
}

function apply(view: RunView, event: RunEventLike, at_ms: number, recorded: Recorded): void {
  const task = (id: number): TaskView | undefined => view.tasks.find((one) => one.task.id === id)
  const round = (id: number, number: number): TaskView['rounds'][number] | undefined => {
    const found = task(id)
    if (found && !found.rounds.some((one) => one.round === number))
      found.rounds.push({
        round: number,
        symbols: [],
        spans: [],
        places: [],
        answer_places: dealt(view.request.candidates_per_round, 1),
        attempts: [],
      })
    return found?.rounds.find((one) => one.round === number)
  }
  switch (event.event) {
    case 'issue_read':
      view.condensed_issue = event.condensed
      break
    case 'candidates_ranked':
      view.candidates = event.candidates.map((candidate) => ({
        candidate,
        judgement: null,
        state: { kind: 'waiting' },
        description: null,
      }))
      view.skipped = event.skipped
      break
    case 'relevance_judged':
      view.candidates = event.judgements.flatMap((judgement) => {
        const found = view.candidates.find((one) => one.candidate.path === judgement.path)
        return found
          ? [
              {
                ...found,
                judgement,
                state: judgement.kept ? { kind: 'kept' as const } : { kind: 'judged_irrelevant' as const },
              },
            ]
          : []
      })
      break
    case 'file_described':
      view.candidates = view.candidates.map((one) =>
        one.candidate.path === event.description.path ? { ...one, description: event.description } : one,
      )
      break
    case 'task_declined':
      view.candidates = view.candidates.map((one) =>
        one.candidate.path === event.path ? { ...one, state: { kind: 'declined', reason: event.reason } } : one,
      )
      break
    case 'task_defined':
      view.tasks.push({
        task: event.task,
        developer: null,
        reviewer: null,
        rounds: [],
        outcome: null,
        accepted: null,
        left_out: null,
        needed: [],
        base_lines: recorded.files[event.task.path]?.split('\n').length ?? null,
      })
      break
    case 'role_defined':
    case 'role_revised': {
      const found = task(event.task)
      if (found) found.developer = event.role
      break
    }
    case 'reviewer_defined': {
      const found = task(event.task)
      if (found) found.reviewer = event.role
      break
    }
    case 'spoken':
      view.meeting.push(event.speech)
      break
    case 'plan_made':
      view.plan = event.plan
      view.plan_groups = groups(event.plan)
      break
    case 'lines_chosen': {
      const found = round(event.task, event.round)
      const { symbols, spans, others = [] } = event
      const answers = event.answers ?? view.request.candidates_per_round
      const places = [{ symbols, spans }, ...others]
      if (found) Object.assign(found, { symbols, spans, places, answer_places: dealt(answers, places.length) })
      break
    }
    case 'code_written':
    case 'code_failed': {
      const attempt: AttemptView =
        event.event === 'code_written'
          ? {
              attempt: event.candidate,
              diagnosis: event.fault,
              change: event.change,
              findings: event.findings,
              failed: null,
              verdict: null,
              place: event.place ?? 0,
              mode: event.mode ?? 'definition',
              same_as: event.same_as ?? null,
              votes: 1,
              likelihood: null,
              unlikely: false,
              tested: null,
              proof: { kind: 'not_run' },
              diff: recorded.diffs[`${event.task}/${event.round}/${event.candidate}`] ?? '',
            }
          : {
              attempt: event.candidate,
              diagnosis: '',
              change: null,
              findings: [],
              failed: event.reason,
              verdict: null,
              place: round(event.task, event.round)?.answer_places[event.candidate] ?? 0,
              mode: 'definition',
              same_as: null,
              votes: 1,
              likelihood: null,
              unlikely: false,
              tested: null,
              proof: { kind: 'not_run' },
              diff: '',
            }
      const attempts = round(event.task, event.round)?.attempts
      attempts?.push(attempt)
      const group = attempts?.filter((one) => (one.same_as?.[1] ?? one.attempt) === attempt.same_as?.[1]) ?? []
      for (const one of group) one.votes = group.length
      break
    }
    case 'attempt_tested': {
      const found = round(event.task, event.round)?.attempts.find((one) => one.attempt === event.attempt)
      if (found) Object.assign(found, { tested: event.result, proof: proofOf(event.result) })
      break
    }
    case 'minimised': {
      const found = task(event.task)
      if (!found) break
      found.left_out = event.dropped > 0 ? [event.dropped, event.hunks] : null
      found.needed = event.needed ?? []
      break
    }
    case 'fault_shown':
    case 'tests_written':
      if (view.evidence === null) break
      view.evidence.looked_for = true
      view.evidence.checks.push(...event.checks)
      view.evidence.remarks.push(...event.remarks)
      break
    case 'base_tested':
      if (view.evidence) view.evidence.base = event.tests
      break
    case 'patch_tested':
      if (view.evidence) Object.assign(view.evidence, { patch: event.result, proof: proofOf(event.result) })
      view.row.proof = proofOf(event.result)
      break
    case 'attempts_compared': {
      const gains = event.gains.toSorted((one, other) => other.gain - one.gain)
      for (const [at, one] of gains.entries()) {
        const found = round(event.task, event.round)?.attempts.find((attempt) => attempt.attempt === one.attempt)
        if (found) found.likelihood = [at + 1, gains.length]
      }
      break
    }
    case 'reviewed': {
      const found = round(event.task, event.round)?.attempts.find((one) => one.attempt === event.candidate)
      if (found) found.verdict = event.verdict
      break
    }
    case 'task_closed': {
      const found = task(event.task)
      if (found) found.outcome = event.outcome
      if (found && (event.outcome.kind === 'approved' || event.outcome.kind === 'not_approved')) {
        const attempts = found.rounds.find((one) => one.round === (event.outcome as { round: number }).round)?.attempts
        const shown = attempts?.filter((one) => one.proof.kind === 'shown_to_work')
        const best = shown?.find((one) => one.likelihood?.[0] === 1) ?? shown?.[0] ?? attempts?.at(-1)
        found.accepted = best === undefined ? null : [event.outcome.round, best.attempt]
      }
      break
    }
    case 'merged': {
      const files = readPatch(event.result.patch)
      view.merged = event.result
      view.row.files = files.length
      view.row.added = files.reduce((sum, file) => sum + file.added, 0)
      view.row.deleted = files.reduce((sum, file) => sum + file.deleted, 0)
      break
    }
    case 'run_ended':
      view.outcome = event.outcome
      view.row.status = event.outcome.kind
      view.row.review = reviewOf(event.outcome.kind)
      view.row.ended_at_ms = at_ms
      view.row.driven = false
      break
    case 'noticed':
      view.notices.push(event.notice)
      break
    case 'attempt_taken': {
      const found = task(event.task)
      if (found) Object.assign(found, { left_out: null, needed: [] })
      break
    }
    case 'paused':
    case 'resumed':
    case 'run_started':
      break
  }
}

/** The recorded patch as files and hunks, each hunk with the tasks of its file. */
export function patchView(recorded: Recorded): PatchView {
  const view = fold(recorded)
  const files = readPatch(view.merged?.patch ?? '')
  for (const file of files) {
    for (const hunk of file.hunks)
      hunk.tasks = view.tasks.filter((one) => one.task.path === file.path).map((one) => one.task.id)
  }
  return {
    files,
    commit_message: view.merged?.commit_message ?? '',
    pull_request: view.merged?.pull_request ?? '',
    branch: `magis/${recorded.number}-${titleOf(recorded.request.issue).toLowerCase().split(/\W+/).slice(0, 4).join('-')}`,
    tests: [],
  }
}

/** A file before and after the recorded patch. */
export function textsOf(recorded: Recorded, path: string): { before: string | null; after: string | null } {
  const before = recorded.files[path] ?? null
  if (before === null) return { before, after: null }
  const lines = before.split('\n')
  const after: string[] = []
  let next = 0
  for (const hunk of readPatch(fold(recorded).merged?.patch ?? '').find((file) => file.path === path)?.hunks ?? []) {
    after.push(...lines.slice(next, hunk.old_start - 1))
    for (const line of hunk.lines) if (line.kind !== 'deleted') after.push(line.text)
    next = hunk.old_start - 1 + hunk.old_lines
  }
  return { before, after: [...after, ...lines.slice(next)].join('\n') }
}

function readPatch(patch: string): FileDiff[] {
  const files: FileDiff[] = []
  let file: FileDiff | undefined
  let hunk: HunkView | undefined
  let before = 0
  let after = 0
  for (const line of patch.split('\n')) {
    const head = /^diff --git a\/(.*) b\/(.*)$/.exec(line)
    const start = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/.exec(line)
    if (head) {
      file = { path: head[2] ?? '', old_path: null, kind: 'modified', binary: false, added: 0, deleted: 0, hunks: [] }
      hunk = undefined
      files.push(file)
    } else if (start && file) {
      before = Number(start[1])
      after = Number(start[3])
      hunk = {
        number: file.hunks.length,
        header: start[5] ?? '',
        old_start: before,
        old_lines: Number(start[2] ?? 1),
        new_start: after,
        new_lines: Number(start[4] ?? 1),
        lines: [],
        tasks: [],
      }
      file.hunks.push(hunk)
    } else if (hunk && file && line.startsWith('+')) {
      file.added += 1
      hunk.lines.push({ kind: 'added', old: null, new: after++, text: line.slice(1) })
    } else if (hunk && file && line.startsWith('-')) {
      file.deleted += 1
      hunk.lines.push({ kind: 'deleted', old: before++, new: null, text: line.slice(1) })
    } else if (hunk && line.startsWith(' ')) {
      hunk.lines.push({ kind: 'context', old: before++, new: after++, text: line.slice(1) })
    }
  }
  return files
}

function groups(plan: { task: number; after: number[] }[]): number[][] {
  const done = new Set<number>()
  const found: number[][] = []
  let rest = plan
  while (rest.length > 0) {
    const ready = rest.filter((step) => step.after.every((task) => done.has(task)))
    if (ready.length === 0) return found
    found.push(ready.map((step) => step.task))
    for (const step of ready) done.add(step.task)
    rest = rest.filter((step) => !done.has(step.task))
  }
  return found
}

/** What checks and tests prove, as far as the recorded runs have it. */
function proofOf({ checks, tests }: ChangeTests): Proof {
  if ((tests?.newly_failing.length ?? 0) > 0) return { kind: 'not_shown', why: 'tests fail that passed on the base' }
  const last = checks.at(-1)
  // The recorded runs have their checks in the order of what they prove.
  if (last?.state.kind === 'gone' && checks.every((check) => check.state.kind === 'gone'))
    return {
      kind: ['exception_gone', 'expected_result'].includes(last.state.grade) ? 'shown_to_work' : 'plausible',
      grade: last.state.grade,
    }
  return { kind: 'not_shown', why: 'a check still shows the fault' }
}

/** At which place each answer is: in the made-up runs all places have as many. */
function dealt(answers: number, places: number): number[] {
  return Array.from({ length: answers }, (_, at) => Math.floor((at * places) / answers))
}

/** How long the programs ran that the log tells of. */
function runningCode(log: Recorded['events']): number {
  const runs = log.flatMap(({ event }): (ProgramRun | null)[] => {
    switch (event.event) {
      case 'fault_shown':
      case 'tests_written':
        return event.checks.map((check) => check.on_base)
      case 'base_tested':
        return [event.tests.run, event.tests.run]
      case 'attempt_tested':
      case 'patch_tested':
        return [...event.result.checks.map((check) => check.run), event.result.tests?.run ?? null]
      default:
        return []
    }
  })
  return runs.reduce((sum, run) => sum + (run?.took_ms ?? 0), 0)
}

/** As Rust tells it of a run that was reviewed. */
export function reviewOf(status: RunStatus): ModelReview | null {
  return status === 'approved' ? 'passed' : status === 'not_approved' ? 'not_passed' : null
}
