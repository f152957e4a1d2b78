// Owns the calls to Tauri: each unwraps Rust's result and throws its problem as a Fault.
// It keeps no state and knows no screen. Names and arguments are the contract's.
import { Channel, invoke } from '@tauri-apps/api/core'
import { listen } from '@tauri-apps/api/event'
import { getCurrentWebview } from '@tauri-apps/api/webview'
import { open, save } from '@tauri-apps/plugin-dialog'
import { Fault, type DropNews, type Ipc, type Stop } from './ipc'
import type * as T from './types'

export const ipc: Ipc = {
  appInfo: () => call('app_info'),
  settings: () => call('settings'),
  putSettings: (settings) => call('put_settings', { settings }),
  privacy: () => call('privacy'),
  diagnostics: (path) => call('diagnostics', { path }),
  eraseAllData: (confirmation) => call('erase_all_data', { confirmation }),
  openInEditor: (repo, path, line) => call('open_in_editor', { repo, path, line }),
  doctor: () => call('doctor'),
  answerClose: (answer) => call('answer_close', { answer }),
  readText: (path) => call('read_text', { path }),

  repositories: () => call('repositories'),
  addRepository: (path) => call('add_repository', { path }),
  removeRepository: (id) => call('remove_repository', { id }),
  branches: (id) => call('branches', { id }),
  repositoryFiles: (id, base) => call('repository_files', { id, base }),
  addSample: () => call('add_sample'),
  sampleIssues: () => call('sample_issues'),

  draft: (repo) => call('draft', { repo }),
  saveDraft: (draft) => call('save_draft', { draft }),
  estimate: (form) => call('estimate', { form }),
  startRun: (form) => call('start_run', { form }),
  resumeRun: (run) => call('resume_run', { run }),
  pauseRun: (run) => call('pause_run', { run }),
  stopRun: (run) => call('stop_run', { run }),
  steer: (run, wish) => call('steer', { run, wish }),
  rerun: (run, from, model, seed) => call('rerun', { run, from, model, seed }),
  runningRuns: () => call('running_runs'),
  followRun: (run, onNews) => {
    let following = true
    const channel = new Channel<T.RunNews>()
    channel.onmessage = (news) => {
      if (following) onNews(news)
    }
    call<void>('follow_run', { run, channel }).catch((thrown: unknown) => {
      if (following && thrown instanceof Fault) onNews({ kind: 'problem', problem: thrown.problem })
    })
    return () => {
      if (!following) return
      following = false
      call<void>('unfollow_run', { run }).catch(() => undefined)
    }
  },

  runsPage: (filter) => call('runs_page', { filter }),
  runView: (run) => call('run_view', { run }),
  calls: (run) => call('calls', { run }),
  callText: (run, id) => call('call_text', { run, call: id }),
  setTags: (run, tags) => call('set_tags', { run, tags }),
  deleteRun: (run) => call('delete_run', { run }),
  undoDelete: (ticket) => call('undo_delete', { ticket }),
  exportRun: (run, format, path) => call('export_run', { run, format, path }),
  importRun: (path) => call('import_run', { path }),
  usage: () => call('usage'),
  baseFile: (run, path) => call('base_file', { run, path }),

  patch: (run) => call('patch', { run }),
  fileTexts: (run, path) => call('file_texts', { run, path }),
  review: (run) => call('review', { run }),
  saveReview: (run, state) => call('save_review', { run, state }),
  conflicts: (run, state) => call('conflicts', { run, state }),
  apply: (run, state, wish) => call('apply', { run, state, wish }),
  undoApply: (run) => call('undo_apply', { run }),

  memoryReport: (repo) => call('memory_report', { repo }),
  summary: (repo, path) => call('summary', { repo, path }),
  correctSummary: (repo, path, text) => call('correct_summary', { repo, path, text }),
  dropSummary: (repo, path) => call('drop_summary', { repo, path }),
  renewSummary: (repo, path) => call('renew_summary', { repo, path }),

  models: () => call('models'),
  fetchModel: (id, onNews) => {
    const channel = new Channel<T.FetchNews>()
    channel.onmessage = onNews
    return call('fetch_model', { id, channel })
  },
  pauseFetch: (id) => call('pause_fetch', { id }),
  removeModel: (id) => call('remove_model', { id }),
  addModel: (path) => call('add_model', { path }),
  verifyModel: (id) => call('verify_model', { id }),
  setDefaultModel: (id) => call('set_default_model', { id }),

  onEvent: (handler) =>
    all([
      listen('repositories-changed', () => handler({ kind: 'repositories_changed' })),
      listen<{ run: T.RunId | null }>('runs-changed', (event) => handler({ kind: 'runs_changed', ...event.payload })),
      listen('models-changed', () => handler({ kind: 'models_changed' })),
      listen<{ repo: T.RepoId }>('memory-changed', (event) => handler({ kind: 'memory_changed', ...event.payload })),
      listen('settings-changed', () => handler({ kind: 'settings_changed' })),
      listen<{ running: number }>('close-asked', (event) => handler({ kind: 'close_asked', ...event.payload })),
    ]),
  onDrop: (handler) =>
    all([
      getCurrentWebview().onDragDropEvent((event) => {
        const news = dropNews(event.payload)
        if (news) handler(news)
      }),
    ]),

  pickFolder: (title) => open({ title, directory: true }),
  pickFile: (title, extensions) =>
    open({ title, filters: extensions.length > 0 ? [{ name: extensions.join(', '), extensions }] : [] }),
  pickSavePath: (title, name) => save({ title, defaultPath: name }),
}

async function call<Answer>(command: string, given: Record<string, unknown> = {}): Promise<Answer> {
  try {
    return await invoke<Answer>(command, given)
  } catch (thrown) {
    throw new Fault(isProblem(thrown) ? thrown : { code: 'ipc', message: String(thrown), remedy: null })
  }
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

type Payload = { type: string; paths?: string[]; position?: { x: number; y: number } }

function dropNews(payload: Payload): DropNews | null {
  // Tauri gives device pixels; the page counts in its own.
  const x = (payload.position?.x ?? 0) / window.devicePixelRatio
  const y = (payload.position?.y ?? 0) / window.devicePixelRatio
  switch (payload.type) {
    case 'enter':
    case 'over':
      return { kind: 'over', x, y }
    case 'leave':
      return { kind: 'left' }
    case 'drop':
      return { kind: 'dropped', paths: payload.paths ?? [], x, y }
    default:
      return null
  }
}
