//! What tests of other crates may rely on in the scripted model.
#![expect(clippy::unwrap_used, reason = "a test fails where something is missing")]

use magis_llm::{
    ChatReply, ChatRequest, Constraint, FinishReason, LanguageModel, LlmError, Message, MessageRole, Sampling,
    ScoreRequest, ScriptedModel, ScriptedReply,
};
use serde_json::json;

fn request(content: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![Message {
            role: MessageRole::User,
            content: content.to_owned(),
        }],
        answer_prefix: String::new(),
        constraint: Constraint::None,
        sampling: Sampling::Greedy,
        max_tokens: 100,
        stop: Vec::new(),
    }
}

/// Returns the reply, after checking that what was streamed is its text.
async fn say(model: &ScriptedModel, request: &ChatRequest) -> Result<ChatReply, LlmError> {
    let mut streamed = String::new();
    let reply = model.chat(request, &mut |text| streamed.push_str(text)).await?;
    assert_eq!(streamed, reply.text);
    Ok(reply)
}

async fn text(model: &ScriptedModel, request: &ChatRequest) -> String {
    say(model, request).await.unwrap().text
}

#[tokio::test]
async fn the_first_rule_that_applies_answers() {
    let model = ScriptedModel::new("test")
        .when("parser", "the parser")
        .when("par", "no parser")
        .when_prefixed("```", "code")
        .when_in_turn("again", ["one", "two"]);
    assert_eq!(text(&model, &request("a parser")).await, "the parser");
    assert_eq!(text(&model, &request("a par")).await, "no parser");
    assert_eq!(
        text(
            &model,
            &ChatRequest {
                answer_prefix: "```".to_owned(),
                ..request("x")
            }
        )
        .await,
        "code"
    );
    for expected in ["one", "two", "two"] {
        assert_eq!(text(&model, &request("again")).await, expected);
    }
    assert_eq!(model.calls(), 6);
    assert_eq!(model.chats()[1].messages[0].content, "a par");
}

#[tokio::test]
async fn without_a_rule_constraints_are_kept() {
    let model = ScriptedModel::new("test");
    let constrained = |constraint| ChatRequest {
        constraint,
        ..request("x")
    };
    let choices = vec!["b".to_owned(), "a".to_owned()];
    assert_eq!(text(&model, &constrained(Constraint::OneOf(choices))).await, "b");
    let lines = Constraint::LineRanges {
        first: 7,
        last: 9,
        most: 2,
    };
    assert_eq!(text(&model, &constrained(lines)).await, "7-7");
    let schema = json!({
        "type": "object",
        "properties": { "kind": { "enum": ["x", "y"] }, "tasks": { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/task" } } },
        "required": ["kind", "tasks"],
        "$defs": { "task": { "type": "object", "properties": { "id": { "type": "integer", "minimum": 1 } }, "required": ["id"] } },
    });
    assert_eq!(
        text(&model, &constrained(Constraint::JsonSchema(schema))).await,
        r#"{"kind":"x","tasks":[{"id":1}]}"#
    );
}

#[tokio::test]
async fn answers_are_cut_at_stop_texts_and_at_the_limit() {
    let model = ScriptedModel::new("test").when("", "one two END three");
    let stopped = ChatRequest {
        stop: vec!["END".to_owned()],
        ..request("x")
    };
    assert_eq!(text(&model, &stopped).await, "one two ");
    let reply = say(
        &model,
        &ChatRequest {
            max_tokens: 1,
            ..request("x")
        },
    )
    .await
    .unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("one ", FinishReason::Length));
}

#[tokio::test]
async fn failures_come_where_the_script_has_them() {
    let model = ScriptedModel::new("test")
        .with_context(20)
        .when("bad", ScriptedReply::Fail(LlmError::Cancelled))
        .fail_at(
            2,
            LlmError::WorkerDied {
                reason: "killed".to_owned(),
            },
        );
    let short = ChatRequest {
        max_tokens: 5,
        ..request("x")
    };
    assert!(say(&model, &short).await.is_ok());
    assert!(matches!(say(&model, &short).await, Err(LlmError::WorkerDied { .. })));
    assert_eq!(
        say(
            &model,
            &ChatRequest {
                max_tokens: 5,
                ..request("bad")
            }
        )
        .await,
        Err(LlmError::Cancelled)
    );
    let over = LlmError::OverContext {
        prompt: 5,
        answer: 100,
        context: 20,
    };
    assert_eq!(say(&model, &request("x")).await, Err(over));
}

#[tokio::test]
async fn scores_repeat_and_follow_preferences() {
    let asked = ScoreRequest {
        messages: request("which").messages,
        answer_prefix: String::new(),
        continuations: ["a.py", "b.py", "c.py"].map(str::to_owned).to_vec(),
    };
    let plain = ScriptedModel::new("test");
    assert_eq!(plain.score(&asked).await, plain.score(&asked).await);
    let preferring = ScriptedModel::new("test").prefer("c.");
    let scores = preferring.score(&asked).await.unwrap().scores;
    assert!(
        scores[2].logprob > scores[0].logprob.max(scores[1].logprob),
        "{scores:?}"
    );
    assert_eq!(preferring.scores(), [asked]);
}
