//! What tests of other crates may rely on in the scripted model.
#![expect(clippy::unwrap_used, reason = "a test fails where something is missing")]

use magis_llm::{
    ChatReply, ChatRequest, Constraint, FillInRequest, FinishReason, GenerateRequest, LanguageModel, LlmError, Message,
    MessageRole, PromptText, Sampling, ScoreRequest, ScriptedModel, ScriptedReply,
};
use serde_json::json;

fn request(content: &str) -> ChatRequest {
    ChatRequest::new(vec![Message::new(MessageRole::User, content)], 100)
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
        by_line: false,
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

fn gap(before: &str) -> FillInRequest {
    FillInRequest {
        before: before.to_owned(),
        after: "\nprint(total)\n".to_owned(),
        sampling: Sampling::Greedy,
        max_tokens: 100,
        stop: vec!["\n\n".to_owned()],
        other_than: None,
    }
}

#[tokio::test]
async fn several_are_answered_in_the_order_asked_and_the_first_is_streamed() {
    let model = ScriptedModel::new("test")
        .when("a parser", "the parser")
        .when_in_turn("again", ["one", "two"])
        .when_before("def total", "    return sum(items)\n\n\ndef other");
    let requests = [
        GenerateRequest::Chat(request("a parser")),
        GenerateRequest::Chat(request("again")),
        GenerateRequest::FillIn(gap("def total(items):\n")),
        GenerateRequest::Chat(request("again")),
    ];
    let mut streamed = String::new();
    let mut sink = |text: &str| streamed.push_str(text);
    let replies = model.generate_all(&requests, &mut sink).await.unwrap();
    let texts: Vec<&str> = replies.iter().map(|reply| reply.text.as_str()).collect();
    assert_eq!(texts, ["the parser", "one", "    return sum(items)", "two"]);
    assert_eq!(streamed, "the parser");
    assert_eq!((model.calls(), model.chats().len(), model.fill_ins().len()), (4, 3, 1));
    assert_eq!(model.generate_all(&[], &mut |_| ()).await, Ok(Vec::new()));
}

#[tokio::test]
async fn texts_are_filled_in_where_the_script_says_that_the_model_can() {
    let asked = [
        GenerateRequest::Chat(request("x")),
        GenerateRequest::FillIn(gap("a = ")),
    ];
    let cannot = ScriptedModel::new("test");
    assert!(!cannot.card().fills_in);
    let refused = cannot.generate_all(&asked, &mut |_| ()).await.unwrap_err();
    assert!(refused.to_string().contains("between two others"), "{refused}");
    assert_eq!(cannot.calls(), 0, "nothing is answered where one cannot be");
    assert_eq!(cannot.count_fill_in("a", "b").await, Err(refused));

    let can = ScriptedModel::new("test").with_fill_in().with_context(110);
    assert!(can.card().fills_in);
    assert_eq!(can.generate_all(&asked, &mut |_| ()).await.unwrap().len(), 2);
    let tokens = can.count_fill_in("12345678", "1234").await.unwrap();
    assert_eq!(tokens, 2 + 1 + 3);
    let long = [GenerateRequest::FillIn(gap(&"long ".repeat(100)))];
    let refused = can.generate_all(&long, &mut |_| ()).await.unwrap_err();
    assert!(
        matches!(refused, LlmError::OverContext { context: 110, .. }),
        "{refused}"
    );
}

#[tokio::test]
async fn the_tokens_of_a_prompt_are_as_many_as_are_counted_and_those_of_its_texts() {
    let model = ScriptedModel::new("test").with_fill_in();
    let messages = request("a question").messages;
    let prompt = PromptText::Chat {
        messages: messages.clone(),
        answer_prefix: "an answer".to_owned(),
    };
    let gap = PromptText::FillIn {
        before: "before".to_owned(),
        after: "after".to_owned(),
    };
    let text = PromptText::Continuation {
        text: "an answer".to_owned(),
    };
    let tokens = model.tokenize(&[prompt, gap, text]).await.unwrap();
    let counted = model.count_prompt(&messages, "an answer").await.unwrap();
    assert_eq!(tokens[0].len(), counted as usize);
    assert_eq!(
        tokens[1].len(),
        model.count_fill_in("before", "after").await.unwrap() as usize
    );
    assert!(tokens[0].ends_with(&tokens[2]));
}
