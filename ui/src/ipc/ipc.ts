// Owns what the window can ask of Rust, as one interface: the real transport and the tests' scripted one both keep it.
// Every method rejects with a Fault, whose problem has one sentence and one remedy. No implementation here.
import type * as T from './types'

/** Ends a subscription; calling it twice does nothing. */
export type Stop = () => void

/** What a person dropped from outside the window, and where over it. */
export type Dropped = { paths: string[]; x: number; y: number }
export type DropNews = { kind: 'over'; x: number; y: number } | { kind: 'left' } | ({ kind: 'dropped' } & Dropped)

export interface Ipc {
  // the app
  appInfo(): Promise<T.AppInfo>
  settings(): Promise<T.Settings>
  putSettings(settings: T.Settings): Promise<void>
  privacy(): Promise<T.PrivacyReport>
  diagnostics(path: string): Promise<void>
  eraseAllData(confirmation: string): Promise<void>
  openInEditor(repo: T.RepoId, path: string, line: number | null): Promise<void>
  doctor(): Promise<T.DoctorLine[]>
  answerClose(answer: T.CloseAnswer): Promise<void>
  readText(path: string): Promise<string>

  // repositories
  repositories(): Promise<T.RepositoryRow[]>
  addRepository(path: string): Promise<T.RepositoryRow>
  removeRepository(id: T.RepoId): Promise<void>
  branches(id: T.RepoId): Promise<T.BranchName[]>
  repositoryFiles(id: T.RepoId, base: T.BaseWish): Promise<string[]>
  addSample(): Promise<T.RepositoryRow>
  sampleIssues(): Promise<T.SampleIssue[]>

  // solving
  draft(repo: T.RepoId): Promise<T.Draft | null>
  saveDraft(draft: T.Draft): Promise<void>
  estimate(form: T.SolveForm): Promise<T.Estimate>
  startRun(form: T.SolveForm): Promise<T.RunId>
  resumeRun(run: T.RunId): Promise<void>
  pauseRun(run: T.RunId): Promise<void>
  stopRun(run: T.RunId): Promise<void>
  steer(run: T.RunId, wish: T.SteeringWish): Promise<void>
  rerun(run: T.RunId, from: T.Stage, model: string | null, seed: number): Promise<T.RunId>
  runningRuns(): Promise<T.RunRow[]>
  /** News of a run until it ends or the returned function is called. */
  followRun(run: T.RunId, onNews: (news: T.RunNews) => void): Stop

  // runs
  runsPage(filter: T.RunListFilter): Promise<T.RunPage>
  runView(run: T.RunId): Promise<T.RunView>
  calls(run: T.RunId): Promise<T.CallRow[]>
  callText(run: T.RunId, call: number): Promise<T.CallText>
  setTags(run: T.RunId, tags: string[]): Promise<void>
  deleteRun(run: T.RunId): Promise<T.DeleteTicket>
  undoDelete(ticket: number): Promise<void>
  exportRun(run: T.RunId, format: T.ExportFormat, path: string): Promise<void>
  importRun(path: string): Promise<T.RunId>
  usage(): Promise<T.UsageDay[]>
  baseFile(run: T.RunId, path: string): Promise<string>

  // review
  patch(run: T.RunId): Promise<T.PatchView>
  fileTexts(run: T.RunId, path: string): Promise<T.FileTexts>
  review(run: T.RunId): Promise<T.ReviewState>
  saveReview(run: T.RunId, state: T.ReviewState): Promise<void>
  conflicts(run: T.RunId, state: T.ReviewState): Promise<T.ConflictView[]>
  apply(run: T.RunId, state: T.ReviewState, wish: T.ApplyWish): Promise<T.AppliedView>
  undoApply(run: T.RunId): Promise<void>

  // memory
  memoryReport(repo: T.RepoId): Promise<T.MemoryReport>
  summary(repo: T.RepoId, path: string): Promise<T.SummaryView | null>
  correctSummary(repo: T.RepoId, path: string, text: string): Promise<T.SummaryView>
  dropSummary(repo: T.RepoId, path: string): Promise<void>
  renewSummary(repo: T.RepoId, path: string): Promise<T.SummaryView>

  // models
  models(): Promise<T.ModelRow[]>
  fetchModel(id: string, onNews: (news: T.FetchNews) => void): Promise<void>
  pauseFetch(id: string): Promise<void>
  removeModel(id: string): Promise<void>
  addModel(path: string): Promise<T.ModelRow>
  verifyModel(id: string): Promise<string | null>
  setDefaultModel(id: string): Promise<void>

  // what comes unasked
  onEvent(handler: (event: T.AppEvent) => void): Stop
  onDrop(handler: (news: DropNews) => void): Stop

  // the system's own file dialogs; null when the person cancels
  pickFolder(title: string): Promise<string | null>
  pickFile(title: string, extensions: string[]): Promise<string | null>
  pickSavePath(title: string, name: string): Promise<string | null>
}

/** What a call failed with: a thrown Problem. */
export class Fault extends Error {
  readonly problem: T.Problem
  constructor(problem: T.Problem) {
    super(problem.message)
    this.name = 'Fault'
    this.problem = problem
  }
}

/** The problem in whatever was thrown; what is no Fault is a bug in the window, and says so. */
export function problemOf(thrown: unknown): T.Problem {
  if (thrown instanceof Fault) return thrown.problem
  return { code: 'window', message: thrown instanceof Error ? thrown.message : String(thrown), remedy: null }
}
