//! One bug of a set, and who judges its patches: the sandbox for mutated bugs, the set's own judge for others.

use super::super::environments::JudgeEnvironments;
use super::super::mutate::{repository_of, tree_of};
use anyhow::{Context as _, Error, Result, bail};
use magis_core::{CommitId, LineSpan, RepoPath};
use magis_eval::change::Change;
use magis_eval::instances::{Instance, InstanceId, read_instances, read_references, rows};
use magis_eval::mutation::{BugRepository, MutatedBug, SandboxedTree, judge};
use magis_sandbox::Sandbox;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long the tests of a patch may take.
pub const TIME: Duration = Duration::from_mins(3);
/// How long those of an attempt may take at the least.
const SHORTEST: Duration = Duration::from_secs(15);

/// One bug: what a run may know of it, and what judges.
pub struct RepairCase {
    pub id: InstanceId,
    pub repo: String,
    /// The commit that tells the bug from others of its name, whether or not its failing tests are left in.
    pub bug: CommitId,
    /// The commit that a run begins with.
    pub commit: CommitId,
    pub issue: String,
    /// The lines that the reference touches, for measuring.
    pub gold: BTreeMap<RepoPath, Vec<LineSpan>>,
    /// The reference itself, for measuring, against the commit in `bug`; none where the set has its lines alone.
    pub reference: Option<Change>,
    /// The command that runs the tests; none where the project's own is found.
    pub command: Option<String>,
    judged_by: JudgedBy,
}

enum JudgedBy {
    Tests(Box<MutatedBug>),
    Script,
}

/// What fails where a bug cannot be measured. It is left out then, and the others are still measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    Environment,
    /// Preparing or driving its run, or asking the model alone.
    Run,
    /// The reference does not resolve the bug, so that nothing could.
    Reference,
    Judge,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Environment => "its environment cannot be made",
            Self::Run => "its run fails",
            Self::Reference => "its reference does not resolve it here",
            Self::Judge => "its judge fails",
        })
    }
}

/// Whether a patch resolves a bug.
#[derive(Debug, Clone, Deserialize)]
pub struct Judged {
    pub applied: bool,
    pub resolved: bool,
    #[serde(default)]
    pub why: String,
}

/// Reads the bugs of a set. `red` leaves the failing tests of mutated ones in the repository.
pub fn read_cases(set: &Path, red: bool) -> Result<Vec<RepairCase>> {
    if is_mutated(set)? {
        let bugs = rows::<MutatedBug>(set)?.into_iter();
        return bugs.map(|bug| RepairCase::mutated(bug, red)).collect();
    }
    if red {
        bail!(
            "{} has no commits with the failing tests; leave out --red",
            set.display()
        );
    }
    let mut references = read_references(set)?;
    let case = |instance: Instance| {
        let reference = references
            .remove(&instance.id)
            .with_context(|| format!("{} has two rows", instance.id))?;
        Ok(RepairCase {
            id: instance.id,
            repo: instance.repo,
            bug: instance.base_commit.clone(),
            commit: instance.base_commit,
            issue: instance.problem_statement,
            gold: reference.gold,
            reference: reference.change,
            command: None,
            judged_by: JudgedBy::Script,
        })
    };
    read_instances(set)?.into_iter().map(case).collect()
}

fn is_mutated(set: &Path) -> Result<bool> {
    let all: Vec<serde_json::Value> = rows(set)?;
    Ok(all.first().is_some_and(|row| row.get("red_commit").is_some()))
}

impl RepairCase {
    fn mutated(mut bug: MutatedBug, red: bool) -> Result<Self> {
        let known_by = bug.base_commit.clone();
        let reference =
            Change::parse(&bug.patch).with_context(|| format!("reading the reference of {}", bug.instance_id))?;
        if red {
            // The tests are there already.
            bug.base_commit.clone_from(&bug.red_commit);
            bug.test_patch.clear();
        }
        Ok(Self {
            id: bug.instance_id.clone(),
            repo: bug.repo.clone(),
            bug: known_by,
            commit: bug.base_commit.clone(),
            issue: bug.problem_statement.clone(),
            gold: bug.gold.clone(),
            reference: Some(reference),
            command: Some(bug.test_command.clone()),
            judged_by: JudgedBy::Tests(Box::new(bug)),
        })
    }

    /// Returns whether its environment is one that the set's own judge makes.
    pub fn has_environment(&self) -> bool {
        matches!(self.judged_by, JudgedBy::Script)
    }
}

/// Judges the patches of one bug.
pub struct CaseJudge<'a> {
    case: &'a RepairCase,
    by: CaseTests<'a>,
}

enum CaseTests<'a> {
    Tree(&'a MutatedBug, BugRepository, Box<SandboxedTree>),
    Script(&'a JudgeEnvironments),
}

impl<'a> CaseJudge<'a> {
    /// Opens what judges a bug: its repository and the tree with what its tests need, or the script beside the set.
    pub fn prepare(
        case: &'a RepairCase,
        work: &Path,
        sandbox: &Sandbox,
        environments: &'a JudgeEnvironments,
    ) -> Result<Self> {
        let by = match &case.judged_by {
            JudgedBy::Tests(bug) => {
                let tree =
                    SandboxedTree::new(sandbox.clone(), &tree_of(work, &case.repo)).context(LeftOut::Environment)?;
                let repository = repository_of(work, &case.repo).context(LeftOut::Environment)?;
                CaseTests::Tree(bug, repository, Box::new(tree))
            }
            JudgedBy::Script => CaseTests::Script(environments),
        };
        Ok(Self { case, by })
    }

    /// Tells whether a patch resolves the bug. Tests of a made bug end after `time` at the latest; the script of a set has a limit of its own.
    pub async fn judge(&self, patch: &str, time: Duration) -> Result<Judged> {
        self.judged(patch, time).await.context(LeftOut::Judge)
    }

    async fn judged(&self, patch: &str, time: Duration) -> Result<Judged> {
        match &self.by {
            CaseTests::Tree(bug, repository, tree) => {
                let told = judge(bug, patch, repository, tree, time).await?;
                Ok(Judged {
                    applied: told.applied,
                    resolved: told.resolved,
                    why: told.why,
                })
            }
            CaseTests::Script(_) if patch.trim().is_empty() => Ok(Judged {
                applied: false,
                resolved: false,
                why: "there is no change".to_owned(),
            }),
            CaseTests::Script(environments) => self.by_script(environments, patch),
        }
    }

    /// Returns how long the tests of an attempt may take: three times as long as those of the reference, because many an attempt hangs. Fails where the
    /// reference itself does not resolve the bug.
    pub async fn attempt_time(&self) -> Result<Duration> {
        let CaseTests::Tree(bug, ..) = &self.by else {
            return Ok(TIME);
        };
        let begun = Instant::now();
        let told = self.judge(&bug.patch, TIME).await?;
        if !told.resolved {
            return Err(Error::msg(told.why).context(LeftOut::Reference));
        }
        Ok((begun.elapsed() * 3).clamp(SHORTEST, TIME))
    }

    fn by_script(&self, environments: &JudgeEnvironments, patch: &str) -> Result<Judged> {
        let scratch = tempfile::tempdir().context("making a scratch folder")?;
        let predictions = scratch.path().join("predictions.jsonl");
        let row = serde_json::json!({ "instance_id": self.case.id, "model_patch": patch });
        fs::write(&predictions, format!("{row}\n")).context("writing the prediction")?;
        let script = environments.script()?;
        environments.forget(&self.case.id)?;
        let output = Command::new("python3")
            .arg(script)
            .arg("--instances")
            .arg(environments.instances())
            .arg("--repos")
            .arg(environments.repositories().folder())
            .arg("--predictions")
            .arg(&predictions)
            .arg("--work")
            .arg(environments.work())
            .args(["--jobs", "1", "--only", &self.case.id.0])
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .context("starting the judge")?;
        let text = String::from_utf8_lossy(&output.stdout);
        text.lines()
            .filter_map(|line| serde_json::from_str::<ScriptLine>(line).ok())
            .find(|line| line.instance_id == self.case.id)
            .map(|line| line.judged)
            .with_context(|| format!("the judge {} said nothing of {}", script.display(), self.case.id))
    }
}

/// A line that the set's own judge prints.
#[derive(Deserialize)]
struct ScriptLine {
    instance_id: InstanceId,
    #[serde(flatten)]
    judged: Judged,
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_eval::repositories::Repositories;
    use magis_sandbox::HelperCommand;

    /// A judge that writes down what it was started with, and knows one right change.
    const JUDGE: &str = r#"
import json, os, sys
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
with open(os.path.join(given["--work"], "given.json"), "w") as file:
    json.dump(given, file)
[answer] = map(json.loads, open(given["--predictions"]))
print("the judge makes an environment")
print(json.dumps({"instance_id": "a__b-2", "applied": True, "resolved": True}))
if "silent" not in answer["model_patch"]:
    right = "right" in answer["model_patch"]
    why = {} if right else {"why": "not passing: test_b"}
    print(json.dumps({"instance_id": answer["instance_id"], "applied": True, "resolved": right, **why}))
"#;

    #[tokio::test]
    async fn a_script_judges_each_patch_by_the_line_that_it_prints_of_the_bug() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let row = serde_json::json!({
            "instance_id": "a__b-1", "repo": "a/b", "base_commit": "c0ffee", "problem_statement": "It fails.", "gold": { "b.py": [[3, 4]] },
        });
        for folder in ["repos", "work/venv/a__b-1"] {
            fs::create_dir_all(at(folder)).expect("a folder");
        }
        let ready = at("work/venv/a__b-1/ready");
        fs::write(&ready, "").expect("an environment");
        fs::write(at("set.jsonl"), format!("{row}\n")).expect("the set");
        fs::write(at("run.py"), JUDGE).expect("the judge");
        let cases = read_cases(&at("set.jsonl"), false).expect("cases");
        let repositories = Repositories::new(&at("repos")).expect("repositories");
        let environments =
            JudgeEnvironments::new(repositories, &at("work"), None, &at("set.jsonl")).expect("environments");
        // Nothing runs in it: the script does what it does by itself.
        let sandbox = Sandbox::limits_only(HelperCommand {
            program: "no-helper".into(),
            args: Vec::new(),
        });
        let judge = CaseJudge::prepare(&cases[0], &at("work"), &sandbox, &environments).expect("a judge");
        let told = async |patch: &str| judge.judge(patch, TIME).await;

        let right = told("the right change").await.expect("a verdict");
        assert_eq!((right.applied, right.resolved, right.why.as_str()), (true, true, ""));
        assert!(
            !ready.exists(),
            "the judge clears its tree away, so the environment is made anew"
        );
        let given = fs::read_to_string(at("work/given.json")).expect("what it was started with");
        let given: serde_json::Value = serde_json::from_str(&given).expect("JSON");
        assert_eq!(
            (&given["--only"], &given["--jobs"]),
            (&"a__b-1".into(), &"1".into()),
            "{given}"
        );
        assert_eq!(given["--instances"], at("set.jsonl").display().to_string());
        assert_eq!(given["--repos"], at("repos").display().to_string());

        let wrong = told("another change").await.expect("a verdict");
        assert_eq!((wrong.applied, wrong.resolved), (true, false));
        assert_eq!(wrong.why, "not passing: test_b");
        fs::remove_file(at("work/given.json")).expect("what it was started with");
        let empty = told(" \n").await.expect("a verdict");
        assert_eq!((empty.applied, empty.resolved), (false, false));
        assert!(
            !at("work/given.json").exists(),
            "where nothing changes nothing is asked"
        );
        let silent = told("a silent change").await.expect_err("no verdict");
        assert_eq!(silent.downcast_ref::<LeftOut>(), Some(&LeftOut::Judge), "{silent:#}");
        assert!(format!("{silent:#}").ends_with("said nothing of a__b-1"), "{silent:#}");
    }

    #[test]
    fn a_set_in_swe_benchs_form_is_judged_by_the_script_beside_it_and_has_no_commits_with_failing_tests() {
        let folder = tempfile::tempdir().expect("a folder");
        let set = folder.path().join("set.jsonl");
        let row = serde_json::json!({
            "instance_id": "a__b-1",
            "repo": "a/b",
            "base_commit": "c0ffee",
            "problem_statement": "It fails.",
            "gold": { "b.py": [[3, 4]] },
        });
        fs::write(&set, format!("{row}\n")).expect("the set");
        let cases = read_cases(&set, false).expect("cases");
        assert_eq!(
            (cases.len(), cases[0].has_environment(), &cases[0].command),
            (1, true, &None)
        );
        assert!(cases[0].gold.contains_key(&RepoPath::new("b.py").expect("a path")));
        assert_eq!(cases[0].bug, cases[0].commit);
        let refused = read_cases(&set, true).err().map(|error| error.to_string());
        assert!(refused.is_some_and(|why| why.contains("leave out --red")));
    }

    #[test]
    fn a_bug_stays_the_same_with_its_failing_tests_left_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let set = folder.path().join("set.jsonl");
        let row = serde_json::json!({
            "instance_id": "a-0001", "repo": "mutated/a", "base_commit": "hidden", "red_commit": "red", "project_commit": "right",
            "problem_statement": "It fails.", "patch": "", "test_patch": "", "test_files": [], "version": "a-1.0",
            "FAIL_TO_PASS": "[]", "PASS_TO_PASS": "[]", "language": "python", "kind": "condition", "style": "mixed",
            "gold": {}, "test_command": "python3 -m pytest",
        });
        fs::write(&set, format!("{row}\n")).expect("the set");
        let of = |red| {
            let case = read_cases(&set, red).expect("cases").remove(0);
            (case.bug.0, case.commit.0)
        };
        assert_eq!(of(false), ("hidden".to_owned(), "hidden".to_owned()));
        assert_eq!(of(true), ("hidden".to_owned(), "red".to_owned()));
    }
}
