//! P7's main work plan: a graph of tasks, validated, executed as data.

use crate::TaskId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use thiserror::Error;

/// The main work plan `c_main`: which task waits for which. Always free of cycles and of unknown tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(try_from = "Vec<PlanStep>", into = "Vec<PlanStep>")]
pub struct Plan {
    steps: Vec<PlanStep>,
}

/// One task of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type), specta(skip_attr = "serde"))]
pub struct PlanStep {
    pub task: TaskId,
    /// The tasks that have to be closed before it starts.
    #[serde(default)]
    pub after: BTreeSet<TaskId>,
}

/// Why steps make no plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// A step waits for a task that is not in the plan.
    #[error("the plan lets {0} wait for {1}, which is no task of this run")]
    Unknown(TaskId, TaskId),
    /// A task stands there twice.
    #[error("the plan names {0} twice")]
    Twice(TaskId),
    /// A task of the run is missing, or one is named that the run does not have.
    #[error("the plan and the run's tasks differ in {0}")]
    NotTheTasks(TaskId),
    /// The tasks wait for each other.
    #[error("the plan has a cycle through {0}")]
    Cycle(TaskId),
}

impl Plan {
    /// Makes a plan of steps whose dependencies have no cycle.
    ///
    /// # Errors
    /// When two steps have the same task, or the dependencies have a cycle or name an unknown task.
    pub fn new(steps: Vec<PlanStep>) -> Result<Self, PlanError> {
        let mut known = BTreeSet::new();
        for step in &steps {
            if !known.insert(step.task) {
                return Err(PlanError::Twice(step.task));
            }
        }
        for step in &steps {
            if let Some(unknown) = step.after.iter().find(|task| !known.contains(task)) {
                return Err(PlanError::Unknown(step.task, *unknown));
            }
        }
        let plan = Self { steps };
        let placed: BTreeSet<TaskId> = plan.groups().into_iter().flatten().collect();
        match known.difference(&placed).next() {
            Some(task) => Err(PlanError::Cycle(*task)),
            None => Ok(plan),
        }
    }

    /// Checks `steps`, and that they are exactly `tasks`.
    ///
    /// # Errors
    /// When two steps have the same task, or the dependencies have a cycle or name an unknown task.
    pub fn of(tasks: impl IntoIterator<Item = TaskId>, steps: Vec<PlanStep>) -> Result<Self, PlanError> {
        let plan = Self::new(steps)?;
        let tasks: BTreeSet<TaskId> = tasks.into_iter().collect();
        let planned: BTreeSet<TaskId> = plan.steps.iter().map(|step| step.task).collect();
        match tasks.symmetric_difference(&planned).next() {
            Some(task) => Err(PlanError::NotTheTasks(*task)),
            None => Ok(plan),
        }
    }

    /// Returns all tasks one after the other, in the order given: what holds when no usable plan could be had.
    pub fn in_sequence(tasks: impl IntoIterator<Item = TaskId>) -> Self {
        let mut before = None;
        let steps = tasks
            .into_iter()
            .map(|task| PlanStep {
                task,
                after: before.replace(task).into_iter().collect(),
            })
            .collect();
        Self { steps }
    }

    /// Returns the steps as written.
    pub fn steps(&self) -> &[PlanStep] {
        &self.steps
    }

    /// Returns the parallel groups, in order: a task stands in the first group in which all it waits for is done.
    pub fn groups(&self) -> Vec<Vec<TaskId>> {
        let mut waiting: BTreeMap<TaskId, &BTreeSet<TaskId>> =
            self.steps.iter().map(|step| (step.task, &step.after)).collect();
        let mut done = BTreeSet::new();
        let mut groups = Vec::new();
        loop {
            let ready: Vec<TaskId> = waiting
                .iter()
                .filter(|(_, after)| after.is_subset(&done))
                .map(|(task, _)| *task)
                .collect();
            if ready.is_empty() {
                return groups;
            }
            for task in &ready {
                waiting.remove(task);
                done.insert(*task);
            }
            groups.push(ready);
        }
    }
}

impl TryFrom<Vec<PlanStep>> for Plan {
    type Error = PlanError;
    fn try_from(steps: Vec<PlanStep>) -> Result<Self, PlanError> {
        Self::new(steps)
    }
}

impl From<Plan> for Vec<PlanStep> {
    fn from(plan: Plan) -> Self {
        plan.steps
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, group) in self.groups().iter().enumerate() {
            let tasks: Vec<String> = group.iter().map(ToString::to_string).collect();
            let how = if group.len() > 1 { " in parallel" } else { "" };
            writeln!(f, "{}. {}{how}", index + 1, tasks.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(steps: &[(u32, &[u32])]) -> Result<Plan, PlanError> {
        let step = |(task, after): &(u32, &[u32])| PlanStep {
            task: TaskId(*task),
            after: after.iter().copied().map(TaskId).collect(),
        };
        Plan::new(steps.iter().map(step).collect())
    }

    #[test]
    fn tasks_that_wait_for_nothing_run_in_parallel() {
        let plan = plan(&[(1, &[]), (2, &[]), (3, &[1, 2])]).unwrap();
        assert_eq!(plan.to_string(), "1. T1, T2 in parallel\n2. T3\n");
    }

    #[test]
    fn a_cycle_an_unknown_task_and_a_double_are_refused() {
        assert_eq!(plan(&[(1, &[2]), (2, &[1])]), Err(PlanError::Cycle(TaskId(1))));
        assert_eq!(plan(&[(1, &[7])]), Err(PlanError::Unknown(TaskId(1), TaskId(7))));
        assert_eq!(plan(&[(1, &[]), (1, &[])]), Err(PlanError::Twice(TaskId(1))));
    }

    #[test]
    fn a_plan_that_forgets_a_task_is_refused() {
        let steps = vec![PlanStep {
            task: TaskId(1),
            after: BTreeSet::new(),
        }];
        assert_eq!(
            Plan::of([TaskId(1), TaskId(2)], steps),
            Err(PlanError::NotTheTasks(TaskId(2)))
        );
    }

    #[test]
    fn in_sequence_each_waits_for_the_one_before() {
        assert_eq!(
            Plan::in_sequence([TaskId(2), TaskId(1)]).groups(),
            [[TaskId(2)], [TaskId(1)]]
        );
    }
}
