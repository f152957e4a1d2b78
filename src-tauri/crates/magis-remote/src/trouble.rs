//! What can go wrong with another engine, a sentence each; the host stands in front of it.

use crate::EngineAddress;
use magis_llm::LlmError;
use std::time::Duration;
use thiserror::Error;

/// What went wrong. Each message goes on behind "the engine at HOST:PORT".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Trouble {
    #[error("cannot be reached: {0}; check that it runs and that the address is right")]
    Unreachable(String),
    #[error(
        "has a name that leads to public addresses only ({0}); prompts go to this machine or to your own network only"
    )]
    PublicName(String),
    #[error("cannot be trusted: {0}; name the file of its certificate authority if it is your own")]
    Tls(String),
    #[error("sent nothing for {} s; it may be too busy or stuck", .0.as_secs_f32())]
    Silent(Duration),
    #[error("stopped in the midst of an answer and sent nothing for {} s", .0.as_secs_f32())]
    Stalled(Duration),
    #[error("closed the connection in the midst of an answer: {0}")]
    CutOff(String),
    #[error(
        "sends the request on to another place ({0}), which is not followed; give the address of the engine itself"
    )]
    Redirect(String),
    #[error("refuses the key (status {0}); set the right one in the system's keyring")]
    Key(u16),
    #[error("answers with status {status}: {message}")]
    Status { status: u16, message: String },
    #[error("says that the prompt does not fit into its context: {0}; give the context that it really has")]
    Context(String),
    #[error("gave up in the midst of an answer: {0}")]
    GaveUp(String),
    #[error("does not answer as an engine does: {0}")]
    Garbage(String),
    #[error("sends more than was asked for: over {0}; it was cut off")]
    TooMuch(String),
}

impl Trouble {
    /// Returns the error that callers see.
    pub fn at(self, address: &EngineAddress) -> LlmError {
        LlmError::Engine {
            host: address.host_and_port(),
            reason: self.to_string(),
        }
    }

    /// Returns whether the same request may go well a moment later: nothing of an answer had come.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            Self::Status { status, .. } => matches!(status, 429 | 503),
            Self::PublicName(_)
            | Self::Tls(_)
            | Self::Silent(_)
            | Self::Stalled(_)
            | Self::CutOff(_)
            | Self::Redirect(_)
            | Self::Key(_)
            | Self::Context(_)
            | Self::GaveUp(_)
            | Self::Garbage(_)
            | Self::TooMuch(_) => false,
        }
    }
}
