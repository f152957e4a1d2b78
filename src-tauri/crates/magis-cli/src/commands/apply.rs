//! `magis apply`: a run's patch goes into the working tree, onto a branch or into a file, or is taken back.

use super::Place;
use crate::args::{ApplyArgs, ProgramsDecision};
use crate::exit::ExitStatus;
use crate::failure::{Failure, refuse_existing};
use crate::render::{clean, count};
use crate::screen::ask;
use magis_core::{CheckAsTest, RepoPath, RunId};
use magis_engine::repository::{
    Applied, Committer, HunkNumber, ProgramDecision, RepoError, RepositoryProgram, Selection,
};
use magis_engine::{AppliedRun, ApplyTarget, EngineError, Magis, Review};
use std::collections::BTreeSet;
use std::path::Path;

/// Runs `magis apply`.
pub fn apply(place: &Place, args: ApplyArgs) -> Result<ExitStatus, Failure> {
    let selection = selection(args.hunks.as_deref())?;
    let magis = place.open()?;
    let run = args.run;
    if let Some(repository) = &args.repo {
        magis.attach(run, repository)?;
    }
    if args.undo {
        let undone = magis.undo(run)?;
        return say(place, run, &undone, Direction::Back, &[]);
    }
    let mut review = magis.selected(run, &selection)?;
    let tests = if args.with_test {
        offered_tests(&magis, run)?
    } else {
        Vec::new()
    };
    review.tests.extend(tests.iter().map(|test| test.check));
    if let Some(file) = args.patch {
        return write_patch(place, &magis, run, &file, &review, &tests);
    }
    let applied = match args.branch {
        None => magis.apply_review(run, ApplyTarget::Worktree, &review)?,
        Some(branch) => {
            let identity = args.name.zip(args.email).map(|(name, email)| Committer { name, email });
            let decision = args.programs.map(|decision| match decision {
                ProgramsDecision::Run => ProgramDecision::Run,
                ProgramsDecision::LeaveOut => ProgramDecision::LeaveOut,
            });
            NewBranch {
                branch,
                identity,
                decision,
            }
            .make(&magis, run, &review)?
        }
    };
    say(place, run, &applied, Direction::Forth, &tests)
}

/// Returns the tests that can be added to the patch, at least one.
fn offered_tests(magis: &Magis, run: RunId) -> Result<Vec<CheckAsTest>, Failure> {
    let offered = magis.offered_tests(run)?;
    if offered.is_empty() {
        return Err(Failure::error(
            format!("run {run} offers no test that could be added to its patch"),
            "apply it without --with-test",
        ));
    }
    Ok(offered)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forth,
    Back,
}

/// A branch to be made, and what is known of its commit so far.
struct NewBranch {
    branch: String,
    identity: Option<Committer>,
    /// What becomes of programs that the repository names; none: as it was decided before.
    decision: Option<ProgramDecision>,
}

impl NewBranch {
    /// Makes it, and asks for what is missing where somebody sits there.
    fn make(mut self, magis: &Magis, run: RunId, review: &Review) -> Result<AppliedRun, Failure> {
        if self.decision.is_some() {
            magis.forget_decided_programs(magis.repository_id_of(run)?)?;
        }
        let mut is_decided = false;
        loop {
            let target = ApplyTarget::Branch {
                name: self.branch.clone(),
                identity: self.identity.clone(),
            };
            match magis.apply_review(run, target, review) {
                Err(EngineError::Repo(RepoError::IdentityMissing)) if self.identity.is_none() => {
                    self.identity = Some(asked_identity()?);
                }
                Err(EngineError::Repo(RepoError::ProgramsUndecided { repository, programs })) if !is_decided => {
                    let decision = match self.decision {
                        Some(decision) => decision,
                        None => asked_decision(&repository, &programs)?,
                    };
                    magis.decide_programs(run, &programs, decision)?;
                    is_decided = true;
                }
                other => return Ok(other?),
            }
        }
    }
}

fn asked_identity() -> Result<Committer, Failure> {
    let asked = ask("Git knows no author for this repository. Name:")
        .filter(|name| !name.is_empty())
        .zip(ask("Mail address:").filter(|email| !email.is_empty()));
    let Some((name, email)) = asked else {
        return Err(Failure::error(
            RepoError::IdentityMissing.to_string(),
            "give --name NAME and --email MAIL, or set them with 'git config user.name' and 'git config user.email'",
        ));
    };
    Ok(Committer { name, email })
}

/// Shows programs that a repository names, and asks whether they may be run.
fn asked_decision(repository: &Path, programs: &[RepositoryProgram]) -> Result<ProgramDecision, Failure> {
    let named: Vec<String> = programs.iter().map(ToString::to_string).collect();
    let question = format!(
        "The repository '{}' names programs that git would run for this commit: {}. Run them, now and later? [y/N]",
        repository.display(),
        named.join(", ")
    );
    match ask(&question).map(|answer| answer.to_lowercase()).as_deref() {
        Some("y" | "yes") => Ok(ProgramDecision::Run),
        Some(_) => Ok(ProgramDecision::LeaveOut),
        None => Err(Failure::error(
            RepoError::ProgramsUndecided {
                repository: repository.to_owned(),
                programs: programs.to_vec(),
            }
            .to_string(),
            "look at them, then give --programs run or --programs leave-out; it is remembered for this repository",
        )),
    }
}

fn write_patch(
    place: &Place,
    magis: &Magis,
    run: RunId,
    file: &Path,
    review: &Review,
    tests: &[CheckAsTest],
) -> Result<ExitStatus, Failure> {
    if file == Path::new("-") {
        place.screen.write(&magis.reviewed(run, review)?.to_string())?;
        return Ok(ExitStatus::Success);
    }
    refuse_existing(file)?;
    let written = magis.apply_review(run, ApplyTarget::PatchFile(file.to_owned()), review)?;
    say(place, run, &written, Direction::Forth, tests)
}

/// Says what became of the patch; `tests` were added to it.
fn say(
    place: &Place,
    run: RunId,
    applied: &AppliedRun,
    direction: Direction,
    tests: &[CheckAsTest],
) -> Result<ExitStatus, Failure> {
    let screen = place.screen;
    for test in tests {
        screen.line(&format!("  test added: {}", clean(test.path.as_str())))?;
    }
    match (applied, direction) {
        (AppliedRun::PatchFile(path), _) => screen.line(&format!("Written: {}", path.display()))?,
        (AppliedRun::Repository(Applied::Worktree { files, .. }), direction) => {
            let verb = if direction == Direction::Forth {
                "changed"
            } else {
                "as it was before"
            };
            let is_added = |path: &RepoPath| tests.iter().any(|test| test.path == *path);
            for file in files.iter().filter(|file| !is_added(&file.path)) {
                screen.line(&format!("  {verb}: {}", clean(file.path.as_str())))?;
            }
            let what = match direction {
                Direction::Forth => "The patch is applied to the working tree",
                Direction::Back => "The patch is taken back from the working tree",
            };
            screen.line(&format!("{what} ({}); nothing is staged.", count(files.len(), "file")))?;
        }
        (AppliedRun::Repository(Applied::Branch { name, commit, skipped }), Direction::Forth) => {
            screen.line(&format!(
                "The patch is commit {} on the new branch {}.",
                commit,
                clean(name)
            ))?;
            for skipped in skipped {
                screen.line(&format!("  left out: {}", clean(skipped)))?;
            }
        }
        (AppliedRun::Repository(Applied::Branch { name, .. }), Direction::Back) => {
            screen.line(&format!("The branch {} is deleted.", clean(name)))?;
        }
    }
    let is_file = matches!(applied, AppliedRun::PatchFile(_));
    if direction == Direction::Forth && !is_file {
        screen.line(&format!(
            "To take it back: {}",
            place.next_command(&format!("apply {run} --undo"))
        ))?;
    }
    Ok(ExitStatus::Success)
}

/// Reads a list of hunks such as `1,3-5`.
fn selection(list: Option<&str>) -> Result<Selection, Failure> {
    let Some(list) = list else { return Ok(Selection::All) };
    let wrong = || {
        Failure::usage(
            format!("'{list}' is no list of hunks"),
            "give numbers and ranges from 1, separated by commas, as in 1,3-5",
        )
    };
    let mut numbers = BTreeSet::new();
    for part in list.split(',').map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| {
            text.trim()
                .parse::<u32>()
                .ok()
                .filter(|number| (1..=100_000).contains(number))
        };
        let (first, last) = number(first).zip(number(last)).ok_or_else(wrong)?;
        if first > last {
            return Err(wrong());
        }
        numbers.extend((first..=last).map(HunkNumber));
    }
    Ok(Selection::Hunks { numbers })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(list: &str, expected: Option<&[u32]>) {
        let numbers = selection(Some(list)).ok().map(|selection| match selection {
            Selection::Hunks { numbers } => numbers.into_iter().map(|number| number.0).collect::<Vec<_>>(),
            Selection::All => Vec::new(),
        });
        assert_eq!(numbers.as_deref(), expected, "{list}");
    }

    #[test]
    fn hunks_are_named_by_numbers_and_ranges() {
        check("1,3-5", Some(&[1, 3, 4, 5]));
        check(" 2 , 2-2 ", Some(&[2]));
        check("", None);
        check("0", None);
        check("5-3", None);
        check("1,,2", None);
        check("1-999999999", None);
    }
}
