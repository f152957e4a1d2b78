//! The chat template of a model: a conversation is written in its form, in `ChatML`, or the process that writes it is lost in time, alone and with little
//! memory taken.

use super::{CaseOutcome, FuzzTarget};
use anyhow::{Result, anyhow};
use magis_llm::chat_template::{CompiledTemplate, Part};
use magis_llm::{Message, MessageRole};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How long the writing may take: what its own limit of time allows, twice (with the system text and with that in the first question), and a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// What a process that ended by a panic says to who started it.
const PANICKED: i32 = 101;
/// What the conversation says, and how its answer begins.
const SAID: [(MessageRole, &str); 4] = [
    (MessageRole::System, "Be brief."),
    (MessageRole::User, "Hello <|im_end|>"),
    (MessageRole::Assistant, "Hi."),
    (MessageRole::User, "Bye {{ bos_token }}"),
];
const BEGUN: &str = "Well,";

pub(super) struct ChatTemplateTarget {
    program: PathBuf,
    writer: Option<Writer>,
}

/// A process that writes conversations.
struct Writer {
    process: Child,
    input: ChildStdin,
    answers: Receiver<String>,
}

impl ChatTemplateTarget {
    pub(super) fn open(program: &Path) -> Self {
        Self {
            program: program.to_owned(),
            writer: None,
        }
    }
}

impl FuzzTarget for ChatTemplateTarget {
    fn seeds(&mut self) -> Vec<Vec<u8>> {
        [
            include_str!("../../../magis-llm/tests/templates/qwen2.5.jinja"),
            include_str!("../../../magis-llm/tests/templates/smollm2.jinja"),
            include_str!("../../../magis-llm/tests/templates/llama3.jinja"),
            include_str!("../../../magis-llm/tests/templates/gemma2.jinja"),
            include_str!("../../../magis-llm/tests/templates/mistral.jinja"),
            "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}",
        ]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "{{ ",
            " }}",
            "{% for message in messages %}",
            "{% for a in range(99999) %}",
            "{% endfor %}",
            "{% if ",
            "{% else %}",
            "{% endif %}",
            "{% set x = x ~ x %}",
            "{% set x = 'x' * 99999999 %}",
            "{% macro m() %}{{ m() }}{% endmacro %}",
            "{{ m() }}",
            "{% break %}",
            "{# ",
            " #}",
            "message.content",
            "messages[0]['role']",
            "raise_exception('no')",
            "strftime_now('%d')",
            "loop.index0",
            "namespace(x=1)",
            " | trim",
            " | tojson",
            " | replace('a', 'aa')",
            " | list | join",
            ".split('')[-1]",
            "add_generation_prompt",
            "\u{f8f0}0\u{f8f1}",
        ]
    }

    fn run(&mut self, input: &[u8]) -> CaseOutcome {
        let mut outcome = CaseOutcome::default();
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => Writer::start(&self.program).expect("this program can be started"),
        };
        // One that has ended since is seen by the missing answer.
        let _sent = writer.send(input);
        let answer = writer.answers.recv_timeout(PATIENCE);
        assert_ne!(
            answer,
            Err(RecvTimeoutError::Timeout),
            "a conversation is not written in time"
        );
        if let Ok(answer) = answer {
            outcome.say(answer);
            self.writer = Some(writer);
        } else {
            let status = writer.process.wait().expect("a process that was started has a status");
            assert_ne!(status.code(), Some(PANICKED), "writing a conversation panicked");
            outcome
                .lost
                .push(format!("the process that writes ended with {status}"));
        }
        outcome
    }
}

impl Writer {
    fn start(program: &Path) -> Result<Self> {
        let mut process = Command::new(program)
            .arg("write-conversations")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(anyhow!("a process has no pipes"));
        };
        let (to, answers) = channel();
        std::thread::spawn(move || {
            for answer in BufReader::new(output).lines().map_while(Result::ok) {
                if to.send(answer).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            process,
            input,
            answers,
        })
    }

    fn send(&mut self, template: &[u8]) -> io::Result<()> {
        self.input.write_all(&(template.len() as u64).to_le_bytes())?;
        self.input.write_all(template)?;
        self.input.flush()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // One that has ended is as good.
        let _gone = self.process.kill();
        let _status = self.process.wait();
    }
}

/// Serves as a process that writes a conversation in the form of each template that it is given, and answers a line.
pub fn write_conversations() -> ExitCode {
    let mut input = io::stdin().lock();
    let mut length = [0; 8];
    while input.read_exact(&mut length).is_ok() {
        let mut template = Vec::new();
        let length = u64::from_le_bytes(length);
        if input.by_ref().take(length).read_to_end(&mut template).is_err() {
            break;
        }
        println!("{}", written(&String::from_utf8_lossy(&template)));
    }
    ExitCode::SUCCESS
}

/// Returns how a conversation was written.
fn written(template: &str) -> String {
    let template = CompiledTemplate::new(Some(template), "<s>", "</s>");
    let messages = SAID.map(|(role, content)| Message::new(role, content));
    let parts = match template.parts(&messages, BEGUN) {
        Ok(parts) => parts,
        Err(error) => return error.to_string().replace(['\n', '\r'], " "),
    };
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Data(text) => Some(text.as_str()),
            Part::Form(_) => None,
        })
        .collect();
    for (_, text) in SAID {
        assert!(texts.contains(&text), "'{text}' is left out");
    }
    assert_eq!(texts.last(), Some(&BEGUN), "the answer does not begin as asked for");
    assert!(
        texts
            .iter()
            .all(|text| *text == BEGUN || SAID.iter().any(|(_, said)| said == text)),
        "texts were changed"
    );
    format!("{:?}", template.origin())
}
