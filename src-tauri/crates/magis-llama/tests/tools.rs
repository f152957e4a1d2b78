//! Answers with tools and with thinking: calls can always be read, thinking keeps to its budget.
#![expect(clippy::unwrap_used, reason = "a test fails where something is missing")]

#[allow(dead_code, reason = "it also serves other tests")]
mod families;

use families::{Family, user};
use magis_llm::{
    ChatReply, ChatRequest, Constraint, FinishReason, Message, Sampling, Thinking, ToolChoice, ToolDeclaration, Tools,
};
use magis_testkit::TinyModel;
use magis_testkit::gguf::Value;
use serde_json::json;

// Their weights are random: what they write is noise, as far as it is free.
const THINKING: &str = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}\
                        <|im_start|>assistant\n{{ '<think>\n\n</think>\n\n' if not enable_thinking }}";

fn tools(choice: ToolChoice) -> Tools {
    let look = ToolDeclaration {
        name: "look".to_owned(),
        description: "Looks.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": { "side": { "enum": ["left", "right"] }, "steps": { "type": "integer", "minimum": 0, "maximum": 99 } },
            "required": ["side", "steps"],
        }),
    };
    Tools {
        declared: vec![look],
        choice,
    }
}

fn drawn(seed: u64, request: ChatRequest) -> ChatRequest {
    ChatRequest {
        sampling: Sampling::Temperature { temperature: 1.0, seed },
        ..request
    }
}

fn family(template: &str) -> Family {
    Family::of(
        &TinyModel::Qwen2
            .gguf()
            .with("tokenizer.chat_template", Value::Text(template.to_owned())),
    )
}

fn say(family: &Family, request: &ChatRequest) -> (ChatReply, String) {
    let mut shown = String::new();
    let reply = family
        .large_engine()
        .chat(request, &mut |text| shown.push_str(text))
        .unwrap();
    (reply, shown)
}

#[test]
fn a_required_call_can_always_be_read() {
    let family = Family::new(TinyModel::Qwen2);
    let mut engine = family.large_engine();
    for seed in 0..20 {
        let request = ChatRequest {
            tools: tools(ToolChoice::Required),
            ..ChatRequest::new(user("Where?"), 200)
        };
        let reply = engine.chat(&drawn(seed, request), &mut |_| ()).unwrap();
        // A random model may go on calling until its tokens are spent, in the midst of a call.
        let is_cut = reply.finish == FinishReason::Length;
        assert!(is_cut || reply.unreadable_calls.is_empty(), "{reply:?}");
        assert!(!reply.tool_calls.is_empty(), "{reply:?}");
        for call in &reply.tool_calls {
            assert_eq!(call.name, "look");
            assert!(
                ["left", "right"].contains(&call.arguments["side"].as_str().unwrap()),
                "{call:?}"
            );
            assert!(call.arguments["steps"].as_u64().unwrap() < 100, "{call:?}");
        }
    }
}

#[test]
fn a_call_goes_back_into_the_conversation() {
    let family = Family::new(TinyModel::Qwen2);
    let mut engine = family.large_engine();
    let mut request = ChatRequest {
        tools: tools(ToolChoice::Required),
        ..ChatRequest::new(user("Where?"), 200)
    };
    let reply = engine.chat(&request, &mut |_| ()).unwrap();
    request.messages.push(Message::of_reply(&reply));
    request
        .messages
        .extend(reply.tool_calls.iter().map(|call| Message::result(call, "a wall")));
    let again = engine.chat(&request, &mut |_| ()).unwrap();
    assert_eq!(again.tool_calls[0].id, format!("call{:05}", reply.tool_calls.len()));
}

#[test]
fn thinking_ends_when_its_budget_is_spent() {
    let family = family(THINKING);
    for seed in 0..5 {
        let request = ChatRequest {
            thinking: Thinking::On { budget: 20 },
            constraint: Constraint::OneOf(vec!["yes".to_owned(), "no".to_owned()]),
            ..ChatRequest::new(user("Is it so?"), 30)
        };
        let (reply, shown) = say(&family, &drawn(seed, request));
        assert!(["yes", "no"].contains(&reply.text.as_str()), "{reply:?}");
        assert_eq!(shown, reply.text, "what is thought is not shown as text");
        // A token is a byte here, and some are no characters.
        assert!(reply.thinking.len() <= 3 * 20, "{reply:?}");
        assert_eq!(reply.finish, FinishReason::Complete);
        let end = "\n</think>\n\n".len() as u32;
        assert!(reply.usage.generated_tokens <= 20 + end + 3, "{reply:?}");
    }
}

#[test]
fn nothing_is_thought_where_it_is_off_or_the_model_does_not() {
    let asked = |thinking| ChatRequest {
        thinking,
        ..ChatRequest::new(user("Is it so?"), 12)
    };
    assert_eq!(say(&family(THINKING), &asked(Thinking::Off)).0.thinking, "");
    let plain = Family::new(TinyModel::Qwen2);
    let on = say(&plain, &asked(Thinking::On { budget: 9 })).0;
    let off = say(&plain, &asked(Thinking::Off)).0;
    assert_eq!((on.thinking.as_str(), on.text.trim()), ("", off.text.trim()));
}

#[test]
fn tools_go_with_no_other_constraint() {
    let request = ChatRequest {
        tools: tools(ToolChoice::Free),
        constraint: Constraint::OneOf(vec!["yes".to_owned()]),
        ..ChatRequest::new(user("Where?"), 9)
    };
    let refused = Family::new(TinyModel::Qwen2)
        .large_engine()
        .chat(&request, &mut |_| ())
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the request cannot be answered: a request with tools has neither a constraint nor the begin of an answer"
    );
}
