//! The prompts whose answer is a role: their schema, and how it is read.

use crate::ReplyError;
use crate::reply::{prose, read_json, whole_sentences};
use magis_core::Role;
use serde_json::{Value, json};

pub(crate) fn role_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 3, "maxLength": 60},
            "focus": {"type": "string", "minLength": 10, "maxLength": 300}
        },
        "required": ["name", "focus"],
        "additionalProperties": false
    })
}

pub(crate) fn read_role(answer: &str) -> Result<Role, ReplyError> {
    let role: Role = read_json(answer)?;
    Ok(Role {
        name: prose("", &role.name)?,
        focus: whole_sentences(&prose("", &role.focus)?),
    })
}

/// Makes a struct a prompt whose answer is a role.
macro_rules! role_prompt {
    ($prompt:ty, $template:ident) => {
        impl $crate::Prompt for $prompt {
            type Reply = magis_core::Role;
            fn template(&self) -> $crate::Template {
                $crate::Template::$template
            }
            fn shape(&self) -> $crate::AnswerShape {
                $crate::AnswerShape::Json($crate::role::role_schema())
            }
            fn max_tokens(&self) -> u32 {
                120
            }
            fn read(&self, answer: &str) -> Result<magis_core::Role, $crate::ReplyError> {
                $crate::role::read_role(answer)
            }
        }
    };
}
pub(crate) use role_prompt;
