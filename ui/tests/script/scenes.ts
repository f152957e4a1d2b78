// Owns what the scripted Rust holds at the start of a test: by the scene named in the address (`?scene=running`). Runs
// and models are recorded; the files, other runs and numbers around them are made up so that every screen has something
// to show.
import type * as T from '../../src/ipc/types'
import files from '../fixtures/files.json'
import models from '../fixtures/models.json'
import categoryCase from '../fixtures/run-5.json'
import emptyReport from '../fixtures/run-1.json'
import { attemptsAt, editsRun, evidenceRun } from './evidence_run'
import { fold, reviewOf, type Recorded } from './recorded'

export type SceneName =
  | 'usual'
  | 'first'
  | 'running'
  | 'empty'
  | 'many'
  | 'problems'
  | 'hostile'
  | 'broken'
  | 'waiting'
  | 'evidence'
  | 'attempts'
  | 'edits'
  | 'engine'
export type Scene = {
  name: SceneName
  info: T.AppInfo
  settings: T.Settings
  fetched: T.FetchRecord[]
  repositories: T.RepositoryRow[]
  models: T.ModelRow[]
  engine: T.EngineSetting
  rows: T.RunRow[]
  running: T.RunRow[]
  memory: T.MemoryReport
  summaries: Map<string, T.SummaryView>
  commands: T.TestCommandRow[]
  /** The event up to which the running run has come. */
  runningAt: number
}

/** All of a test's clock: nothing shown depends on when it is run. */
export const now = Date.parse('2026-11-21T17:00:00Z')
const minute = 60_000
const day = 24 * 60 * minute
/** The first task is closed, the second being written, the third waits. */
const runningAt = 29

// The recorded files are as serde wrote them; their types are checked by the fold that reads them.
export const recorded = new Map<number, Recorded>([
  [5, categoryCase as unknown as Recorded],
  [1, emptyReport as unknown as Recorded],
  [7, evidenceRun],
  [8, editsRun],
])

/** Another engine as it is used in the scene of that name. */
export const engine: T.EngineSetting = {
  form: { address: 'http://gpu.lan:8000', model: 'qwen3.6-27b', context: null, authorities: null },
  used: { host: 'gpu.lan:8000', model: 'qwen3.6-27b@engine:gpu.lan:8000', label: 'qwen3.6-27b' },
}

/** A text that would act if anything were made of it but text, with characters that are not seen. */
export const hostile =
  '<img src=x onerror="window.acted=1"><script>window.acted=1</script> [a](javascript:window.acted=1) <b onclick="window.acted=1"> \u202e\u2066turned\u2069\u200b\x1b[2J'

export function scene(name: SceneName): Scene {
  const first = name === 'first'
  const none = first || name === 'empty'
  const all = rows(name)
  const memory = report()
  return {
    name,
    info: {
      version: '0.1.0',
      platform: 'Linux x86_64',
      data_folder: '~/.local/share/magis',
      data_bytes: first ? 81_920 : 48_310_272,
      models_folder: '~/.local/share/magis/models',
      hub: 'https://huggingface.co',
      threads: 8,
      memory_bytes: 33_545_000_000,
      available_memory_bytes: 21_800_000_000,
      first_start: first,
      access: 'read_write',
      opened: null,
      broken_off: [],
    },
    settings: {
      theme: 'light',
      density: 'compact',
      font_size: 13,
      language: 'en',
      default_model: none ? null : 'qwen2.5-coder-1.5b',
      quick_model: null,
      threads: null,
      context: null,
      memory_limit: null,
      manners: 'polite',
      top_k: 20,
      max_rounds: 3,
      editor: null,
      notify: true,
      summarise_when_idle: false,
      summarise_tokens: 50_000,
      summarise_minutes: 30,
    },
    fetched: none
      ? []
      : [
          {
            at_ms: now - 20 * day,
            what: 'Qwen2.5-Coder 1.5B Instruct',
            from: 'huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF',
            bytes: 1_117_320_768,
          },
          {
            at_ms: now - 12 * day,
            what: 'Qwen2.5-Coder 7B Instruct',
            from: 'huggingface.co/Qwen/Qwen2.5-Coder-7B-Instruct-GGUF',
            bytes: 4_683_073_536,
          },
        ],
    repositories: none ? [] : repositories(name, memory.counts),
    models: catalogue(name),
    engine: name === 'engine' ? engine : { form: { ...engine.form, address: '', model: null }, used: null },
    rows: none ? [] : all,
    running: all.filter((row) => row.driven),
    memory: none ? { ...memory, files: [], counts: { fresh: 0, stale: 0, none: 0, needs_none: 0 } } : memory,
    summaries: summaries(name),
    runningAt: name === 'attempts' ? attemptsAt : runningAt,
    // A command that is allowed where a run by it is on record.
    commands: commands(['evidence', 'attempts', 'edits'].includes(name)),
  }
}

function commands(allowed: boolean): T.TestCommandRow[] {
  return [
    {
      command: { line: 'python3 -m pytest -q', folder: '' },
      runner: 'pytest',
      reason: 'pyproject.toml has a section for pytest',
      before: [],
      allowed: allowed ? 'isolated' : null,
    },
    {
      command: { line: 'python3 -m unittest discover -s tests', folder: '' },
      runner: 'unittest',
      reason: 'a folder of tests',
      before: [],
      allowed: null,
    },
  ]
}

function repositories(name: SceneName, counts: T.MemoryCounts): T.RepositoryRow[] {
  const usual: T.RepositoryRow[] = [
    {
      id: 1,
      name: 'tally',
      root: '~/src/tally',
      used_at_ms: now - 8 * minute,
      head: { kind: 'branch', name: 'main' },
      changed_files: 0,
      notes: [],
      problem: null,
      memory: counts,
      index: { kind: 'fresh' },
      runs: 9,
    },
    {
      id: 2,
      name: 'harbour',
      root: '~/src/harbour',
      used_at_ms: now - 71 * minute,
      head: { kind: 'branch', name: 'fix/berth-names' },
      changed_files: 3,
      notes: ['A shallow clone: renames before its first commit are not known.'],
      problem: null,
      memory: { fresh: 61, stale: 9, none: 131, needs_none: 23 },
      index: { kind: 'older', commits: 3 },
      runs: 5,
    },
    {
      id: 3,
      name: 'almanac',
      root: '~/src/almanac',
      used_at_ms: now - 12 * day,
      head: { kind: 'detached', commit: '3c0b4c1d9d3f7c2f8a51' },
      changed_files: 0,
      notes: [],
      problem: null,
      memory: { fresh: 11, stale: 0, none: 3, needs_none: 0 },
      index: { kind: 'elsewhere', commit: '91d40c7e05b2' },
      runs: 2,
    },
  ]
  const broken: T.RepositoryRow = {
    id: 4,
    name: 'billing',
    root: '/srv/work/billing',
    used_at_ms: now - 30 * day,
    head: null,
    changed_files: 0,
    notes: [],
    problem: {
      code: 'repository_gone',
      message: 'The folder /srv/work/billing is not there any more.',
      remedy: 'Bring it back or mount its disk, or remove it from the list. Its past runs stay.',
    },
    memory: null,
    index: null,
    runs: 4,
  }
  if (name === 'hostile') return [{ ...(usual[0] as T.RepositoryRow), name: hostile, root: `/tmp/${hostile}` }]
  if (name === 'problems') return [broken]
  return [...usual, broken]
}

function catalogue(name: SceneName): T.ModelRow[] {
  const list = models as unknown as T.ModelRow[]
  return list.map((row) => {
    if (name === 'first' || name === 'empty') return row
    if (row.id === 'qwen2.5-coder-1.5b')
      return {
        ...row,
        installed: true,
        default_for: ['runs'],
        measured: { read_tokens_per_second: 212, write_tokens_per_second: 24.6, calls: 402 },
        abilities: { form: [4, 4], naming: [3, 4], tools: [4, 4] },
      }
    if (row.id === 'qwen2.5-coder-7b')
      return {
        ...row,
        installed: true,
        measured: { read_tokens_per_second: 48, write_tokens_per_second: 6.4, calls: 217 },
      }
    if (row.id === 'qwen2.5-coder-14b') return { ...row, partial_bytes: 3_120_000_000 }
    if (row.id === 'qwen2.5-coder-32b')
      return { ...row, fits: { kind: 'no' as const, need: row.need_bytes, available: 21_800_000_000 } }
    if (row.id === 'smollm2-135m' && name === 'problems')
      return { ...row, installed: true, broken: 'The file has 12,582,912 bytes and should have 98,359,296.' }
    return row
  })
}

function rows(name: SceneName): T.RunRow[] {
  const done = [...recorded.values()].map((one) => fold(one).row)
  const [real, other, proven, edited] = done as [T.RunRow, T.RunRow, T.RunRow, T.RunRow]
  const more: [string, string, T.RunStatus, number, number, number, number][] = [
    ['A note with a comma is read back as two columns', 'tally', 'approved', 1, 19, 36, 228_000],
    ['tally list prints the sign of a refund twice', 'tally', 'approved', 1, 0, 2, 164_000],
    [
      'The page of a berth redirects to the harbour of its first booking when it is opened from a saved link, so that later bookings cannot be changed',
      'harbour',
      'not_approved',
      1,
      20,
      17,
      347_000,
    ],
    ['Tide tables of two harbours are mixed when both are open', 'harbour', 'interrupted', 0, 0, 0, 747_000],
    ['Print the time zone above each tide table', 'harbour', 'approved', 1, 1, 1, 136_000],
    ['Unknown payer: an exception is printed instead of a sentence', 'tally', 'no_change', 0, 0, 0, 263_000],
    ['Recurring expenses of the 31st are skipped in short months', 'tally', 'approved', 1, 5, 2, 269_000],
    ['Weeks begin on Sunday in the printed almanac', 'almanac', 'approved', 1, 2, 1, 41_000],
    ['Amounts are shown with one decimal', 'tally', 'failed', 0, 0, 0, 12_000],
  ]
  const ids: Record<string, number> = { tally: 1, harbour: 2, almanac: 3 }
  const listed: T.RunRow[] = [
    {
      ...real,
      id: 5,
      repo: 1,
      repository: 'tally',
      created_at_ms: now - 46 * minute,
      ended_at_ms: now - 46 * minute + real.worked_ms,
      tags: ['money'],
    },
    {
      ...other,
      id: 1,
      repo: 1,
      repository: 'tally',
      created_at_ms: now - 70 * minute,
      ended_at_ms: now - 70 * minute + other.worked_ms,
    },
    ...more.map(([title, repository, status, files, added, deleted, ms], at): T.RunRow => ({
      ...real,
      id: 20 + at,
      repo: ids[repository] ?? null,
      repository,
      title,
      status,
      review: reviewOf(status),
      proof: at === 1 ? { kind: 'plausible', grade: 'wrong_output_gone' } : real.proof,
      model: at % 3 === 0 ? 'qwen2.5-coder-1.5b' : 'qwen2.5-coder-7b',
      created_at_ms: now - (3 + at * 9) * 3 * 60 * minute,
      ended_at_ms: now - (3 + at * 9) * 3 * 60 * minute + ms,
      worked_ms: ms,
      tokens: Math.round(ms / 9),
      files,
      added,
      deleted,
      tags: at === 4 ? ['docs', 'small'] : [],
      imported: at === 6,
      driven: false,
    })),
  ]
  if (name === 'hostile') return listed.map((row) => ({ ...row, title: hostile, repository: hostile, tags: [hostile] }))
  if (name === 'running') {
    const live = fold(recorded.get(5) as Recorded, runningAt).row
    return [{ ...live, id: 6, repository: 'tally', created_at_ms: now - live.worked_ms - minute / 4 }, ...listed]
  }
  if (name === 'evidence' || name === 'attempts') {
    const live = name === 'attempts'
    // It is paused, so that it can still be steered and nothing moves.
    const row: T.RunRow = live ? { ...fold(evidenceRun, attemptsAt).row, status: 'paused', driven: false } : proven
    const created_at_ms = now - row.worked_ms - minute / 4
    return [{ ...row, created_at_ms, ended_at_ms: live ? null : now - minute / 4 }, ...listed]
  }
  if (name === 'engine')
    return listed.map((row, at) =>
      at > 0 ? row : { ...row, model: 'qwen3.6-27b @ gpu.lan:8000', host: 'gpu.lan:8000' },
    )
  if (name === 'edits') return [{ ...edited, created_at_ms: now - minute, ended_at_ms: now - minute / 4 }, ...listed]
  if (name === 'waiting') {
    const left = ['Dates before 1970 are refused', 'A budget of zero warns on every expense'].map(
      (title, at): T.RunRow => ({
        ...real,
        id: 32 - at,
        repo: 1,
        repository: 'tally',
        title,
        status: 'waiting',
        review: null,
        proof: { kind: 'not_run' },
        created_at_ms: now - (12 + at) * minute,
        ended_at_ms: null,
        worked_ms: 0,
        tokens: 0,
        files: 0,
        added: 0,
        deleted: 0,
        tags: [],
        driven: false,
      }),
    )
    return [...left, ...listed]
  }
  if (name === 'many') {
    return Array.from({ length: 10_000 }, (_, at) => {
      const row = listed[at % listed.length] as T.RunRow
      return {
        ...row,
        id: 10_000 - at,
        created_at_ms: now - at * 7 * minute,
        ended_at_ms: now - at * 7 * minute + row.worked_ms,
      }
    })
  }
  return listed
}

function report(): T.MemoryReport {
  const list = (files as [string, number][]).map(([path, bytes], at): T.MemoryFile => {
    const code = /\.(py|rst|md|txt|cfg|toml)$/.test(path)
    const needs_none: T.NeedsNone | null = path.endsWith('.png') ? 'no_text' : bytes < 400 ? 'short_enough' : null
    const state: T.MemoryFileState = needs_none
      ? 'needs_none'
      : !code || at % 7 === 3
        ? 'none'
        : at % 11 === 5
          ? 'stale'
          : 'fresh'
    const described = state === 'fresh' || state === 'stale'
    return {
      path,
      bytes,
      state,
      needs_none,
      tokens: described ? 44 + ((at * 13) % 60) : null,
      made_at_ms: !described ? null : now - ((at * 5) % 20) * day,
      corrected: path === 'tally/filters.py',
    }
  })
  const count = (state: T.MemoryFileState): number => list.filter((file) => file.state === state).length
  const by_day = Array.from({ length: 21 }, (_, at): T.MemoryDay => ({
    day: new Date(now - (20 - at) * day).toISOString().slice(0, 10),
    spent: Math.round(58_000 / (1 + at * 0.55)) * (at % 6 === 4 ? 0 : 1),
    saved: at % 6 === 4 ? 0 : 2_600 * at + ((at * 7919) % 9000),
  }))
  return {
    repo: 1,
    counts: { fresh: count('fresh'), stale: count('stale'), none: count('none'), needs_none: count('needs_none') },
    files: list,
    tokens_spent: by_day.reduce((sum, one) => sum + one.spent, 0),
    tokens_saved: by_day.reduce((sum, one) => sum + one.saved, 0),
    by_day,
  }
}

function summaries(name: SceneName): Map<string, T.SummaryView> {
  const found = new Map<string, T.SummaryView>()
  for (const candidate of fold(recorded.get(5) as Recorded).candidates) {
    const { description } = candidate
    if (!description) continue
    const { path } = description
    found.set(path, {
      path,
      blob: description.blob,
      text: name === 'hostile' ? hostile : description.summary,
      from_skeleton: description.from_skeleton,
      corrected: path === 'tally/filters.py',
      model: 'Qwen2.5-Coder 7B Instruct',
      made_at_ms: now - 2 * day,
      made_in: 5,
      change_message: null,
      stale: false,
    })
  }
  return found
}
