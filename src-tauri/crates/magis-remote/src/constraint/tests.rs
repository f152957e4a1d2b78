use super::*;

fn ranges() -> Constraint {
    Constraint::LineRanges {
        first: 7,
        last: 123,
        most: 2,
    }
}

#[test]
fn answers_are_checked_whatever_the_server_did() {
    let one_of = Constraint::OneOf(vec!["src/a.rs".to_owned(), " b".to_owned()]);
    let schema = Constraint::JsonSchema(json!({"type": "object", "required": ["x"]}));
    for (constraint, answer, expected) in [
        (&one_of, "src/a.rs", Ok("src/a.rs")),
        (&one_of, "{\"answer\": \"src/a.rs\"}", Ok("src/a.rs")),
        (&one_of, "b\n", Ok(" b")),
        (&one_of, "a.rs", Err("it is none of the texts to choose from")),
        (&ranges(), "7-9, 120-123", Ok("7-9, 120-123")),
        (&ranges(), "```json\n{\"answer\": \"7-9\"}\n```", Ok("7-9")),
        (
            &ranges(),
            "6-9",
            Err("it is no list of at most 2 intervals of lines from 7 to 123"),
        ),
        (
            &ranges(),
            "07-9",
            Err("it is no list of at most 2 intervals of lines from 7 to 123"),
        ),
        (
            &ranges(),
            "7-8, 8-9, 9-10",
            Err("it is no list of at most 2 intervals of lines from 7 to 123"),
        ),
        (
            &ranges(),
            "",
            Err("it is no list of at most 2 intervals of lines from 7 to 123"),
        ),
        (&schema, " {\"x\": 1}", Ok("{\"x\": 1}")),
        (&schema, "{}", Err("the answer lacks \"x\"")),
        (
            &schema,
            "{\"x\":",
            Err("it is no JSON (EOF while parsing a value at line 1 column 5)"),
        ),
    ] {
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(read(constraint, answer), expected, "{answer:?}");
    }
}

#[test]
fn each_kind_of_server_is_told_in_its_own_way() {
    let say = |constraint: &Constraint, kind| Value::Object(told(constraint, kind).fields).to_string();
    let choice = Constraint::OneOf(vec!["yes".to_owned(), "a \"b\"\\\n".to_owned()]);
    let old = ServerKind::Vllm { structured: false };
    let new = ServerKind::Vllm { structured: true };
    insta::assert_snapshot!(say(&choice, ServerKind::LlamaServer), @r#"{"grammar":"root ::= \"yes\" | \"a \\\"b\\\"\\\\\\n\""}"#);
    insta::assert_snapshot!(say(&ranges(), ServerKind::LlamaServer), @r#"{"grammar":"root ::= range (\", \" range){0,1}\nrange ::= number \"-\" number\nnumber ::= [7-9] | [1-9][0-9]{1} | [1][0-1][0-9]{1} | [1][2][0-3]"}"#);
    insta::assert_snapshot!(say(&choice, old), @r#"{"guided_choice":["yes","a \"b\"\\\n"]}"#);
    insta::assert_snapshot!(say(&choice, new), @r#"{"structured_outputs":{"choice":["yes","a \"b\"\\\n"]}}"#);
    insta::assert_snapshot!(say(&choice, ServerKind::Other), @r#"{"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object","properties":{"answer":{"enum":["yes","a \"b\"\\\n"]}},"required":["answer"],"additionalProperties":false},"strict":true}}}"#);
}

#[test]
fn impossible_forms_are_refused_before_they_are_asked_for() {
    for (constraint, expected) in [
        (
            Constraint::OneOf(Vec::new()),
            "a choice among no texts, or with an empty text, is no choice",
        ),
        (
            Constraint::LineRanges {
                first: 2,
                last: 1,
                most: 1,
            },
            "there are no line intervals: lines 2 to 1, at most 1",
        ),
        (
            Constraint::JsonSchema(json!({"pattern": "a"})),
            "the answer's JSON schema cannot be checked: \"pattern\" is not understood here",
        ),
    ] {
        let reason = expected.to_owned();
        assert_eq!(check_possible(&constraint), Err(LlmError::BadRequest { reason }));
    }
}
