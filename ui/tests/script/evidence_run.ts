// Owns a run that runs code, made up by hand from the recorded run of the empty report: what shows the fault, six
// attempts at two places, each tested, and a patch that is shown to work. It has every way in which an attempt can stand.
import type * as T from '../../src/ipc/types'
import emptyReport from '../fixtures/run-1.json'
import type { Recorded } from './recorded'
import type { RunEventLike } from './shapes'

const recorded = emptyReport as unknown as Recorded
const path = 'tally/report.py'
const lines = (recorded.files[path] ?? '').split('\n')
const command: T.TestLine = { line: 'python3 -m pytest -q', folder: '' }

function ran(line: string, status: number, took_ms: number, stdout: string, stderr = ''): T.ProgramRun {
  return {
    command: line,
    folder: '',
    end: `ended with exit status ${status}`,
    status,
    took_ms,
    stdout: { text: stdout, cut_bytes: 0 },
    stderr: { text: stderr, cut_bytes: 0 },
    refused: [],
  }
}

const script = `from tally.report import table, totals_by_category

entries = []
print("\\n".join(table(totals_by_category(entries))))
`
const trace = `Traceback (most recent call last):
  File "check_1.py", line 4, in <module>
    print("\\n".join(table(totals_by_category(entries))))
                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "tally/report.py", line 29, in table
    name_width = max(len(name) for name in amounts)
ValueError: max() arg is an empty sequence`
const checkLine = 'python3 check_1.py'
const suite = `${'.'.repeat(30)}F                                          [100%]\n1 failed, 30 passed in 0.42s`

const checks: T.BugCheck[] = [
  {
    id: 1,
    source: { kind: 'issue', number: 0 },
    grade: 'exception_gone',
    script,
    as_test: `from tally.report import table, totals_by_category


def test_table_without_entries():
    assert table(totals_by_category([])) is not None
`,
    on_base: ran(checkLine, 1, 84, '', trace),
    reached: [
      { path, line: 10, name: 'totals_by_category' },
      { path, line: 26, name: 'table' },
    ],
    warnings: ['It writes a file, which only a copy of the repository sees.'],
  },
  {
    id: 2,
    source: { kind: 'written', path: 'tests/test_empty_report.py' },
    grade: 'expected_result',
    script: `from tally.report import table


def test_a_report_without_sums_has_no_lines():
    assert table({}) == []
`,
    as_test: null,
    on_base: ran(
      'python3 -m pytest -q tests/test_empty_report.py',
      1,
      612,
      `F                                                                        [100%]
=================================== FAILURES ===================================
___________________ test_a_report_without_sums_has_no_lines ____________________

    def test_a_report_without_sums_has_no_lines():
>       assert table({}) == []

tests/test_empty_report.py:5:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

sums = {}

    def table(sums):
        """Two columns, name and amount, the amounts aligned to the right."""
        amounts = {name: format_amount(cents) for name, cents in sums.items()}
>       name_width = max(len(name) for name in amounts)
E       ValueError: max() arg is an empty sequence

tally/report.py:29: ValueError
=========================== short test summary info ============================
FAILED tests/test_empty_report.py::test_a_report_without_sums_has_no_lines
1 failed in 0.21s`,
    ),
  },
]

/** Lines that stand instead of others, as edits and as a diff with three lines around each. */
function change(...edits: [first: number, last: number, text: string][]): { change: T.FileChange; diff: string } {
  let moved = 0
  const hunks = edits.map(([first, last, text]) => {
    const fresh = text.split('\n')
    const from = first - 4
    const before = lines.slice(from, first - 1)
    const after = lines.slice(last, last + 3)
    const around = before.length + after.length
    const old = last - first + 1
    const head = `@@ -${from + 1},${around + old} +${from + 1 + moved},${around + fresh.length} @@`
    moved += fresh.length - old
    return [
      head,
      ...before.map((line) => ` ${line}`),
      ...lines.slice(first - 1, last).map((line) => `-${line}`),
      ...fresh.map((line) => `+${line}`),
      ...after.map((line) => ` ${line}`),
    ].join('\n')
  })
  return {
    change: { kind: 'modify', edits: edits.map(([first, last, text]) => ({ span: [first, last], text: `${text}\n` })) },
    diff: `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n${hunks.join('\n')}\n`,
  }
}

function tested(tree: string, states: T.CheckState[], tests: T.TestsOnChange | null): T.ChangeTests {
  return {
    tree,
    checks: states.map((state, at) => ({
      check: at + 1,
      state,
      run:
        state.kind === 'present' && checks[at] !== undefined
          ? checks[at].on_base
          : ran(
              at === 0 ? checkLine : 'python3 -m pytest -q tests/test_empty_report.py',
              0,
              71,
              at === 0 ? '' : '1 passed',
            ),
    })),
    tests,
  }
}

const allPass: T.TestsOnChange = {
  passed: 30,
  newly_passing: [],
  newly_failing: [],
  still_failing: 1,
  run: ran(command.line, 1, 1_240, suite),
  incomplete: null,
}
const gone: T.CheckState[] = [
  { kind: 'gone', grade: 'exception_gone' },
  { kind: 'gone', grade: 'expected_result' },
]
const guard = (gives: string): string => `    if not sums:\n        return ${gives}\n${lines[27] ?? ''}`
const breaking = change([
  29,
  30,
  '    name_width = max((len(name) for name in amounts), default=0)\n    amount_width = 0',
])
const working = change(
  [28, 28, guard('[]')],
  [40, 40, '    lines.append(f"total {format_amount(total(entries))}".rstrip())'],
)
const elsewhere = change([15, 15, '    return dict(sorted(sums.items())) if sums else {}'])
const merged = change([28, 28, guard('[]')])

const diagnosis =
  'The widths are taken from `max()` over the names and amounts, which fails when there is no sum at all.'
const written = (candidate: number, place: number, of: { change: T.FileChange }, more: object = {}): RunEventLike => ({
  event: 'code_written',
  task: 1,
  round: 1,
  candidate,
  fault: diagnosis,
  findings: [],
  change: of.change,
  place,
  ...more,
})
const judged = (attempt: number, result: T.ChangeTests): RunEventLike => ({
  event: 'attempt_tested',
  task: 1,
  round: 1,
  attempt,
  result,
})

const attempts: RunEventLike[] = [
  {
    event: 'lines_chosen',
    task: 1,
    round: 1,
    symbols: ['table'],
    spans: [[26, 31]],
    others: [{ symbols: ['totals_by_category'], spans: [[10, 15]] }],
  },
  {
    event: 'base_tested',
    tests: {
      covers: [path],
      files: ['tests/test_report.py', 'tests/test_cli.py'],
      left_out: 1,
      passed: 30,
      failing: ['tests/test_cli.py::test_report_of_a_year'],
      wavering: [],
      run: ran(command.line, 1, 1_310, `${'.'.repeat(30)}F\n30 passed, 1 failed in 0.45s`),
      incomplete: null,
    },
  },
  written(0, 0, breaking, { mode: 'lines' }),
  written(1, 0, breaking, { mode: 'lines', same_as: [1, 0] }),
  written(2, 0, working),
  written(3, 1, elsewhere),
  { event: 'code_failed', task: 1, round: 1, candidate: 4, reason: 'The answer has no code.' },
  judged(
    0,
    tested('a0', [gone[0] as T.CheckState, { kind: 'gone', grade: 'expected_result' }], {
      ...allPass,
      passed: 28,
      newly_failing: [
        {
          name: 'tests/test_report.py::test_amounts_are_aligned_to_the_right',
          message: "E       AssertionError: assert 'rent  500.00' == 'rent   500.00'",
        },
        { name: 'tests/test_report.py::test_names_are_padded', message: '' },
      ],
      run: ran(command.line, 1, 1_280, `${'.'.repeat(28)}FF\n28 passed, 3 failed in 0.44s`),
    }),
  ),
  judged(2, tested('a2', gone, allPass)),
  judged(3, tested('a3', [{ kind: 'present' }, { kind: 'present' }], null)),
]

/** Names as long as test runners give them. */
const needingTests = [
  'tests/test_report.py::TestReportOfAPeriod::test_a_period_without_entries_has_no_lines[since-2025-01-01-until-2025-03-31]',
  'tests/test_command_line.py::TestReportCommand::test_a_file_without_entries_prints_nothing_and_ends_well[utf-8-sig]',
]

const ending: RunEventLike[] = [
  { event: 'task_closed', task: 1, outcome: { kind: 'approved', round: 1 } },
  {
    event: 'minimised',
    task: 1,
    change: merged.change,
    dropped: 1,
    hunks: 2,
    needed: [{ line: 28, checks: [1, 2], tests: needingTests }],
  },
  {
    event: 'merged',
    result: {
      tree: 'e7',
      patch: merged.diff,
      commit_message: 'Return no lines from table() when there are no sums',
      pull_request: 'A report without entries has no lines, where it ended with a ValueError before.',
    },
  },
  {
    event: 'patch_tested',
    result: {
      ...tested('e7', gone, allPass),
      as_tests: [
        {
          check: 1,
          path: 'tests/test_empty_report.py',
          text: checks[0]?.as_test ?? '',
          run: ran('python3 -m pytest -q tests/test_empty_report.py', 0, 640, '1 passed in 0.02s'),
        },
      ],
    },
  },
  { event: 'run_ended', outcome: { kind: 'approved' } },
]

/** What the recorded run has before its code is written, with what shows the fault before its files are ranked. */
const before = recorded.events.map(({ event }) => event).filter((event) => !isOfCode(event))
const ranked = before.findIndex((event) => event.event === 'candidates_ranked')
const shown: RunEventLike = {
  event: 'fault_shown',
  checks,
  remarks: ['1 of 2 examples of the issue was left out: it needs a file that the issue does not show'],
}
const all = [...before.slice(0, ranked), shown, ...before.slice(ranked), ...attempts, ...ending]

function isOfCode({ event }: RunEventLike): boolean {
  return ['lines_chosen', 'code_written', 'reviewed', 'task_closed', 'merged', 'run_ended'].includes(event)
}

/** Every attempt that there will be is written and tested, and the task is not closed yet. */
export const attemptsAt = all.length - ending.length

/** Events as a log has them, one each so many milliseconds. */
function logged(events: RunEventLike[], apart: number): Recorded['events'] {
  return events.map((event, at) => ({
    seq: at + 1,
    at_ms: recorded.created_at_ms + at * apart,
    event: event.event === 'run_started' ? { ...event, request } : event,
  }))
}

const request: T.RunRequest = {
  ...recorded.request,
  candidates_per_round: 6,
  places_per_round: 2,
  tests: { kind: 'run', command, failing: [], checks: 'make' },
}

export const evidenceRun: Recorded = {
  ...recorded,
  number: 7,
  request,
  events: logged(all, 4_000),
  // The events before the code keep their order; one more stands before those of the ranking.
  calls: recorded.calls.map((call) => ({
    ...call,
    after_seq: /^commit/.test(call.step) ? attemptsAt + 2 : call.after_seq + (call.after_seq > ranked ? 1 : 0),
  })),
  diffs: { '1/1/0': breaking.diff, '1/1/1': breaking.diff, '1/1/2': working.diff, '1/1/3': elsewhere.diff },
}

/** The edits at one token of a run at the usual effort: of 49 answers at each of two places 32 were written. */
const edits = Array.from({ length: 32 }, (_, at) => {
  if (at === 30) return change([30, 30, ''])
  return at === 31 ? merged : change([29, 29, `    name_width = max((len(name) for name in amounts), default=${at})`])
})
const tried = edits.flatMap((edit, at): RunEventLike[] => {
  if (at % 7 === 5)
    return [{ event: 'code_failed', task: 1, round: 1, candidate: at, reason: 'The answer has no code.' }]
  const works = at >= 29
  return [
    written(at, 0, edit, { mode: 'token_edit', findings: at === 30 ? [{ kind: 'only_deletes' }] : [] }),
    judged(
      at,
      works ? tested(`e${at}`, gone, allPass) : tested(`e${at}`, [{ kind: 'present' }, { kind: 'present' }], null),
    ),
  ]
})

export const editsRun: Recorded = {
  ...evidenceRun,
  number: 8,
  events: logged(
    [
      ...all.slice(0, -attempts.length - ending.length),
      ...attempts.slice(0, 2).map((event) => (event.event === 'lines_chosen' ? { ...event, answers: 98 } : event)),
      ...tried,
      {
        event: 'attempts_compared',
        task: 1,
        round: 1,
        gains: [
          { attempt: 29, gain: -6.3 },
          { attempt: 31, gain: 2.1 },
        ],
      },
      ...ending,
    ],
    1_000,
  ),
  diffs: Object.fromEntries(edits.map((edit, at) => [`1/1/${at}`, edit.diff])),
}
