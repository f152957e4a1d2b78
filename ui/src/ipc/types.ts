// Owns the names of everything that crosses between window and Rust, as the contract has them.
// It holds no behaviour; components import types from here and never from the generated file.

export type Problem = { code: string; message: string; remedy: string | null }

// ---- the domain, as serde writes it ----
export type RunId = number
export type RepoId = number
export type TaskId = number
export type Stage = 'locate' | 'team' | 'meeting' | 'plan' | 'code' | 'merge'
export type Agent = 'custodian' | 'manager' | 'developer' | 'qa_engineer'
/** First and last line, counted from 1, both included. */
export type LineSpan = [number, number]

export type Evidence =
  | { kind: 'quoted_path'; quoted: string }
  | { kind: 'defines_name'; name: string }
  | { kind: 'trace_frame'; depth: number }
  | { kind: 'path_words'; words: string[] }
  | { kind: 'text'; terms: string[] }
  | { kind: 'neighbour'; of: string }
  | { kind: 'demoted'; why: string }
  | { kind: 'given' }
export type Candidate = { path: string; blob: string; score: number; evidence: Evidence[] }
export type Judgement = { path: string; naming: number | null; yes_no: number | null; relevance: number; kept: boolean }
export type DescriptionSource = { kind: 'stored' } | { kind: 'updated'; from: string; message: string } | { kind: 'fresh' }
export type Description = {
  path: string
  blob: string
  source: DescriptionSource
  summary: string
  from_skeleton: boolean
}
export type SkipReason =
  | { kind: 'binary' }
  | { kind: 'too_large'; bytes: number; limit: number }
  | { kind: 'minified' }
  | { kind: 'not_utf8' }
  | { kind: 'symlink' }
  | { kind: 'submodule' }
  | { kind: 'lfs_pointer' }
  | { kind: 'missing' }
  | { kind: 'unsupported_path' }
export type SkippedFile = { path: string; reason: SkipReason }
export type FileAction = { kind: 'modify' } | { kind: 'create' } | { kind: 'delete' } | { kind: 'rename'; to: string }
export type FileTask = { id: TaskId; path: string; candidate: string; action: FileAction; description: string }
export type Role = { name: string; focus: string }
export type TaskOutcome =
  | { kind: 'approved'; round: number }
  | { kind: 'not_approved'; round: number }
  | { kind: 'failed'; reason: string }
export type Speaker = { kind: 'manager' } | { kind: 'developer'; task: TaskId } | { kind: 'person' }
export type Turn = 'open' | 'speak' | 'sum_up'
export type Speech = { speaker: Speaker; turn: Turn; text: string }
export type PlanStep = { task: TaskId; after: TaskId[] }
export type Plan = PlanStep[]
export type Edit = { span: LineSpan; text: string }
export type FileChange =
  | { kind: 'modify'; edits: Edit[] }
  | { kind: 'create'; content: string }
  | { kind: 'delete' }
  | { kind: 'rename'; to: string; edits: Edit[] }
export type Finding =
  | { kind: 'parses_worse'; before: number; after: number }
  | { kind: 'no_change' }
  | { kind: 'deletes_far_more'; deleted: number; added: number }
export type Decision = 'approved' | 'rejected'
export type Verdict = { decision: Decision; comment: string }
export type Base = { commit: string; tree: string; uncommitted: boolean; name: string }
export type MergeResult = { tree: string; patch: string; commit_message: string; pull_request: string }
export type RunOutcome =
  | { kind: 'approved' }
  | { kind: 'not_approved' }
  | { kind: 'no_change'; reason: string }
  | { kind: 'failed'; reason: string }
export type Notice =
  | { notice: 'shortened'; step: string; what: string; tokens_before: number; tokens_after: number }
  | { notice: 'retried'; step: string; why: string }
  | { notice: 'replaced'; step: string; why: string; instead: string }
  | { notice: 'worker_restarted'; why: string }
export type Hint = { kind: 'comments'; text: string } | { kind: 'failing_log'; text: string } | { kind: 'word'; text: string }
export type RunRequest = {
  issue: string
  hints: Hint[]
  hints_mode: 'use' | 'ignore'
  files: string[]
  model: string
  seed: number
  top_k: number
  max_rounds: number
  candidates_per_round: number
  qa: 'review' | 'skip'
  relevance: 'code' | 'description'
}

// ---- the app ----
export type AppInfo = {
  version: string
  platform: string
  data_folder: string
  data_bytes: number
  models_folder: string
  threads: number
  memory_bytes: number
  available_memory_bytes: number
  first_start: boolean
}
export type Theme = 'system' | 'light' | 'dark'
export type Density = 'compact' | 'comfortable'
export type Language = 'system' | 'en' | 'zh_hans'
export type Settings = {
  theme: Theme
  density: Density
  font_size: number
  language: Language
  default_model: string | null
  threads: number | null
  context: number | null
  top_k: number
  max_rounds: number
  editor: string | null
  notify: boolean
}
export type FetchRecord = { at_ms: number; what: string; from: string; bytes: number }
export type PrivacyReport = { statements: string[]; fetched: FetchRecord[] }
export type DoctorLine = { ok: boolean; what: string; remedy: string | null }

// ---- repositories ----
export type HeadView =
  | { kind: 'branch'; name: string }
  | { kind: 'detached'; commit: string }
  | { kind: 'unborn'; name: string }
export type MemoryCounts = { fresh: number; stale: number; none: number }
export type RepositoryRow = {
  id: RepoId
  name: string
  root: string
  used_at_ms: number
  head: HeadView | null
  changed_files: number
  notes: string[]
  problem: Problem | null
  memory: MemoryCounts | null
  runs: number
}
export type BranchName = { name: string; current: boolean }
export type SampleIssue = { name: string; text: string }

// ---- solving ----
export type BaseWish = { kind: 'head' } | { kind: 'head_with_uncommitted' } | { kind: 'revision'; name: string }
export type SolveForm = {
  repo: RepoId
  issue: string
  comments: string
  failing_log: string
  base: BaseWish
  model: string | null
  files: string[]
  seed: number
  top_k: number
  max_rounds: number
  qa: boolean
}
export type Draft = SolveForm
export type Estimate = { seconds: number | null; from_runs: number }
export type SteeringWish =
  | { kind: 'drop'; path: string }
  | { kind: 'add'; path: string }
  | { kind: 'edit_task'; task: TaskId; description: string }
  | { kind: 'edit_role'; task: TaskId; role: Role }
  | { kind: 'hint'; text: string }
  | { kind: 'speak'; text: string }

// ---- a run ----
export type RunStatus =
  | 'queued'
  | 'running'
  | 'paused'
  | 'interrupted'
  | 'approved'
  | 'not_approved'
  | 'no_change'
  | 'failed'
export type RunRow = {
  id: RunId
  repo: RepoId | null
  repository: string
  title: string
  status: RunStatus
  model: string
  created_at_ms: number
  ended_at_ms: number | null
  worked_ms: number
  tokens: number
  files: number
  added: number
  deleted: number
  parent: RunId | null
  imported: boolean
  tags: string[]
  driven: boolean
}
export type RunListFilter = {
  repo: RepoId | null
  status: RunStatus | null
  tag: string | null
  text: string
  after: RunId | null
  limit: number
  order: 'newest_first' | 'oldest_first'
}
export type RunHitView = { run: RunRow; place: string; snippet: { text: string; hit: boolean }[] }
export type RunPage = { rows: RunHitView[]; more: boolean; total: number }

export type CandidateState =
  | { kind: 'kept' }
  | { kind: 'judged_irrelevant' }
  | { kind: 'dropped_by_you' }
  | { kind: 'declined'; reason: string }
  | { kind: 'waiting' }
export type CandidateView = {
  candidate: Candidate
  judgement: Judgement | null
  state: CandidateState
  description: Description | null
}
export type AttemptView = {
  candidate: number
  fault: string
  change: FileChange | null
  findings: Finding[]
  failed: string | null
  verdict: Verdict | null
  diff: string
}
export type RoundView = { round: number; symbols: string[]; spans: LineSpan[]; attempts: AttemptView[] }
export type TaskView = {
  task: FileTask
  developer: Role | null
  reviewer: Role | null
  rounds: RoundView[]
  outcome: TaskOutcome | null
  base_lines: number | null
}
export type StageView = {
  stage: Stage
  ms: number
  calls: number
  computed_tokens: number
  reused_tokens: number
  generated_tokens: number
  done: boolean
}
export type AppliedView = {
  kind: 'worktree' | 'branch' | 'patch_file'
  name: string
  at_ms: number
  notes: string[]
  undoable: boolean
}
export type RunView = {
  row: RunRow
  request: RunRequest
  base: Base
  condensed_issue: string | null
  hints: Hint[]
  stage: Stage
  stages: StageView[]
  paused_reason: string | null
  outcome: RunOutcome | null
  candidates: CandidateView[]
  skipped: SkippedFile[]
  tasks: TaskView[]
  meeting: Speech[]
  plan: Plan | null
  plan_groups: TaskId[][]
  merged: MergeResult | null
  notices: Notice[]
  applied: AppliedView | null
  seq: number
}
export type CallRow = {
  id: number
  agent: Agent
  step: string
  task: TaskId | null
  path: string | null
  round: number | null
  prompt_tokens: number
  reused_tokens: number
  generated_tokens: number
  ms: number
  retries: number
  at_ms: number
  left_out: string[]
}
export type CallText = {
  call: CallRow
  prompt: string
  reply: string
  model: string
  seed: number
  template_hash: string
}
export type DeleteTicket = { ticket: number; note: string }
export type UsageDay = { day: string; runs: number; ms: number; tokens: number; by_stage: StageView[] }

export type RunNews =
  | { kind: 'view'; view: RunView }
  | { kind: 'loading'; model: string }
  | { kind: 'indexing'; done: number; total: number }
  | { kind: 'call_started'; stage: Stage; agent: Agent; step: string; task: TaskId | null; path: string | null }
  | { kind: 'text'; task: TaskId | null; agent: Agent; step: string; delta: string }
  | {
      kind: 'call_ended'
      prompt_tokens: number
      reused_tokens: number
      generated_tokens: number
      prompt_ms: number
      generate_ms: number
      recorded: boolean
    }
  | { kind: 'speed'; tokens_per_second: number; elapsed_ms: number; left_ms: number | null }
  | { kind: 'stopped' }
  | { kind: 'ended' }
  | { kind: 'problem'; problem: Problem }

// ---- review ----
export type DiffLine = { kind: 'context' | 'added' | 'deleted'; old: number | null; new: number | null; text: string }
export type HunkView = {
  number: number
  header: string
  old_start: number
  old_lines: number
  new_start: number
  new_lines: number
  lines: DiffLine[]
  tasks: TaskId[]
}
export type FileDiff = {
  path: string
  old_path: string | null
  kind: 'modified' | 'added' | 'deleted' | 'renamed'
  binary: boolean
  added: number
  deleted: number
  hunks: HunkView[]
}
export type PatchView = { files: FileDiff[]; commit_message: string; pull_request: string; branch: string }
export type FileTexts = { before: string | null; after: string | null }
export type HunkDecision = 'accepted' | 'rejected'
export type FileReview = {
  path: string
  seen: boolean
  decisions: { hunk: number; decision: HunkDecision }[]
  edited: string | null
}
export type ReviewState = { files: FileReview[]; commit_message: string | null; pull_request: string | null }
export type ApplyWish =
  | { kind: 'worktree' }
  | { kind: 'branch'; name: string; identity: { name: string; email: string } | null }
  | { kind: 'patch_file'; path: string }
export type ConflictView = { path: string; line: number | null; reason: string }

// ---- memory ----
export type MemoryState = 'fresh' | 'stale' | 'none'
export type MemoryFile = {
  path: string
  bytes: number
  state: MemoryState
  tokens: number | null
  made_at_ms: number | null
  corrected: boolean
}
export type MemoryDay = { day: string; spent: number; saved: number }
export type MemoryReport = {
  repo: RepoId
  counts: MemoryCounts
  files: MemoryFile[]
  tokens_spent: number
  tokens_saved: number
  by_day: MemoryDay[]
}
export type SummaryView = {
  path: string
  blob: string
  text: string
  from_skeleton: boolean
  corrected: boolean
  model: string
  made_at_ms: number
  made_in: RunId | null
  change_message: string | null
  stale: boolean
}

// ---- models ----
export type ModelFit =
  | { kind: 'fits'; context: number }
  | { kind: 'smaller'; context: number }
  | { kind: 'no'; need: number; available: number }
export type ModelRow = {
  id: string
  name: string
  licence: string
  bytes: number
  sha256: string
  good_for: string
  installed: boolean
  own_file: boolean
  broken: string | null
  context_length: number
  need_bytes: number
  fits: ModelFit
  partial_bytes: number
  measured: { read_tokens_per_second: number; write_tokens_per_second: number; calls: number } | null
  is_default: boolean
  from: string
}
export type FetchNews =
  | { kind: 'progress'; received: number; total: number; bytes_per_second: number }
  | { kind: 'checking' }
  | { kind: 'done' }
  | { kind: 'stopped'; received: number }
  | { kind: 'problem'; problem: Problem }

// ---- events and answers ----
export type AppEvent =
  | { kind: 'repositories_changed' }
  | { kind: 'runs_changed'; run: RunId | null }
  | { kind: 'models_changed' }
  | { kind: 'memory_changed'; repo: RepoId }
  | { kind: 'settings_changed' }
  | { kind: 'close_asked'; running: number }
export type CloseAnswer = 'background' | 'pause' | 'stop' | 'cancel'
export type ExportFormat = 'json' | 'markdown' | 'patch'
