//! What a server can do, as it was found when it was asked, so that callers can say what is only emulated.

use crate::ServerKind;

/// How an engine does what Magis asks of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    pub kind: ServerKind,
    pub scoring: Scoring,
    pub counting: Counting,
    pub constraining: Constraining,
    pub continuing: Continuing,
}

/// How likely texts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scoring {
    /// By the log-probabilities of their tokens.
    Exact,
    /// By the order in which the model chooses them: log-probabilities are not offered.
    Ranked,
}

/// How many tokens a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// By the model's own tokenizer.
    Exact,
    /// By its letters, rather too many than too few.
    Estimated,
}

/// How an answer gets the form that was asked for. It is checked here in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constraining {
    /// The server lets no other tokens through, for every kind of constraint.
    Enforced,
    /// A JSON schema is passed on; other kinds are asked for as JSON.
    Asked,
}

/// How an answer that was begun goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continuing {
    /// The server goes on with the model's own message.
    Continued,
    /// The model is asked to begin so.
    Asked,
}

impl Abilities {
    /// Returns a sentence for each thing that the engine cannot do and that is done in another way.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.scoring == Scoring::Ranked {
            remarks.push(
                "it offers no log-probabilities, so files are compared by the order in which the model names them",
            );
        }
        if self.counting == Counting::Estimated {
            remarks.push("it does not count tokens, so prompts are measured by an estimate that is rather too high");
        }
        if self.constraining == Constraining::Asked {
            remarks.push("it does not enforce the form of every answer, so wrong ones are asked for again");
        }
        if self.continuing == Continuing::Asked {
            remarks.push("it does not go on with an answer that was begun, so the model is asked to begin so");
        }
        remarks.into_iter().map(str::to_owned).collect()
    }
}
