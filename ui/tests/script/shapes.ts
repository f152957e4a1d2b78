// Owns the shape of a log's entries as serde writes them, for recorded runs alone; the window never sees a raw log.
import type * as T from '../../src/ipc/types'

export type {
  AttemptView,
  CallRow,
  FileDiff,
  HunkView,
  PatchView,
  RunView,
  Stage,
  StageView,
  TaskView,
} from '../../src/ipc/types'

export type RunEventLike =
  | { event: 'run_started'; request: T.RunRequest; base: T.Base }
  | { event: 'issue_read'; condensed: string | null; tokens_before: number; tokens_after: number }
  | { event: 'fault_shown' | 'tests_written'; checks: T.BugCheck[]; remarks: string[] }
  | { event: 'candidates_ranked'; candidates: T.Candidate[]; skipped: T.SkippedFile[] }
  | { event: 'relevance_judged'; judgements: T.Judgement[] }
  | { event: 'file_described'; description: T.Description }
  | { event: 'task_defined'; task: T.FileTask }
  | { event: 'task_declined'; path: string; reason: string }
  | { event: 'role_defined' | 'role_revised' | 'reviewer_defined'; task: number; role: T.Role }
  | { event: 'spoken'; speech: T.Speech }
  | { event: 'plan_made'; plan: T.Plan }
  | {
      event: 'lines_chosen'
      task: number
      round: number
      symbols: string[]
      spans: T.LineSpan[]
      others?: T.CodePlace[]
      answers?: number
    }
  | { event: 'base_tested'; tests: T.BaseTests }
  | {
      event: 'code_written'
      task: number
      round: number
      candidate: number
      fault: string
      change: T.FileChange
      findings: T.Finding[]
      place?: number
      mode?: T.WritingMode
      same_as?: [number, number]
    }
  | { event: 'attempt_tested'; task: number; round: number; attempt: number; result: T.ChangeTests }
  | { event: 'attempts_compared'; task: number; round: number; gains: { attempt: number; gain: number }[] }
  | { event: 'minimised'; task: number; change: T.FileChange; dropped: number; hunks: number; needed?: T.HunkNeed[] }
  | { event: 'attempt_taken'; task: number; round: number; attempt: number }
  | { event: 'code_failed'; task: number; round: number; candidate: number; reason: string }
  | { event: 'reviewed'; task: number; round: number; candidate: number; verdict: T.Verdict }
  | { event: 'task_closed'; task: number; outcome: T.TaskOutcome }
  | { event: 'merged'; result: T.MergeResult }
  | { event: 'patch_tested'; result: T.ChangeTests }
  | { event: 'run_ended'; outcome: T.RunOutcome }
  | { event: 'noticed'; notice: T.Notice }
  | { event: 'paused'; reason: string }
  | { event: 'resumed' }
