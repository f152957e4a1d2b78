//! The Manager's prompts: P4, P5, the meeting's opening and summary, P7, and the commit message's first line.

use crate::reply::{prose, read_json, whole_sentences};
use crate::role::role_prompt;
use crate::{AnswerShape, Head, Prompt, ReplyError, Template};
use magis_core::{Plan, PlanStep, RepoPath, TaskId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// P4: the task in one candidate file.
#[derive(Debug, Clone, Serialize)]
pub struct TaskWanted {
    #[serde(flatten)]
    pub head: Head,
    pub path: String,
    /// How memory describes it.
    pub description: String,
    pub code: String,
    /// The other candidates' paths.
    pub others: Vec<String>,
    /// Whether "nothing to do here" is no answer.
    pub insist: bool,
}

/// The answer to P4: a task, or why there is nothing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskAnswer {
    /// Something has to happen.
    Task {
        /// What happens to the file.
        action: TaskAction,
        /// What has to be done.
        description: String,
    },
    /// Nothing to do here, and why.
    Nothing { reason: String },
}

/// What happens to the file, as P4 says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskAction {
    Modify,
    Delete,
    Rename(RepoPath),
    /// Another file is written beside it.
    Create(RepoPath),
}

#[derive(Deserialize)]
struct TaskReply {
    reason: String,
    #[serde(default)]
    action: Option<String>,
    #[serde(default)]
    new_path: Option<String>,
    task: String,
}

impl Prompt for TaskWanted {
    type Reply = TaskAnswer;
    fn template(&self) -> Template {
        Template::Task
    }
    fn shape(&self) -> AnswerShape {
        let text = |most: u32| json!({"type": "string", "minLength": 1, "maxLength": most});
        let mut properties = json!({"reason": text(300)});
        let mut required = vec!["reason"];
        if !self.insist {
            properties["action"] = json!({"enum": ["modify", "nothing", "delete", "rename", "create"]});
            properties["new_path"] = json!({"type": "string", "maxLength": 120});
            required.extend(["action", "new_path"]);
        }
        properties["task"] = text(500);
        required.push("task");
        AnswerShape::Json(
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}),
        )
    }
    fn max_tokens(&self) -> u32 {
        300
    }
    fn read(&self, answer: &str) -> Result<TaskAnswer, ReplyError> {
        let reply: TaskReply = read_json(answer)?;
        let (reason, task) = (
            prose("", &reply.reason)?,
            prose("", &reply.task).map(|task| whole_sentences(&task)),
        );
        let path = || {
            let path = RepoPath::new(reply.new_path.clone().unwrap_or_default());
            path.map_err(|error| ReplyError::Form(error.to_string()))
        };
        let action = match reply.action.as_deref() {
            Some("nothing") => return Ok(TaskAnswer::Nothing { reason }),
            Some("delete") => TaskAction::Delete,
            Some("rename") => TaskAction::Rename(path()?),
            Some("create") => TaskAction::Create(path()?),
            _ => TaskAction::Modify,
        };
        Ok(TaskAnswer::Task {
            action,
            description: task?,
        })
    }
}

/// P5: the Developer of a task.
#[derive(Debug, Clone, Serialize)]
pub struct DeveloperRole {
    #[serde(flatten)]
    pub head: Head,
    pub path: String,
    pub task: String,
}
role_prompt!(DeveloperRole, DeveloperRole);

/// The Manager opens the meeting.
#[derive(Debug, Clone, Serialize)]
pub struct MeetingOpening {
    #[serde(flatten)]
    pub head: Head,
    /// All tasks, a line each.
    pub team: String,
}

impl Prompt for MeetingOpening {
    type Reply = String;
    fn template(&self) -> Template {
        Template::MeetingOpen
    }
    fn max_tokens(&self) -> u32 {
        120
    }
    fn stop(&self) -> Vec<String> {
        vec!["\n\n".to_owned()]
    }
    fn read(&self, answer: &str) -> Result<String, ReplyError> {
        prose("Welcome.", answer).map(|text| whole_sentences(&text))
    }
}

/// The Manager sums up.
#[derive(Debug, Clone, Serialize)]
pub struct MeetingSummary {
    #[serde(flatten)]
    pub head: Head,
    /// All tasks, a line each.
    pub team: String,
    pub record: String,
}

impl Prompt for MeetingSummary {
    type Reply = String;
    fn template(&self) -> Template {
        Template::MeetingSumUp
    }
    fn max_tokens(&self) -> u32 {
        150
    }
    fn read(&self, answer: &str) -> Result<String, ReplyError> {
        prose("To sum up,", answer).map(|text| whole_sentences(&text))
    }
}

/// P7: the plan over the tasks.
#[derive(Debug, Clone, Serialize)]
pub struct PlanWanted {
    #[serde(flatten)]
    pub head: Head,
    /// All tasks, a line each.
    pub team: String,
    pub record: String,
    #[serde(skip)]
    pub tasks: Vec<TaskId>,
}

impl Prompt for PlanWanted {
    type Reply = Plan;
    fn template(&self) -> Template {
        Template::Plan
    }
    fn shape(&self) -> AnswerShape {
        let step = |task: &TaskId| {
            let others: Vec<String> = self
                .tasks
                .iter()
                .filter(|other| *other != task)
                .map(ToString::to_string)
                .collect();
            json!({"type": "array", "items": {"enum": others}, "maxItems": others.len()})
        };
        let steps: serde_json::Map<String, Value> = self
            .tasks
            .iter()
            .map(|task| (format!("{task} waits for"), step(task)))
            .collect();
        let required: Vec<String> = steps.keys().cloned().collect();
        AnswerShape::Json(
            json!({"type": "object", "properties": steps, "required": required, "additionalProperties": false}),
        )
    }
    fn max_tokens(&self) -> u32 {
        40 + 24 * self.tasks.len() as u32
    }
    fn read(&self, answer: &str) -> Result<Plan, ReplyError> {
        let waits: std::collections::BTreeMap<String, Vec<String>> = read_json(answer)?;
        let known = |name: &String| {
            let found = self.tasks.iter().find(|task| task.to_string() == *name);
            found.copied().ok_or_else(|| ReplyError::Unknown(name.clone()))
        };
        let step = |task: &TaskId| {
            let after = waits
                .get(&format!("{task} waits for"))
                .map(Vec::as_slice)
                .unwrap_or_default();
            Ok(PlanStep {
                task: *task,
                after: after.iter().map(known).collect::<Result<_, ReplyError>>()?,
            })
        };
        let steps = self.tasks.iter().map(step).collect::<Result<Vec<_>, ReplyError>>()?;
        Plan::of(self.tasks.iter().copied(), steps).map_err(|error| ReplyError::Form(error.to_string()))
    }
}

/// The first line of the commit message.
#[derive(Debug, Clone, Serialize)]
pub struct CommitSubject {
    #[serde(flatten)]
    pub head: Head,
    /// The tasks, a line each.
    pub tasks: String,
    /// The patch, or as much of it as there is room for.
    pub diff: String,
}

impl Prompt for CommitSubject {
    type Reply = String;
    fn template(&self) -> Template {
        Template::CommitSubject
    }
    fn max_tokens(&self) -> u32 {
        30
    }
    fn stop(&self) -> Vec<String> {
        vec!["\n".to_owned()]
    }
    fn read(&self, answer: &str) -> Result<String, ReplyError> {
        let subject = prose("", answer)?;
        Ok(subject
            .trim_matches(['"', '`', '*', ' '])
            .trim_end_matches('.')
            .to_owned())
    }
}
