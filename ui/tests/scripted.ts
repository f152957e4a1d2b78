// Owns the tests' transport: the same interface as the real one, answered from a scene and changed by what the window
// asks. It asks no network and has no clock. `window.magis` lets a test see what was asked and say what Rust would say
// unasked.
import { titleOf } from '../src/features/solve/effort'
import { IpcError, type DropNews, type Ipc } from '../src/ipc/ipc'
import type * as T from '../src/ipc/types'
import { hubListing, suggestions } from './script/hub'
import { fold, patchView, textsOf, type Recorded } from './script/recorded'
import { hostile, now, recorded, scene, type SceneName } from './script/scenes'

const address = new URLSearchParams(location.search)
const held = scene((address.get('scene') ?? 'usual') as SceneName)
held.settings.theme = (address.get('theme') ?? held.settings.theme) as T.Theme
held.settings.language = (address.get('language') ?? held.settings.language) as T.Language

const listeners = new Set<T.AppEventHandlers>()
const drops = new Set<(news: DropNews) => void>()
const followers = new Map<T.RunId, Set<(news: T.RunUpdate) => void>>()
const fetchers = new Map<string, { say: (news: T.FetchNews) => void; end: () => void }>()
const drafts = new Map<T.RepoId, T.Draft>()
const reviews = new Map<T.RunId, T.ReviewState>()
const applied = new Map<T.RunId, T.AppliedView>()
const deleted = new Map<number, T.RunRow>()
const removed: T.RepositoryRow[] = []
const asked: { name: string; given: unknown[] }[] = []
const answers = new Map<string, unknown>()
const trials = new Map<string, () => void>()
const permission: T.CodePermission = { issue_code: null, not_isolated: null }
let watched: T.RepoId | null = null

const emit = ({ name, payload }: T.AppEvent): void =>
  listeners.forEach((handlers) => (handlers[name] as (payload: unknown) => void)(payload))
const clone = <V>(value: V): V => structuredClone(value)
const refuse = (code: string, message: string, remedy: string | null = null): IpcError =>
  new IpcError({ code, message, remedy })

/** The recorded run behind an id: rows without one of their own show the first. */
function run(id: T.RunId): Recorded {
  return recorded.get(id) ?? (recorded.get(5) as Recorded)
}

function rowOf(id: T.RunId): T.RunRow {
  const row = held.rows.find((one) => one.id === id)
  if (!row) throw refuse('no_run', `There is no run ${id}.`, 'It may have been deleted; look into the list of runs.')
  return row
}

function viewOf(id: T.RunId): T.RunView {
  const row = rowOf(id)
  const view = fold(
    run(id),
    row.status === 'waiting'
      ? 1
      : row.driven || row.status === 'running' || row.status === 'paused'
        ? held.runningAt
        : Infinity,
  )
  const shown: T.RunView = { ...view, row: clone(row), applied: applied.get(id) ?? null }
  return held.name === 'hostile' ? dirtied(shown) : shown
}

/** Every text that people or models write, with markup in it. */
function dirtied(view: T.RunView): T.RunView {
  return {
    ...view,
    request: { ...view.request, issue: `# ${hostile}\n\n${hostile}\n\n\`\`\`html\n${hostile}\n\`\`\`` },
    tasks: view.tasks.map((task) => ({
      ...task,
      task: { ...task.task, path: `src/${hostile}.py`, description: hostile },
      developer: { name: hostile, focus: hostile },
    })),
    meeting: view.meeting.map((speech) => ({ ...speech, text: hostile })),
  }
}

function hits(filter: T.RunListFilter): T.RunHitView[] {
  const text = filter.text.trim().toLowerCase()
  const rows = held.rows.filter(
    (row) =>
      (filter.repo === null || row.repo === filter.repo) &&
      (filter.status === null || row.status === filter.status) &&
      (filter.tag === null || row.tags.includes(filter.tag)) &&
      (text === '' || row.title.toLowerCase().includes(text)),
  )
  if (filter.order === 'oldest_first') rows.reverse()
  return rows.map((row) => {
    const at = text === '' ? -1 : row.title.toLowerCase().indexOf(text)
    return {
      run: row,
      place: text === '' ? '' : 'issue',
      snippet:
        at < 0
          ? []
          : [
              { text: row.title.slice(0, at), hit: false },
              { text: row.title.slice(at, at + text.length), hit: true },
              { text: row.title.slice(at + text.length), hit: false },
            ].filter((part) => part.text !== ''),
    }
  })
}

function news(id: T.RunId, one: T.RunUpdate): void {
  followers.get(id)?.forEach((handler) => handler(one))
}

/** What a follower hears at once: where the run stands, and the call at work with part of its reply. */
function catchUp(id: T.RunId, handler: (one: T.RunUpdate) => void): void {
  const row = rowOf(id)
  handler({ kind: 'view', view: viewOf(id) })
  if (!row.driven) {
    handler({ kind: 'ended' })
    return
  }
  const call = run(id).calls.find((one) => one.after_seq >= held.runningAt && one.step === 'P10-code')
  if (!call) return
  handler({ kind: 'call_started', stage: 'code', agent: call.agent, step: call.step, task: call.task, path: call.path })
  handler({
    kind: 'text',
    task: call.task,
    agent: call.agent,
    step: call.step,
    delta: call.reply.slice(0, Math.round(call.reply.length * 0.6)),
  })
  const left_ms = run(id)
    .calls.filter((one) => one.id >= call.id)
    .reduce((sum, one) => sum + one.ms, 0)
  handler({
    kind: 'speed',
    tokens_per_second: (1000 * call.generated_tokens) / call.ms,
    worked_ms: viewOf(id).worked_ms,
    left_ms,
  })
}

const acts: Ipc = {
  appInfo: async () => clone(held.info),
  settings: async () => {
    if (held.name === 'broken')
      throw refuse(
        'database_newer',
        'The database was written by a newer version of Magis.',
        'Install that version, or start with another data folder.',
      )
    return clone(held.settings)
  },
  putSettings: async (settings) => {
    held.settings = clone(settings)
    emit({ name: 'settingsChanged', payload: {} })
    if (watched !== null) emit({ name: 'watchChanged', payload: { view: watching(watched) } })
  },
  renewSummarisationBudget: async () => {
    if (watched !== null) emit({ name: 'watchChanged', payload: { view: { ...watching(watched), spent: 0 } } })
  },
  fetched: async () => clone(held.fetched),
  makeReport: async () =>
    '# Magis 0.9.0\n\nlinux x86_64, 8 threads\nmemory: 32.0 GB, 22.9 GB available\ndatabase: 4.1 MB, sound\n\n' +
    '## Settings that were changed\n\n- theme: "dark"\n- editor: left out\n\n## Runs\n\nthe last 3: 2 approved, 1 stopped\n\n' +
    '## Log\n\n    2026-11-20T09:14:02Z INFO run{run=6}: driver: stage=code\n\n' +
    '## Left out\n\nCode, issues, prompts, replies, paths and names.\n',
  saveReport: async () => undefined,
  eraseAllData: async (confirmation) => {
    if (confirmation !== 'erase') throw refuse('not_confirmed', 'Nothing was erased: the word was another one.')
    Object.assign(held, scene('first'))
    return []
  },
  openInEditor: async () => undefined,
  doctor: async (): Promise<T.DoctorLine[]> => [
    { ok: true, said: { code: 'database_fine', message: 'The database is sound.', remedy: null } },
    {
      ok: true,
      said: {
        code: 'memory_available',
        message: '22.9 GB of memory are available.',
        remedy: null,
        given: { available: '22.9 GB' },
      },
    },
    held.name === 'problems'
      ? {
          ok: false,
          said: {
            code: 'model',
            message: 'The model qwen2.5-coder-7b is damaged',
            remedy: 'Delete the file and download it again.',
          },
        }
      : {
          ok: true,
          said: {
            code: 'model_fine',
            message: 'The model qwen2.5-coder-7b is whole and fits.',
            remedy: null,
            given: { model: 'qwen2.5-coder-7b' },
          },
        },
  ],
  answerClose: async () => undefined,
  readText: async () => '# Dropped issue\n\nIt fails when the list is empty.',

  repositories: async () => clone(held.repositories),
  addRepository: async (path) => {
    if (!path.includes('/'))
      throw refuse(
        'not_a_repository',
        `${path} is not a git repository.`,
        'Choose the folder that holds the .git folder, or run git init in it.',
      )
    const known = held.repositories.find((row) => row.root === path)
    if (known) return clone(known)
    const row: T.RepositoryRow = {
      id: 50 + held.repositories.length,
      name: path.split('/').pop() ?? path,
      root: path,
      used_at_ms: now,
      head: { kind: 'branch', name: 'main' },
      changed_files: 0,
      notes: [],
      problem: null,
      memory: { fresh: 0, stale: 0, none: 36, needs_none: 4 },
      index: { kind: 'none' },
      runs: 0,
    }
    held.repositories.push(row)
    emit({ name: 'repositoriesChanged', payload: {} })
    return clone(row)
  },
  removeRepository: async (id) => {
    removed.push(...held.repositories.filter((row) => row.id === id))
    held.repositories = held.repositories.filter((row) => row.id !== id)
    emit({ name: 'repositoriesChanged', payload: {} })
  },
  undoRemoveRepository: async (id) => {
    held.repositories.push(...removed.filter((row) => row.id === id))
    emit({ name: 'repositoriesChanged', payload: {} })
  },
  testCommands: async () => clone(held.commands),
  readTestCommand: async (_, __, command) => {
    if ((command.line.split("'").length - 1) % 2 === 1)
      throw new IpcError({
        code: 'test_command_quote',
        message: `The test command '${command.line}' has a quote that is not closed.`,
        remedy: 'Close it.',
        given: { line: command.line },
      })
    const before = command.line.startsWith('ctest') ? ['cmake -S . -B build', 'cmake --build build'] : []
    return { runner: null, reason: 'it was given', before, command, allowed: null }
  },
  allowTests: async (_, __, command, term) => {
    const known = held.commands.find((row) => row.command.line === command.line)
    const row: T.TestCommandRow = {
      ...(known ?? { runner: null, reason: 'it was given', before: [], command }),
      allowed: term,
    }
    held.commands = [...held.commands.filter((one) => one !== known), row]
    return clone(row)
  },
  tryCheck: async (id, check, script) => {
    const known = fold(run(id)).evidence?.checks.find((one) => one.id === check)
    if (known === undefined) throw new Error(`no check ${check}`)
    // A script that does not end waits until it is stopped.
    if (script.includes('while True')) await new Promise<void>((end) => trials.set(`${id} ${check}`, end))
    if (trials.delete(`${id} ${check}`)) throw refuse('cancelled', 'The check was stopped.')
    return { on_base: clone(known.on_base), on_result: null }
  },
  stopCheck: async (id, check) => trials.get(`${id} ${check}`)?.(),
  codePermission: async () => clone(permission),
  allowIssueCode: async (_, term) => {
    permission.issue_code = term
  },
  forbidTests: async () => {
    held.commands = held.commands.map((row) => ({ ...row, allowed: null }))
    permission.issue_code = null
  },
  branches: async () => [
    { name: 'main', current: true },
    { name: 'fix/berth-names', current: false },
    { name: 'release/2.4', current: false },
  ],
  repositoryFiles: async () => held.memory.files.map((file) => file.path),
  watchRepository: async (id) => watching((watched = id)),
  addSample: async () => {
    const row: T.RepositoryRow = {
      id: 3,
      name: 'tally',
      root: '~/.local/share/magis/sample/tally',
      used_at_ms: now,
      head: { kind: 'branch', name: 'main' },
      changed_files: 0,
      notes: [],
      problem: null,
      memory: { fresh: 0, stale: 0, none: 11, needs_none: 3 },
      index: { kind: 'none' },
      runs: 0,
    }
    if (!held.repositories.some((one) => one.id === 3)) held.repositories.push(row)
    emit({ name: 'repositoriesChanged', payload: {} })
    return clone(row)
  },
  sampleIssues: async () => [
    {
      name: 'until',
      text: '# `--until` leaves out the last day\n\n`tally report --until 2026-03-31` does not count the entries of 31 March.\n\nExpected: the day that is named belongs to the period, as `--since` does it.',
    },
    {
      name: 'empty_report',
      text: '# A report without entries divides by zero\n\n`tally report` on an empty file ends with `ZeroDivisionError` in `average`.',
    },
  ],

  draft: async (repo) => clone(drafts.get(repo) ?? null),
  saveDraft: async (draft) => {
    drafts.set(draft.repo, clone(draft))
  },
  estimate: async (form) => ({ seconds: 40 + form.top_k * 6 * form.max_rounds, from_runs: 9 }),
  startRun: async (form) => {
    const row: T.RunRow = {
      ...(held.rows[0] ?? fold(run(5)).row),
      id: 6,
      repo: form.repo,
      title: titleOf(form.issue),
      status: 'running',
      review: null,
      proof: { kind: 'not_run' },
      created_at_ms: now,
      ended_at_ms: null,
      driven: true,
      tags: [],
      files: 0,
      added: 0,
      deleted: 0,
    }
    held.rows = [row, ...held.rows.filter((one) => one.id !== 6)]
    held.running = [row]
    held.runningAt = 3
    emit({ name: 'runsChanged', payload: { run: 6 } })
    return 6
  },
  resumeRun: async (id) => setStatus(id, 'running'),
  pauseRun: async (id) => setStatus(id, 'paused'),
  stopRun: async (id) => {
    setStatus(id, 'interrupted')
    news(id, { kind: 'stopped' })
  },
  steer: async (id) => news(id, { kind: 'view', view: viewOf(id) }),
  rerun: async () => 6,
  rerunTaking: async () => 6,
  runningRuns: async () => clone(held.running),
  followRun: (id, onNews) => {
    const handlers = followers.get(id) ?? new Set()
    handlers.add(onNews)
    followers.set(id, handlers)
    queueMicrotask(() => handlers.has(onNews) && catchUp(id, onNews))
    return () => handlers.delete(onNews)
  },

  runsPage: async (filter) => {
    const all = hits(filter)
    const from = filter.after === null ? 0 : all.findIndex((hit) => hit.run.id === filter.after) + 1
    const page = all.slice(from, from + filter.limit)
    return clone({ rows: page, more: from + page.length < all.length, total: all.length })
  },
  runView: async (id) => viewOf(id),
  calls: async (id) =>
    run(id).calls.map(
      ({ after_seq: _, model: __, seed: ___, template_hash: ____, prompt: _____, reply: ______, ...row }) => row,
    ),
  callText: async (id, number) => {
    const call = run(id).calls.find((one) => one.id === number)
    if (!call) throw refuse('no_call', `Run ${id} has no call ${number}.`)
    const { after_seq: _, model, seed, template_hash, prompt, reply, ...row } = call
    return { call: row, prompt, reply, model, seed, template_hash }
  },
  setTags: async (id, tags) => {
    rowOf(id).tags = [...tags]
    emit({ name: 'runsChanged', payload: { run: id } })
  },
  deleteRun: async (id) => {
    deleted.set(id, rowOf(id))
    held.rows = held.rows.filter((row) => row.id !== id)
    emit({ name: 'runsChanged', payload: { run: id } })
    return { ticket: id, note: 'Its texts are erased when the window closes.' }
  },
  undoDelete: async (ticket) => {
    const row = deleted.get(ticket)
    if (row) held.rows = [row, ...held.rows].sort((a, b) => b.created_at_ms - a.created_at_ms)
    emit({ name: 'runsChanged', payload: { run: ticket } })
  },
  exportRun: async () => undefined,
  importRun: async () => 5,
  usage: async () =>
    Array.from({ length: 21 }, (_, at) => {
      const runs = [2, 0, 3, 1, 4, 2, 0, 5, 3, 1][at % 10] ?? 0
      return {
        day: new Date(now - (20 - at) * 86_400_000).toISOString().slice(0, 10),
        runs,
        ms: runs * 240_000,
        tokens: runs * 26_000,
        by_stage: fold(run(5)).stages.map((stage) => ({
          ...stage,
          ms: stage.ms * runs,
          computed_tokens: stage.computed_tokens * runs,
          generated_tokens: stage.generated_tokens * runs,
        })),
      }
    }),
  baseFile: async (id, path) => run(id).files[path] ?? '',

  patch: async (id) => {
    const view = patchView(run(id))
    if (held.name !== 'hostile') return view
    return {
      ...view,
      commit_message: hostile,
      pull_request: hostile,
      files: view.files.map((file) => ({
        ...file,
        hunks: file.hunks.map((hunk) => ({
          ...hunk,
          header: hostile,
          lines: hunk.lines.map((line) => ({ ...line, text: hostile })),
        })),
      })),
    }
  },
  fileTexts: async (id, path) => textsOf(run(id), path),
  review: async (id) => clone(reviews.get(id) ?? { files: [], commit_message: null, pull_request: null, tests: [] }),
  saveReview: async (id, state) => {
    reviews.set(id, clone(state))
  },
  conflicts: async () => [],
  apply: async (id, _, wish) => {
    const view: T.AppliedView = {
      kind: wish.kind,
      name: wish.kind === 'branch' ? wish.name : wish.kind === 'patch_file' ? wish.path : '~/src/tally',
      at_ms: now,
      notes: [],
      undoable: wish.kind !== 'patch_file',
    }
    applied.set(id, view)
    emit({ name: 'runsChanged', payload: { run: id } })
    return view
  },
  nameRepository: async () => undefined,
  breakLease: async () => undefined,
  undecidedPrograms: async () => [],
  decidePrograms: async () => undefined,
  decidedPrograms: async () => [],
  forgetDecidedPrograms: async () => undefined,
  undoApply: async (id) => {
    applied.delete(id)
    emit({ name: 'runsChanged', payload: { run: id } })
  },

  memoryReport: async (repo) => clone({ ...held.memory, repo }),
  summary: async (_, path) => {
    const file = held.memory.files.find((one) => one.path === path)
    if (!file || file.state === 'none' || file.state === 'needs_none') return null
    return clone(
      held.summaries.get(path) ?? {
        ...([...held.summaries.values()][0] as T.SummaryView),
        path,
        corrected: file.corrected,
        stale: file.state === 'stale',
        change_message: file.state === 'stale' ? 'Accounts are told apart by their numbers' : null,
      },
    )
  },
  correctSummary: async (_, path, text) => {
    const view: T.SummaryView = {
      path,
      blob: '',
      text,
      from_skeleton: false,
      corrected: true,
      model: 'Qwen2.5-Coder 7B Instruct',
      made_at_ms: now,
      made_in: null,
      change_message: null,
      stale: false,
    }
    held.summaries.set(path, view)
    mark(path, 'fresh')
    return clone(view)
  },
  dropSummary: async (_, path) => {
    held.summaries.delete(path)
    mark(path, 'none')
  },
  exportMemory: async () => ({ summaries: 3, corrected: 1, messages: 2 }),
  importMemory: async () => ({ added: 2, replaced: 1, kept: 3, corrected: 1, unknown_versions: 0 }),
  renewSummary: async (_, path) => {
    const view: T.SummaryView = {
      path,
      blob: '',
      text: `What ${path} does, said anew.`,
      from_skeleton: false,
      corrected: false,
      model: 'Qwen2.5-Coder 7B Instruct',
      made_at_ms: now,
      made_in: null,
      change_message: null,
      stale: false,
    }
    held.summaries.set(path, view)
    mark(path, 'fresh')
    return clone(view)
  },

  otherEngine: async () => clone(held.engine),
  checkEngine: async (form) => {
    held.engine.form = clone(form)
    return checked(form)
  },
  useOtherEngine: async (form) => {
    const check = checked(form)
    const model = `${check.model}@engine:${check.host}`
    held.engine = {
      form: { ...clone(form), model: check.model },
      used: { host: check.host, model, label: check.model },
    }
    emit({ name: 'settingsChanged', payload: {} })
    return check
  },
  leaveOtherEngine: async () => {
    held.engine = { ...held.engine, used: null }
    emit({ name: 'settingsChanged', payload: {} })
  },
  checkKeyring: async () => undefined,
  keepEngineKey: async () => undefined,
  forgetEngineKey: async () => undefined,

  models: async () => clone(held.models),
  modelSuggestions: async () => clone(suggestions),
  hubModels: async () => clone(hubListing),
  fetchModel: (id, onNews) =>
    new Promise((end) => {
      const model = [...held.models, ...hubListing.models].find((one) => one.id === id)
      fetchers.set(id, { say: onNews, end: () => end(null) })
      onNews({
        kind: 'progress',
        received: (model?.bytes ?? 0) * 0.37,
        total: model?.bytes ?? 0,
        bytes_per_second: 11_400_000,
      })
    }),
  pauseFetch: async (id) => {
    const model = held.models.find((one) => one.id === id)
    const bytes = model?.bytes ?? hubListing.models.find((one) => one.id === id)?.bytes ?? 0
    const received = Math.round(bytes * 0.37)
    if (model) model.partial_bytes = received
    fetchers.get(id)?.say({ kind: 'stopped', received })
    fetchers.get(id)?.end()
    emit({ name: 'modelsChanged', payload: {} })
  },
  removeModel: async (id) => {
    held.models = held.models.map((one) =>
      one.id === id ? { ...one, installed: false, partial_bytes: 0, default_for: [], measured: null } : one,
    )
    emit({ name: 'modelsChanged', payload: {} })
  },
  addModel: async (path) => {
    const row: T.ModelRow = {
      ...(held.models[0] as T.ModelRow),
      id: 'own',
      name: path.split('/').pop() ?? path,
      own_file: true,
      installed: true,
      default_for: [],
      partial_bytes: 0,
      from: path,
      measured: null,
      abilities: null,
    }
    held.models.push(row)
    return clone(row)
  },
  verifyModel: async () => null,
  setDefaultModel: async (id, purpose) => {
    held.models = held.models.map((one) => ({
      ...one,
      default_for: [...one.default_for.filter((its) => its !== purpose), ...(one.id === id ? [purpose] : [])],
    }))
    held.settings[purpose === 'runs' ? 'default_model' : 'quick_model'] = id
    emit({ name: 'modelsChanged', payload: {} })
  },

  onEvent: (handlers) => {
    listeners.add(handlers)
    return () => listeners.delete(handlers)
  },
  onDrop: (handler) => {
    drops.add(handler)
    return () => drops.delete(handler)
  },
  pickFolder: async () => '/home/ada/src/ledger',
  pickFile: async () => '/home/ada/models/own.gguf',
  pickSavePath: async (_, name) => `/home/ada/${name}`,
}

/** What is found at another engine; a public address is refused, as Rust does it. */
function checked(form: T.EngineForm): T.EngineCheck {
  const host = form.address.replace(/^https?:\/\//, '')
  if (/^8\./.test(host))
    throw refuse(
      'engine_public',
      `${host} is a public address; prompts go to this machine or to your own network only.`,
    )
  return {
    host,
    kind: 'other',
    model: form.model ?? 'qwen3.6-27b',
    context: form.context ?? 65_536,
    key: 'none',
    models: ['qwen3.6-27b', 'devstral-small-2'],
    remarks: ['ranked', 'estimated'],
  }
}

/** The current repository, watched; where it is wanted, its first file without a description is being described. */
function watching(repo: T.RepoId): T.WatchView {
  const { memory, settings } = held
  const path = memory.files.find((file) => file.state === 'none')?.path
  return {
    repo,
    polling: null,
    index: { kind: 'right', files: memory.files.length, took_ms: 44 },
    unreadable: null,
    memory: memory.counts,
    summarising: !settings.summarise_when_idle
      ? { kind: 'off' }
      : path === undefined
        ? { kind: 'waiting', why: 'done' }
        : { kind: 'describing', path },
    described: settings.summarise_when_idle ? 3 : 0,
    spent: settings.summarise_when_idle ? 4_212 : 0,
    problem: null,
  }
}

function setStatus(id: T.RunId, status: T.RunStatus): void {
  const row = rowOf(id)
  row.status = status
  row.driven = status === 'running'
  held.running = held.rows.filter((one) => one.driven)
  emit({ name: 'runsChanged', payload: { run: id } })
  news(id, { kind: 'view', view: viewOf(id) })
}

function mark(path: string, state: T.MemoryFileState): void {
  const { memory } = held
  memory.files = memory.files.map((file) =>
    file.path === path
      ? { ...file, state, needs_none: null, corrected: held.summaries.get(path)?.corrected ?? false }
      : file,
  )
  const count = (one: T.MemoryFileState): number => memory.files.filter((file) => file.state === one).length
  memory.counts = { fresh: count('fresh'), stale: count('stale'), none: count('none'), needs_none: count('needs_none') }
  emit({ name: 'memoryChanged', payload: { repo: memory.repo } })
}

/** The window's transport: as above, with what was asked written down, and with answers a test put in place. */
export const ipc: Ipc = new Proxy(acts, {
  get(target, name: keyof Ipc & string) {
    const act = target[name] as (...given: unknown[]) => unknown
    return (...given: unknown[]) => {
      asked.push({ name, given: given.filter((one) => typeof one !== 'function') })
      if (answers.has(name)) {
        const answer = answers.get(name)
        return isProblem(answer) ? Promise.reject(new IpcError(answer)) : Promise.resolve(clone(answer))
      }
      return act(...given)
    }
  },
})

function isProblem(value: unknown): value is T.Problem {
  return typeof value === 'object' && value !== null && 'code' in value && 'remedy' in value
}

const hooks = {
  asked,
  /** From now on a command gives this; a value with `code` and `remedy` is thrown as a problem. */
  answer: (name: keyof Ipc & string, value: unknown): void => void answers.set(name, value),
  emit,
  news,
  drop: (one: DropNews): void => drops.forEach((handler) => handler(one)),
  /** Lets the running run come to the event `seq`; past its last event it ends. */
  advance: (id: T.RunId, seq: number): void => {
    held.runningAt = seq
    const view = fold(run(id), seq)
    const row = rowOf(id)
    if (view.outcome)
      Object.assign(row, {
        status: view.outcome.kind,
        driven: false,
        ended_at_ms: now,
        files: view.row.files,
        added: view.row.added,
        deleted: view.row.deleted,
      })
    held.running = held.rows.filter((one) => one.driven)
    news(id, { kind: 'view', view: viewOf(id) })
    if (view.outcome) news(id, { kind: 'ended' })
    emit({ name: 'runsChanged', payload: { run: id } })
  },
  /** From now on the recorded run behind an id ends in this patch, which has to fit its files. */
  endIn: (id: T.RunId, patch: string): void => {
    for (const { event } of run(id).events) if (event.event === 'merged') event.result.patch = patch
  },
  fetched: (id: string): void => {
    const ofHub = hubListing.models.find((one) => one.id === id)
    if (ofHub) {
      const own = { own_file: false, default_for: [], measured: null, abilities: null, from: id, partial_bytes: 0 }
      const name = ofHub.path.replace('.gguf', '').toLowerCase()
      held.models.push({ ...(held.models[0] as T.ModelRow), ...own, id: name, name, bytes: ofHub.bytes, sha256: '' })
    }
    held.models = held.models.map((one) =>
      one.id === id
        ? {
            ...one,
            installed: true,
            partial_bytes: 0,
            default_for: held.models.some((other) => other.default_for.includes('runs')) ? [] : ['runs'],
          }
        : one,
    )
    fetchers.get(id)?.say({ kind: 'done' })
    fetchers.get(id)?.end()
    emit({ name: 'modelsChanged', payload: {} })
  },
  lastSeq: (id: T.RunId): number => run(id).events.at(-1)?.seq ?? 0,
  recordedCalls: (id: T.RunId) => run(id).calls.map(({ step, task, agent, reply }) => ({ step, task, agent, reply })),
}
export type Hooks = typeof hooks
declare global {
  interface Window {
    magis: Hooks
  }
}
window.magis = hooks
