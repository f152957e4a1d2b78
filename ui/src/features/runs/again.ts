// The form a past run was started from, so that it can be run again with changes. It starts nothing.
import type { Base, BaseRequest, RepoId, RunRequest, SolveForm, TestsChoice } from '../../ipc'

export function formOf(repo: RepoId, request: RunRequest, base: Base): SolveForm {
  const said = (kind: 'comments' | 'failing_log'): string =>
    request.hints
      .filter((hint) => hint.kind === kind)
      .map((hint) => hint.text)
      .join('\n\n')
  const words = request.hints.filter((hint) => hint.kind === 'word').map((hint) => hint.text)
  return {
    repo,
    issue: request.issue,
    comments: [said('comments'), ...words].filter((text) => text !== '').join('\n\n'),
    failing_log: said('failing_log'),
    base: baseOf(base),
    model: request.model,
    files: request.files,
    seed: request.seed,
    top_k: request.top_k,
    max_rounds: request.max_rounds,
    qa: request.qa === 'review',
    attempts: request.candidates_per_round,
    places: request.places_per_round ?? 1,
    tests: testsOf(request),
    failing_tests: request.tests?.kind === 'run' ? request.tests.failing : [],
  }
}

function testsOf({ tests }: RunRequest): TestsChoice {
  if (tests?.kind !== 'run') return { kind: 'skip' }
  return tests.command === null ? { kind: 'issue_code' } : { kind: 'run', command: tests.command }
}

/** The same commit again; uncommitted work is the present one, since the old is not kept as a revision. */
function baseOf(base: Base): BaseRequest {
  if (base.uncommitted) return { kind: 'head_with_uncommitted' }
  return base.name === 'HEAD' ? { kind: 'head' } : { kind: 'revision', name: base.name }
}
