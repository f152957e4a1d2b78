//! Calls are read from what models write, in any pieces, and grammars allow nothing that cannot be read.
#![expect(clippy::unwrap_used, reason = "a test fails where something is missing")]

use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use magis_llm::tool_format::thinking_form;
use magis_llm::tool_format::{AnswerBegin, AnswerForm, AnswerPiece, AnswerReader, ThinkingForm, ToolFormat, WithTools};
use magis_llm::{ToolChoice, ToolDeclaration, Tools};
use proptest::prelude::*;
use serde_json::{Value, json};
use toktrie::{ApproximateTokEnv, InferenceCapabilities};

const FORMATS: [ToolFormat; 10] = [
    ToolFormat::Hermes,
    ToolFormat::QwenXml,
    ToolFormat::MistralList,
    ToolFormat::Mistral,
    ToolFormat::Llama,
    ToolFormat::Granite,
    ToolFormat::Harmony,
    ToolFormat::Gemma,
    ToolFormat::DeepSeek,
    ToolFormat::DeepSeekFenced,
];

fn tools() -> Tools {
    let declared = [
        (
            "read_file",
            json!({
                "type": "object",
                "properties": { "path": { "type": "string" }, "first": { "type": "integer" }, "whole": { "type": "boolean" } },
                "required": ["path"],
            }),
        ),
        (
            "edit",
            json!({
                "type": "object",
                "properties": {
                    "mode": { "enum": ["put", "cut"] },
                    "lines": { "type": "array", "items": { "type": "object", "properties": { "at": { "type": "integer" }, "text": { "type": "string" } }, "required": ["at"] } },
                },
                "required": ["mode", "lines"],
            }),
        ),
        ("stop", json!({ "type": "object", "properties": {} })),
    ];
    Tools {
        declared: declared
            .map(|(name, parameters)| ToolDeclaration {
                name: name.to_owned(),
                description: String::new(),
                parameters,
            })
            .to_vec(),
        choice: ToolChoice::Free,
    }
}

fn form(format: ToolFormat, thinking: Option<ThinkingForm>) -> AnswerForm {
    AnswerForm {
        format,
        thinking,
        begins: if thinking.is_some() {
            AnswerBegin::Thinking
        } else {
            AnswerBegin::Text
        },
        earlier_calls: 0,
    }
}

/// Returns what an answer is read as, its pieces of one kind put together.
fn read<'a>(form: &AnswerForm, pieces: impl IntoIterator<Item = &'a str>) -> Vec<AnswerPiece> {
    let mut reader = AnswerReader::new(form, &tools().declared);
    let mut found: Vec<AnswerPiece> = Vec::new();
    let mut all: Vec<AnswerPiece> = pieces.into_iter().flat_map(|piece| reader.push(piece)).collect();
    all.extend(reader.finish());
    for piece in all {
        match (found.last_mut(), piece) {
            (Some(AnswerPiece::Text(text)), AnswerPiece::Text(more))
            | (Some(AnswerPiece::Thinking(text)), AnswerPiece::Thinking(more)) => text.push_str(&more),
            (_, piece) => found.push(piece),
        }
    }
    found
}

fn show(pieces: &[AnswerPiece]) -> String {
    let lines = pieces.iter().map(|piece| match piece {
        AnswerPiece::Thinking(text) => format!("thinks {text:?}"),
        AnswerPiece::Text(text) => format!("says {text:?}"),
        AnswerPiece::Call(call) => format!("{} {}{}", call.id, call.name, Value::from(call.arguments.clone())),
        AnswerPiece::Unreadable(call) => format!("unreadable {:?}: {}", call.text, call.reason),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn check(format: ToolFormat, answer: &str, expected: &str) {
    assert_eq!(show(&read(&form(format, None), [answer])), expected, "{format:?}");
}

/// An answer of each family as its models write it: something said, then a call.
const WRITTEN: [(ToolFormat, &str); 12] = [
    (
        ToolFormat::Hermes,
        "I look.\n<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.py\", \"first\": 3}}\n</tool_call>",
    ),
    (
        ToolFormat::QwenXml,
        "I look.\n<tool_call>\n<function=read_file>\n<parameter=path>\na.py\n</parameter>\n<parameter=first>\n3\n</parameter>\n</function>\n</tool_call>",
    ),
    (
        ToolFormat::QwenXml,
        "I look.\n<tool_call>{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.py\", \"first\": 3}}</tool_call>",
    ),
    (
        ToolFormat::MistralList,
        "I look.\n[TOOL_CALLS][{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.py\", \"first\": 3}}]",
    ),
    (
        ToolFormat::Mistral,
        "I look.\n[TOOL_CALLS]read_file[ARGS]{\"path\": \"a.py\", \"first\": 3}",
    ),
    (
        ToolFormat::Mistral,
        "I look.\n[TOOL_CALLS]read_file[CALL_ID]123456789[ARGS]{\"path\": \"a.py\", \"first\": 3}",
    ),
    (
        ToolFormat::Llama,
        "I look.\n<|python_tag|>{\"name\": \"read_file\", \"parameters\": {\"path\": \"a.py\", \"first\": 3}}",
    ),
    (
        ToolFormat::Granite,
        "I look.\n<|tool_call|>[{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.py\", \"first\": 3}}]",
    ),
    (
        ToolFormat::Harmony,
        "<|channel|>commentary<|message|>I look.\n<|end|><|start|>assistant<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{\"path\": \"a.py\", \"first\": 3}<|call|>",
    ),
    (
        ToolFormat::Gemma,
        "I look.\n<|tool_call>call:read_file{first:3,path:<|\"|>a.py<|\"|>}<tool_call|>",
    ),
    (
        ToolFormat::DeepSeek,
        "I look.\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>{\"path\": \"a.py\", \"first\": 3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    (
        ToolFormat::DeepSeekFenced,
        "I look.\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n```json\n{\"path\": \"a.py\", \"first\": 3}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
];

#[test]
fn what_is_said_and_called_is_told_apart_in_every_family() {
    for (format, answer) in WRITTEN {
        let pieces = read(&form(format, None), [answer]);
        let [AnswerPiece::Text(text), AnswerPiece::Call(call)] = pieces.as_slice() else {
            panic!("{format:?}: {}", show(&pieces));
        };
        assert_eq!(
            (text.as_str(), call.name.as_str()),
            ("I look.\n", "read_file"),
            "{format:?}"
        );
        assert_eq!(
            Value::from(call.arguments.clone()),
            json!({ "path": "a.py", "first": 3 }),
            "{format:?}"
        );
    }
}

#[test]
fn several_calls_of_an_answer_are_all_read() {
    let both = "call00000 stop{}\ncall00001 stop{}";
    check(
        ToolFormat::Hermes,
        "<tool_call>{\"name\": \"stop\"}</tool_call><tool_call>{\"name\": \"stop\", \"arguments\": \"{}\"}</tool_call>",
        both,
    );
    check(
        ToolFormat::Mistral,
        "[TOOL_CALLS]stop[ARGS]{}[TOOL_CALLS]stop[ARGS]{}",
        both,
    );
    check(
        ToolFormat::MistralList,
        "[TOOL_CALLS][{\"name\": \"stop\", \"arguments\": {}}, {\"name\": \"stop\", \"arguments\": {}}]",
        both,
    );
    check(
        ToolFormat::Gemma,
        "<|tool_call>call:stop{}<tool_call|><|tool_call>call:stop{}<tool_call|>",
        both,
    );
    check(
        ToolFormat::DeepSeek,
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>stop<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁call▁begin｜>stop<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        both,
    );
}

#[test]
fn a_call_may_have_the_marks_of_calls_in_its_texts() {
    check(
        ToolFormat::Hermes,
        r#"<tool_call>{"name": "read_file", "arguments": {"path": "</tool_call><tool_call>"}}</tool_call>"#,
        r#"call00000 read_file{"path":"</tool_call><tool_call>"}"#,
    );
    check(
        ToolFormat::QwenXml,
        "<tool_call>\n<function=read_file>\n<parameter=path>\n</tool_call>\n3\n</parameter>\n</function>\n</tool_call>",
        r#"call00000 read_file{"path":"</tool_call>\n3"}"#,
    );
}

#[test]
fn values_without_quotes_are_read_by_the_schema() {
    check(
        ToolFormat::QwenXml,
        "<tool_call>\n<function=read_file>\n<parameter=path>\n3\n</parameter>\n<parameter=whole>\nTrue\n</parameter>\n<parameter=first>\nx\n</parameter>\n</function>\n</tool_call>",
        r#"call00000 read_file{"path":"3","whole":true,"first":"x"}"#,
    );
    check(
        ToolFormat::Gemma,
        "<|tool_call>call:edit{lines:[{at:-1,text:<|\"|>a,}b<|\"|>},{at:2}],mode:<|\"|>cut<|\"|>}<tool_call|>",
        r#"call00000 edit{"lines":[{"at":-1,"text":"a,}b"},{"at":2}],"mode":"cut"}"#,
    );
}

#[test]
fn unreadable_calls_are_told_with_the_reason_and_lose_nothing() {
    check(
        ToolFormat::Hermes,
        "<tool_call>\n{\"name\": 3}\n</tool_call> and <tool_call>{\"name\": \"stop\"}</tool_call>",
        "unreadable \"\\n{\\\"name\\\": 3}\\n\": the call has no name\nsays \" and \"\ncall00000 stop{}",
    );
    check(
        ToolFormat::Mistral,
        "[TOOL_CALLS]stop{}",
        "unreadable \"stop{}\": [ARGS] is missing",
    );
    check(
        ToolFormat::Harmony,
        "<|channel|>commentary to=functions.stop<|message|>{\"a\": <|call|>",
        "unreadable \"{\\\"a\\\": \": the arguments are not JSON: EOF while parsing a value at line 1 column 5",
    );
    let deep = format!("<|tool_call>call:stop{}<tool_call|>", "{a:".repeat(100_000));
    assert!(
        show(&read(&form(ToolFormat::Gemma, None), [deep.as_str()])).ends_with("the arguments are nested too deeply")
    );
    check(ToolFormat::Llama, "{\"answer\": 3}", "says \"{\\\"answer\\\": 3}\"");
    check(ToolFormat::Harmony, "No channel.", "says \"No channel.\"");
}

#[test]
fn thinking_is_kept_apart() {
    let tags = thinking_form("<think>", ToolFormat::Hermes, WithTools::Yes);
    let answer = "\nA <tool_call> it is.\n</think>\n\n<tool_call>{\"name\": \"stop\"}</tool_call>";
    assert_eq!(
        show(&read(&form(ToolFormat::Hermes, tags), [answer])),
        "thinks \"\\nA <tool_call> it is.\\n\"\ncall00000 stop{}"
    );
    let unasked = AnswerForm {
        begins: AnswerBegin::Text,
        ..form(ToolFormat::Hermes, tags)
    };
    assert_eq!(
        show(&read(&unasked, ["<think>a</think>\nb"])),
        "thinks \"a\"\nsays \"b\""
    );
    let channel = thinking_form("", ToolFormat::Harmony, WithTools::Yes);
    let answer = "Well.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>";
    assert_eq!(
        show(&read(&form(ToolFormat::Harmony, channel), [answer])),
        "thinks \"Well.\"\nsays \"Yes.\""
    );
}

/// Returns a matcher of the grammar over a vocabulary of single bytes.
fn matcher(format: ToolFormat, tools: &Tools) -> Matcher {
    let vocabulary = ApproximateTokEnv::single_byte_env();
    let capabilities = InferenceCapabilities {
        ff_tokens: true,
        ..InferenceCapabilities::default()
    };
    let slices = llguidance::earley::SlicedBiasComputer::general_slices();
    let mut factory = ParserFactory::new(&vocabulary, capabilities, &slices).unwrap();
    factory.quiet();
    let grammar = format.grammar(tools, &|_| None).unwrap();
    let matcher = Matcher::new(factory.create_parser(TopLevelGrammar::from_lark(grammar.clone())));
    assert_eq!(matcher.get_error(), None, "{format:?}: {grammar}");
    matcher
}

/// Returns how much of an answer the grammar allows, and whether it may end there.
fn allowed<'a>(format: ToolFormat, tools: &Tools, answer: &'a str) -> (&'a str, bool) {
    let mut matcher = matcher(format, tools);
    for (at, byte) in answer.bytes().enumerate() {
        if matcher.is_stopped() || !matcher.compute_mask().unwrap().is_allowed(u32::from(byte)) {
            return (answer.get(..at).unwrap_or("within a character"), false);
        }
        matcher.consume_token(u32::from(byte)).unwrap();
    }
    (answer, matcher.is_stopped() || matcher.is_accepting().unwrap())
}

/// Returns an answer that keeps to the grammar, chosen byte by byte, and how many bytes of it were forced; none where it takes long.
fn walk(format: ToolFormat, tools: &Tools, mut choose: impl FnMut(&[u8]) -> u8) -> Option<(String, usize)> {
    let mut matcher = matcher(format, tools);
    let mut bytes: Vec<u8> = Vec::new();
    let mut forced = 0;
    while bytes.len() < 1000 {
        let fast = matcher.consume_ff_tokens();
        forced += fast.len();
        bytes.extend(fast.iter().map(|token| *token as u8));
        if matcher.is_stopped() || (bytes.len() > 400 && matcher.is_accepting().unwrap()) {
            return String::from_utf8(bytes).ok().map(|text| (text, forced));
        }
        let mask = matcher.compute_mask().unwrap();
        let allowed: Vec<u8> = (0..=255).filter(|byte| mask.is_allowed(u32::from(*byte))).collect();
        if allowed.is_empty() {
            assert!(
                matcher.is_accepting().unwrap(),
                "stuck behind {:?}",
                String::from_utf8_lossy(&bytes)
            );
            return String::from_utf8(bytes).ok().map(|text| (text, forced));
        }
        let next = choose(&allowed);
        matcher.consume_token(u32::from(next)).unwrap();
        bytes.push(next);
    }
    None
}

/// Returns a choice among the bytes that are allowed: letters now and then, ends of what is open rather soon.
fn chosen(allowed: &[u8], number: u64) -> u8 {
    let closing = b"\"}]<\n|`,:{0123456789";
    let ascii: Vec<u8> = allowed
        .iter()
        .copied()
        .filter(|byte| byte.is_ascii() && *byte >= b'\n')
        .collect();
    let ascii = if ascii.is_empty() { allowed.to_vec() } else { ascii };
    let preferred: Vec<u8> = ascii.iter().copied().filter(|byte| closing.contains(byte)).collect();
    let from = if preferred.is_empty() || number.is_multiple_of(4) {
        &ascii
    } else {
        &preferred
    };
    from[(number / 4) as usize % from.len()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_constrained_call_can_always_be_read(seed in any::<u64>(), format in 0..FORMATS.len(), free in any::<bool>()) {
        let format = FORMATS[format];
        let choice = if free { ToolChoice::Free } else { ToolChoice::Required };
        let given = Tools { choice, ..tools() };
        let mut state = seed;
        let walked = walk(format, &given, |allowed| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            chosen(allowed, state >> 33)
        });
        if let Some((answer, _)) = walked {
            let pieces = read(&form(format, None), [answer.as_str()]);
            let calls = pieces.iter().filter(|piece| matches!(piece, AnswerPiece::Call(_))).count();
            let unreadable = pieces.iter().any(|piece| matches!(piece, AnswerPiece::Unreadable(_)));
            prop_assert!((free || calls > 0) && !unreadable, "{:?} {:?}: {}", format, answer, show(&pieces));
            for piece in &pieces {
                if let AnswerPiece::Call(call) = piece {
                    let declared = given.declared.iter().find(|tool| tool.name == call.name);
                    let required = declared.and_then(|tool| tool.parameters["required"].as_array()).cloned().unwrap_or_default();
                    prop_assert!(declared.is_some());
                    prop_assert!(required.iter().all(|key| call.arguments.contains_key(key.as_str().unwrap())), "{}", show(&pieces));
                }
            }
        }
    }

    #[test]
    fn pieces_do_not_matter(which in 0..WRITTEN.len(), cuts in prop::collection::vec(0..400_usize, 0..12), end in 0..400_usize, thinks in any::<bool>()) {
        let (format, answer) = WRITTEN[which];
        let mut end = end.min(answer.len());
        while !answer.is_char_boundary(end) {
            end -= 1;
        }
        let thinking = thinking_form("<think>", format, WithTools::Yes).filter(|_| thinks);
        let answer = match thinking {
            Some(form) => format!("So.{}{}", form.cut_short(), &answer[..end]),
            None => answer[..end].to_owned(),
        };
        let mut at: Vec<usize> = cuts.into_iter().filter(|cut| *cut < answer.len() && answer.is_char_boundary(*cut)).collect();
        at.push(answer.len());
        at.sort_unstable();
        let mut from = 0;
        let pieces: Vec<&str> = at.into_iter().map(|to| &answer[std::mem::replace(&mut from, to)..to]).collect();
        let form = form(format, thinking);
        prop_assert_eq!(show(&read(&form, pieces)), show(&read(&form, [answer.as_str()])));
    }

    #[test]
    fn nothing_a_model_writes_is_too_much(format in 0..FORMATS.len(), parts in prop::collection::vec(0..20_usize, 0..30)) {
        const PARTS: [&str; 20] = [
            "<tool_call>", "</tool_call>", "[TOOL_CALLS]", "[ARGS]", "<|channel|>", "<|message|>", "<|end|>", "<|tool_call>", "<tool_call|>", "{", "}",
            "\"name\": ", "\"stop\"", "<function=stop>", "</function>", "call:", "<|\"|>", "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "é",
        ];
        let answer: String = parts.into_iter().map(|part| PARTS[part]).collect();
        let all: Vec<String> = answer.chars().map(String::from).collect();
        let form = form(FORMATS[format], None);
        prop_assert_eq!(show(&read(&form, all.iter().map(String::as_str))), show(&read(&form, [answer.as_str()])));
    }
}

#[test]
fn every_family_may_say_something_before_a_call_or_instead() {
    for format in FORMATS {
        let said = if format == ToolFormat::Harmony {
            "<|channel|>final<|message|>No."
        } else {
            "No."
        };
        assert_eq!(allowed(format, &tools(), said), (said, true), "{format:?}");
        let required = Tools {
            choice: ToolChoice::Required,
            ..tools()
        };
        assert!(!allowed(format, &required, said).1, "{format:?}");
        // A model of Llama's calls at once or not at all.
        let called = match WRITTEN.iter().find(|(one, _)| *one == format) {
            Some((ToolFormat::Llama, _)) | None => {
                r#"{"name": "read_file", "parameters": {"path": "a.py", "first": 3}}"#
            }
            Some((_, written)) => written.trim_end_matches("<|call|>"),
        };
        assert_eq!(allowed(format, &tools(), called), (called, true), "{format:?}");
    }
}

#[test]
fn a_call_of_no_declared_tool_is_not_allowed() {
    for (format, written) in WRITTEN {
        let other = written.replace("read_file", "reads");
        let format = if format == ToolFormat::Llama {
            ToolFormat::Hermes
        } else {
            format
        };
        let (before, whole) = allowed(format, &tools(), &other);
        assert!(
            !whole || !before.contains("reads") || format == ToolFormat::Hermes,
            "{format:?}: {before}"
        );
    }
}

#[test]
fn what_can_only_follow_is_forced() {
    let one = Tools {
        declared: tools().declared[2..].to_vec(),
        choice: ToolChoice::Required,
    };
    let (answer, forced) = walk(ToolFormat::Hermes, &one, |allowed| allowed[0]).unwrap();
    let call = "<tool_call>\n{\"name\": \"stop\", \"arguments\": {}}\n</tool_call>";
    assert!(
        answer.starts_with(call) && forced >= call.len(),
        "{forced} of {answer:?}"
    );
}

#[test]
fn declarations_that_cannot_be_followed_are_refused() {
    let with = |name: &str, parameters| Tools {
        declared: vec![ToolDeclaration {
            name: name.to_owned(),
            description: String::new(),
            parameters,
        }],
        choice: ToolChoice::Free,
    };
    let object = json!({ "type": "object" });
    let refused = |tools: &Tools| ToolFormat::Hermes.grammar(tools, &|_| None).unwrap_err().to_string();
    assert_eq!(refused(&Tools::default()), "no tool is declared");
    assert_eq!(
        refused(&with("a b", object)),
        "a tool cannot be called 'a b': names have letters, digits, _ and -"
    );
    assert_eq!(
        refused(&with("a", json!({ "type": "string" }))),
        "the tool a needs a schema of an object for its arguments"
    );
}
