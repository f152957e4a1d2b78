//! The names of a run's people: each is given once, so that two of one name are not told apart by their role alone.
//!
//! What a person wrote is left as it is.

use magis_core::{Role, RunEvent, TaskId};
use magis_flow::Run;

/// Whose name it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seat {
    Developer(TaskId),
    QaEngineer(TaskId),
}

/// Returns the event with the name of the person it brings in made a name of its own: where another has it, a number
/// follows.
pub(crate) fn apart(run: &Run, event: RunEvent) -> RunEvent {
    match event {
        RunEvent::RoleDefined { task, role } => RunEvent::RoleDefined {
            task,
            role: free(run, Seat::Developer(task), role),
        },
        RunEvent::RoleRevised { task, role } => RunEvent::RoleRevised {
            task,
            role: free(run, Seat::Developer(task), role),
        },
        RunEvent::ReviewerDefined { task, role } => RunEvent::ReviewerDefined {
            task,
            role: free(run, Seat::QaEngineer(task), role),
        },
        other => other,
    }
}

fn free(run: &Run, seat: Seat, role: Role) -> Role {
    let seats = run.tasks().flat_map(|state| {
        let id = state.task.id;
        let developer = state.role.as_ref().map(|role| (Seat::Developer(id), role));
        let reviewer = state.reviewer.as_ref().map(|role| (Seat::QaEngineer(id), role));
        developer.into_iter().chain(reviewer)
    });
    let of_others: Vec<(Seat, String)> = seats.map(|(of, role)| (of, plain(&role.name))).collect();
    let taken = |name: &str| of_others.iter().any(|(of, other)| *of != seat && *other == plain(name));
    if !taken(&role.name) {
        return role;
    }
    let numbered = (2..).map(|number| format!("{} {number}", role.name.trim()));
    let own = numbered.into_iter().find(|name| !taken(name));
    Role {
        name: own.unwrap_or_else(|| role.name.clone()),
        focus: role.focus,
    }
}

/// As two names are compared: letters' case and spaces do not make another person.
fn plain(name: &str) -> String {
    let words: Vec<String> = name.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}
