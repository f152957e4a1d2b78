//! Programs that a repository names and that git would run when a patch goes onto a branch: a person decides once.

use crate::{EngineError, Magis};
use magis_core::{RepoId, RunId};
use magis_platform::now_ms;
use magis_repo::{DecidedProgram, ProgramDecision, RepositoryProgram, programs_for_commit};
use magis_store::KeptDecision;

impl Magis {
    /// Returns the programs that the repository of a run names, that git would run for a commit, and that nothing is
    /// decided about.
    ///
    /// # Errors
    /// When it is not known which repository the run is of, or it cannot be read, or the database cannot be.
    pub fn undecided_programs(&self, run: RunId) -> Result<Vec<RepositoryProgram>, EngineError> {
        let decided = self.decided_programs(self.repository_id_of(run)?)?;
        let mut named = programs_for_commit(&self.repository_of(run)?)?;
        named.retain(|program| !decided.iter().any(|decided| decided.program == *program));
        Ok(named)
    }

    /// Remembers what a person decided about programs that the repository of a run names. What one of them is after it
    /// changed has to be decided anew.
    ///
    /// # Errors
    /// When it is not known which repository the run is of, or the database cannot be written.
    pub fn decide_programs(
        &self,
        run: RunId,
        programs: &[RepositoryProgram],
        decision: ProgramDecision,
    ) -> Result<(), EngineError> {
        let repo = self.repository_id_of(run)?;
        let decided_at = now_ms();
        let kept: Vec<_> = programs
            .iter()
            .map(|program| KeptDecision {
                program: text_of(program),
                decision: word(decision).to_owned(),
                decided_at,
            })
            .collect();
        Ok(self.store.keep_program_decisions(repo, &kept)?)
    }

    /// Returns what a person decided about programs that a repository names, the first first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn decided_programs(&self, repo: RepoId) -> Result<Vec<DecidedProgram>, EngineError> {
        // What cannot be read is asked about anew.
        let read = |kept: KeptDecision| {
            Some(DecidedProgram {
                program: serde_json::from_str(&kept.program).ok()?,
                decision: decision_of(&kept.decision)?,
            })
        };
        Ok(self
            .store
            .program_decisions(repo)?
            .into_iter()
            .filter_map(read)
            .collect())
    }

    /// Forgets what was decided about programs that a repository names, so that it is asked again. Returns how many
    /// programs it was.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forget_decided_programs(&self, repo: RepoId) -> Result<usize, EngineError> {
        Ok(self.store.forget_program_decisions(repo)?)
    }
}

fn text_of(program: &RepositoryProgram) -> String {
    serde_json::to_string(program).expect("strings have a JSON form")
}

fn word(decision: ProgramDecision) -> &'static str {
    match decision {
        ProgramDecision::Run => "run",
        ProgramDecision::LeaveOut => "leave_out",
    }
}

fn decision_of(word_kept: &str) -> Option<ProgramDecision> {
    [ProgramDecision::Run, ProgramDecision::LeaveOut]
        .into_iter()
        .find(|decision| word(*decision) == word_kept)
}
