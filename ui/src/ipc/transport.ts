// Owns the calls to Tauri: each unwraps Rust's result and throws its problem as a Fault.
// It keeps no state and knows no screen. Names and arguments are the contract's.
import { Channel } from '@tauri-apps/api/core'
import { listen, TauriEvent } from '@tauri-apps/api/event'
import { open, save } from '@tauri-apps/plugin-dialog'
import { commands, events } from './bindings'
import { Fault, type Ipc, type Stop } from './ipc'
import type * as T from './types'

export const ipc: Ipc = {
  appInfo: () => call(commands.appInfo()),
  settings: () => call(commands.settings()),
  putSettings: (settings) => call(commands.putSettings(settings)),
  fetched: () => call(commands.fetched()),
  diagnostics: (path) => call(commands.diagnostics(path)),
  eraseAllData: (confirmation) => call(commands.eraseAllData(confirmation)),
  openInEditor: (repo, path, line) => call(commands.openInEditor(repo, path, line)),
  doctor: () => call(commands.doctor()),
  answerClose: (answer) => call(commands.answerClose(answer)),
  readText: (path) => call(commands.readText(path)),

  repositories: () => call(commands.repositories()),
  addRepository: (path) => call(commands.addRepository(path)),
  removeRepository: (id) => call(commands.removeRepository(id)),
  undoRemoveRepository: (id) => call(commands.undoRemoveRepository(id)),
  branches: (id) => call(commands.branches(id)),
  repositoryFiles: (id, base) => call(commands.repositoryFiles(id, base)),
  watchRepository: (id) => call(commands.watchRepository(id)),
  addSample: () => call(commands.addSample()),
  sampleIssues: () => call(commands.sampleIssues()),

  draft: (repo) => call(commands.draft(repo)),
  saveDraft: (draft) => call(commands.saveDraft(draft)),
  estimate: (form) => call(commands.estimate(form)),
  startRun: (form) => call(commands.startRun(form)),
  resumeRun: (run) => call(commands.resumeRun(run)),
  pauseRun: (run) => call(commands.pauseRun(run)),
  stopRun: (run) => call(commands.stopRun(run)),
  steer: (run, wish) => call(commands.steer(run, wish)),
  rerun: (run, from, model, seed) => call(commands.rerun(run, from, model, seed)),
  runningRuns: () => call(commands.runningRuns()),
  followRun: (run, onNews) => {
    let following = true
    const turn = (turns.get(run) ?? 0) + 1
    turns.set(run, turn)
    const channel = new Channel<T.RunUpdate>()
    channel.onmessage = (news) => {
      if (following) onNews(news)
    }
    call(commands.followRun(run, channel)).catch((thrown: unknown) => {
      if (following && thrown instanceof Fault) onNews({ kind: 'problem', problem: thrown.problem })
    })
    return () => {
      if (!following) return
      following = false
      // Rust has one follower a run: whoever followed later goes on.
      if (turns.get(run) === turn) call(commands.unfollowRun(run)).catch(() => undefined)
    }
  },

  runsPage: (filter) => call(commands.runsPage(filter)),
  runView: (run) => call(commands.runView(run)),
  calls: (run) => call(commands.calls(run)),
  callText: (run, id) => call(commands.callText(run, id)),
  setTags: (run, tags) => call(commands.setTags(run, tags)),
  deleteRun: (run) => call(commands.deleteRun(run)),
  undoDelete: (ticket) => call(commands.undoDelete(ticket)),
  exportRun: (run, format, path) => call(commands.exportRun(run, format, path)),
  importRun: (path) => call(commands.importRun(path)),
  usage: () => call(commands.usage()),
  baseFile: (run, path) => call(commands.baseFile(run, path)),

  patch: (run) => call(commands.patch(run)),
  fileTexts: (run, path) => call(commands.fileTexts(run, path)),
  review: (run) => call(commands.review(run)),
  saveReview: (run, state) => call(commands.saveReview(run, state)),
  conflicts: (run, state) => call(commands.conflicts(run, state)),
  apply: (run, state, wish) => call(commands.apply(run, state, wish)),
  undoApply: (run) => call(commands.undoApply(run)),

  memoryReport: (repo) => call(commands.memoryReport(repo)),
  summary: (repo, path) => call(commands.summary(repo, path)),
  correctSummary: (repo, path, text) => call(commands.correctSummary(repo, path, text)),
  dropSummary: (repo, path) => call(commands.dropSummary(repo, path)),
  exportMemory: (repo, file) => call(commands.exportMemory(repo, file)),
  importMemory: (repo, file) => call(commands.importMemory(repo, file)),
  renewSummary: (repo, path) => call(commands.renewSummary(repo, path)),
  renewSummarisationBudget: () => call(commands.renewSummarisationBudget()),

  models: () => call(commands.models()),
  fetchModel: (id, onNews) => {
    const channel = new Channel<T.FetchNews>()
    channel.onmessage = onNews
    return call(commands.fetchModel(id, channel))
  },
  pauseFetch: (id) => call(commands.pauseFetch(id)),
  removeModel: (id) => call(commands.removeModel(id)),
  addModel: (path) => call(commands.addModel(path)),
  verifyModel: (id) => call(commands.verifyModel(id)),
  setDefaultModel: (id, purpose) => call(commands.setDefaultModel(id, purpose)),

  onEvent: (handler) =>
    all([
      events.repositoriesChanged.listen(() => handler({ kind: 'repositories_changed' })),
      events.runsChanged.listen((event) => handler({ kind: 'runs_changed', run: event.payload.run })),
      events.modelsChanged.listen(() => handler({ kind: 'models_changed' })),
      events.memoryChanged.listen((event) => handler({ kind: 'memory_changed', repo: event.payload.repo })),
      events.settingsChanged.listen(() => handler({ kind: 'settings_changed' })),
      events.watchChanged.listen((event) => handler({ kind: 'watch_changed', view: event.payload.view })),
      events.opening.listen((event) => handler({ kind: 'opening', opening: event.payload })),
      events.closeAsked.listen((event) => handler({ kind: 'close_asked', running: event.payload.running })),
    ]),
  onDrop: (handler) => {
    const over = ({ payload }: { payload: Dragged }): void => handler({ kind: 'over', ...place(payload) })
    return all([
      listen<Dragged>(TauriEvent.DRAG_ENTER, over),
      listen<Dragged>(TauriEvent.DRAG_OVER, over),
      listen<Dragged>(TauriEvent.DRAG_DROP, ({ payload }) =>
        handler({ kind: 'dropped', paths: payload.paths ?? [], ...place(payload) }),
      ),
      listen(TauriEvent.DRAG_LEAVE, () => handler({ kind: 'left' })),
    ])
  },

  pickFolder: (title) => open({ title, directory: true }),
  pickFile: (title, extensions) =>
    open({ title, filters: extensions.length > 0 ? [{ name: extensions.join(', '), extensions }] : [] }),
  pickSavePath: (title, name) => save({ title, defaultPath: name }),
}

/** How often each run was followed, so that an old screen's leaving does not end a new one's following. */
const turns = new Map<T.RunId, number>()

type Result<Data> = { status: 'ok'; data: Data } | { status: 'error'; error: T.Problem }

async function call<Data>(result: Promise<Result<Data>>): Promise<Data> {
  let answer: Result<Data>
  try {
    answer = await result
  } catch (thrown) {
    throw new Fault({ code: 'ipc', message: thrown instanceof Error ? thrown.message : String(thrown), remedy: null })
  }
  if (answer.status === 'ok') return answer.data
  // What Tauri itself refuses comes as plain text, not as one of Rust's problems.
  throw new Fault(isProblem(answer.error) ? answer.error : { code: 'ipc', message: String(answer.error), remedy: null })
}

function isProblem(thrown: unknown): thrown is T.Problem {
  return typeof thrown === 'object' && thrown !== null && 'code' in thrown && 'message' in thrown
}

/** One function that ends several subscriptions, also those that are still being made. */
function all(pending: Promise<() => void>[]): Stop {
  return () => {
    for (const one of pending) one.then((stop) => stop()).catch(() => undefined)
  }
}

type Dragged = { paths?: string[]; position: { x: number; y: number } }

/** Tauri gives device pixels; the page counts in its own. */
function place({ position }: Dragged): { x: number; y: number } {
  return { x: position.x / window.devicePixelRatio, y: position.y / window.devicePixelRatio }
}
