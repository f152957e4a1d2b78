// Owns what the window can ask of Rust, as one interface: the real transport and the tests' scripted one both keep it.
// Every method rejects with a Fault, whose problem has one sentence and one remedy. No implementation here.
import type * as T from './types'

/** Ends a subscription; calling it twice does nothing. */
export type Stop = () => void

/** A command whose answer says only that it was carried out. */
export type Done = Promise<unknown>

/** What a person dropped from outside the window, and where over it. */
export type Dropped = { paths: string[]; x: number; y: number }
export type DropNews = { kind: 'over'; x: number; y: number } | { kind: 'left' } | ({ kind: 'dropped' } & Dropped)

export interface Ipc {
  // the app
  appInfo(): Promise<T.AppInfo>
  settings(): Promise<T.Settings>
  putSettings(settings: T.Settings): Done
  fetched(): Promise<T.FetchRecord[]>
  diagnostics(path: string): Done
  eraseAllData(confirmation: string): Promise<string[]>
  openInEditor(repo: T.RepoId, path: string, line: number | null): Done
  doctor(): Promise<T.DoctorLine[]>
  answerClose(answer: T.CloseAnswer): Done
  readText(path: string): Promise<string>

  // repositories
  repositories(): Promise<T.RepositoryRow[]>
  addRepository(path: string): Promise<T.RepositoryRow>
  removeRepository(id: T.RepoId): Done
  undoRemoveRepository(id: T.RepoId): Done
  branches(id: T.RepoId): Promise<T.BranchName[]>
  repositoryFiles(id: T.RepoId, base: T.BaseRequest): Promise<string[]>
  /** Watches a repository and none beside it. */
  watchRepository(id: T.RepoId): Promise<T.WatchView>
  addSample(): Promise<T.RepositoryRow>
  sampleIssues(): Promise<T.SampleIssue[]>

  // solving
  draft(repo: T.RepoId): Promise<T.Draft | null>
  saveDraft(draft: T.Draft): Done
  estimate(form: T.SolveForm): Promise<T.Estimate>
  startRun(form: T.SolveForm): Promise<T.RunId>
  resumeRun(run: T.RunId): Done
  pauseRun(run: T.RunId): Done
  stopRun(run: T.RunId): Done
  steer(run: T.RunId, wish: T.SteeringRequest): Done
  rerun(run: T.RunId, from: T.Stage, model: string | null, seed: number): Promise<T.RunId>
  runningRuns(): Promise<T.RunRow[]>
  /** News of a run until it ends or the returned function is called. */
  followRun(run: T.RunId, onNews: (news: T.RunUpdate) => void): Stop

  // runs
  runsPage(filter: T.RunListFilter): Promise<T.RunPage>
  runView(run: T.RunId): Promise<T.RunView>
  calls(run: T.RunId): Promise<T.CallRow[]>
  callText(run: T.RunId, call: number): Promise<T.CallText>
  setTags(run: T.RunId, tags: string[]): Done
  deleteRun(run: T.RunId): Promise<T.DeleteTicket>
  undoDelete(ticket: number): Done
  exportRun(run: T.RunId, format: T.ExportFormat, path: string): Done
  importRun(path: string): Promise<T.RunId>
  usage(): Promise<T.UsageDay[]>
  baseFile(run: T.RunId, path: string): Promise<string>

  // review
  patch(run: T.RunId): Promise<T.PatchView>
  fileTexts(run: T.RunId, path: string): Promise<T.FileTexts>
  review(run: T.RunId): Promise<T.ReviewState>
  saveReview(run: T.RunId, state: T.ReviewState): Done
  conflicts(run: T.RunId, state: T.ReviewState): Promise<T.ConflictView[]>
  apply(run: T.RunId, state: T.ReviewState, wish: T.ApplyRequest): Promise<T.AppliedView>
  undoApply(run: T.RunId): Done

  // memory
  memoryReport(repo: T.RepoId): Promise<T.MemoryReport>
  summary(repo: T.RepoId, path: string): Promise<T.SummaryView | null>
  correctSummary(repo: T.RepoId, path: string, text: string): Promise<T.SummaryView>
  dropSummary(repo: T.RepoId, path: string): Done
  exportMemory(repo: T.RepoId, file: string): Promise<T.MemoryExportView>
  importMemory(repo: T.RepoId, file: string): Promise<T.MemoryImportView>
  renewSummary(repo: T.RepoId, path: string): Promise<T.SummaryView>
  renewSummarisationBudget(): Done

  // models
  models(): Promise<T.ModelRow[]>
  fetchModel(id: string, onNews: (news: T.FetchNews) => void): Done
  pauseFetch(id: string): Done
  removeModel(id: string): Done
  addModel(path: string): Promise<T.ModelRow>
  verifyModel(id: string): Promise<string | null>
  setDefaultModel(id: string, purpose: T.Purpose): Done

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
