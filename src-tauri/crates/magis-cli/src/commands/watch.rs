//! `magis watch`: follows a repository and shows what happens, a line each, until Ctrl-C.

use super::follow::listen;
use super::{Place, git, runtime};
use crate::args::WatchArgs;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::render::{clean, count, thousands};
use crate::screen::json_line;
use magis_core::RepoPath;
use magis_engine::repository::{ChangedPaths, GitPart, HeadPlace, RepoChange, WatchOptions};
use magis_engine::{Magis, SummarisationBudget, SummarisationModel, WatchEvent};
use serde_json::json;
use std::time::Duration;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

/// How long the threads may take to end when everything is over.
const GRACE: Duration = Duration::from_millis(100);
/// The most files of a change that are named.
const NAMED: usize = 3;

/// Runs `magis watch`.
pub fn watch(place: &Place, args: &WatchArgs) -> Result<ExitStatus, Failure> {
    git()?.open(&args.repo)?;
    let magis = place.open()?;
    let runtime = runtime()?;
    let end = runtime.block_on(follow(place, &magis, args));
    runtime.shutdown_timeout(GRACE);
    end
}

async fn follow(place: &Place, magis: &Magis, args: &WatchArgs) -> Result<ExitStatus, Failure> {
    let repo = magis.add_repository(&args.repo)?;
    let (sender, mut events) = unbounded_channel();
    let watch = magis.watch(repo, WatchOptions::default(), sender)?;
    let _summarising = if args.summarise {
        let usual = || magis.library().catalog().default_entry().id.to_string();
        let name = magis.model_name(&args.model.clone().unwrap_or_else(usual))?;
        // What is wrong with the model is said before the waiting begins.
        args.engine.limits().context_of(&magis.library().named(&name)?)?;
        let model = SummarisationModel::Named {
            name,
            limits: args.engine.limits(),
        };
        let budget = SummarisationBudget {
            tokens: args.budget_tokens,
            minutes: args.budget_minutes,
        };
        watch.give_budget(budget);
        Some(watch.summarise_in_background(model, Duration::from_secs(args.idle)))
    } else {
        None
    };
    let stop = CancellationToken::new();
    tokio::spawn(listen(stop.clone()));
    while let Some(Some(told)) = stop.run_until_cancelled(events.recv()).await {
        let line = if args.json {
            json_line(&json!(told))
        } else {
            line(&told)
        };
        place.screen.line(&line)?;
    }
    Ok(ExitStatus::Stopped)
}

/// Returns what happened, as a person reads it.
fn line(event: &WatchEvent) -> String {
    match event {
        WatchEvent::Watching { folders } => format!("watching {}", count(*folders, "folder")),
        WatchEvent::Polling { why } => format!(
            "not told of changes: {}\n  what to do: {}",
            clean(&why.to_string()),
            why.remedy()
        ),
        WatchEvent::Changed { change } => format!("changed: {}", told(change)),
        WatchEvent::Indexing { done, total } => {
            format!("indexing: {} of {}", thousands(*done as u64), count(*total, "file"))
        }
        WatchEvent::Indexed {
            files,
            added,
            removed,
            took_ms,
        } => format!(
            "index updated in {took_ms} ms: {}, {added} read in, {removed} taken out",
            count(*files, "file")
        ),
        WatchEvent::Memory {
            fresh,
            stale,
            none,
            needs_none,
        } => format!("memory: {fresh} fresh, {stale} stale, {none} without a summary, {needs_none} not needed"),
        WatchEvent::Summarising { path } => format!("summarising {}", clean(path.as_str())),
        WatchEvent::Summarised {
            path,
            tokens,
            took_ms,
            spent,
        } => format!(
            "summarised {}: {} in {took_ms} ms, {} in all",
            clean(path.as_str()),
            count(*tokens as usize, "token"),
            thousands(*spent)
        ),
        WatchEvent::NotSummarised { path, why } => format!("not summarised {}: {}", clean(path.as_str()), clean(why)),
        WatchEvent::Idle { why } => format!("summarising waits: {why}"),
        WatchEvent::Unreadable { files } if files.is_empty() => "every file can be read again".to_owned(),
        WatchEvent::Unreadable { files } => format!("left out, for they may not be read: {}", named(files)),
        WatchEvent::Failed(failure) => failed(failure),
        WatchEvent::SummarisingFailed(failure) => format!("summarising: {}", failed(failure)),
    }
}

fn failed(failure: &magis_engine::WatchFailure) -> String {
    let sentence = format!("error: {}", clean(&failure.sentence));
    if failure.remedy.is_empty() {
        sentence
    } else {
        format!("{sentence}\n  what to do: {}", failure.remedy)
    }
}

/// Returns the first of them, and how many more there are.
fn named(paths: &[RepoPath]) -> String {
    let names: Vec<_> = paths.iter().take(NAMED).map(|path| clean(path.as_str())).collect();
    let more = match paths.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.join(", ") + &more
}

fn told(change: &RepoChange) -> String {
    let mut parts = Vec::new();
    if let Some(head) = &change.head {
        parts.push(format!("HEAD from {} to {}", at(&head.from), at(&head.to)));
    }
    match &change.paths {
        ChangedPaths::None => {}
        ChangedPaths::Many => parts.push("many files".to_owned()),
        ChangedPaths::Some(paths) => parts.push(named(paths)),
    }
    parts.extend(change.git.iter().map(|part| {
        match part {
            GitPart::Index => "the index",
            GitPart::Refs => "branches",
            GitPart::Rules => "git's rules",
        }
        .to_owned()
    }));
    parts.join("; ")
}

fn at(place: &HeadPlace) -> String {
    let commit = place
        .commit
        .as_ref()
        .map_or("no commit", |commit| commit.0.get(..10).unwrap_or(&commit.0));
    match &place.branch {
        Some(branch) => format!("{} ({commit})", clean(branch)),
        None => commit.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_core::CommitId;
    use magis_engine::repository::{HeadMove, WhyPolling};

    fn change(paths: ChangedPaths, head: Option<HeadMove>, git: Vec<GitPart>) -> WatchEvent {
        WatchEvent::Changed {
            change: RepoChange { paths, head, git },
        }
    }

    #[test]
    fn a_change_says_what_it_touched() {
        let paths = ["a.py", "b.py", "c.py", "d.py"].map(|name| RepoPath::new(name).unwrap());
        let head = HeadMove {
            from: HeadPlace {
                branch: Some("main".to_owned()),
                commit: Some(CommitId("0123456789abcdef".to_owned())),
            },
            to: HeadPlace::default(),
        };
        assert_eq!(
            line(&change(ChangedPaths::Some(paths.to_vec()), None, Vec::new())),
            "changed: a.py, b.py, c.py and 1 more"
        );
        assert_eq!(
            line(&change(ChangedPaths::Many, Some(head), vec![GitPart::Index])),
            "changed: HEAD from main (0123456789) to no commit; many files; the index"
        );
    }

    #[test]
    fn polling_says_what_to_do() {
        let event = WatchEvent::Polling {
            why: WhyPolling::TooManyFolders { limit: Some(8_192) },
        };
        let said = line(&event);
        assert!(
            said.starts_with("not told of changes: the repository has more folders"),
            "{said}"
        );
        assert!(
            said.contains("\n  what to do: Run 'sudo sysctl fs.inotify.max_user_watches="),
            "{said}"
        );
    }
}
