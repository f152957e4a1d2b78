//! What is asked of each kind of server, and what is made of its answers.

mod support;

use magis_llm::{ChatRequest, Constraint, FinishReason, GenerateRequest, LanguageModel as _, LlmError, Score};
use magis_remote::{Counting, EngineKey, EngineOptions, RemoteModel, Scoring};
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::Duration;
use support::{Asked, Reply, Server, chat, llama, plain, said, scores, user, vllm};

/// Returns a server that answers conversations so, and else like one of its kind.
fn server(kind: fn(&Asked) -> Reply, pieces: &'static [&'static str]) -> Server {
    Server::start(move |asked, _| match asked.path.as_str() {
        "/v1/chat/completions" => said(pieces),
        _ => kind(asked),
    })
}

fn vllm_now(asked: &Asked) -> Reply {
    vllm(asked, "0.13.0")
}

fn vllm_before(asked: &Asked) -> Reply {
    vllm(asked, "0.9.2")
}

/// Returns the only body that was sent to chat.
fn body(server: &Server) -> Value {
    let [asked] = server
        .asked("/v1/chat/completions")
        .try_into()
        .expect("it was asked once");
    asked.body
}

async fn refused(options: EngineOptions) -> String {
    let error = RemoteModel::connect(options).await.err().expect("it is refused");
    match &error {
        LlmError::Engine { host, .. } => error.to_string().replace(host.as_str(), "HOST"),
        _ => error.to_string(),
    }
}

#[tokio::test]
async fn an_answer_comes_as_it_is_written_and_its_cost_is_known() {
    let server = server(llama, &["Good", " mor", "ning", " END of it"]);
    let model = server.model().await;
    assert_eq!((model.card().name.as_str(), model.card().context), ("small.gguf", 2048));
    let mut shown = Vec::new();
    let request = ChatRequest {
        stop: vec![" END".to_owned()],
        ..chat("hello")
    };
    let reply = model
        .chat(&request, &mut |text| shown.push(text.to_owned()))
        .await
        .unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.finish),
        ("Good morning", FinishReason::Complete)
    );
    assert_eq!(shown.concat(), "Good morning");
    assert!(shown.len() > 1, "it is shown while it comes: {shown:?}");
    insta::assert_json_snapshot!(body(&server), @r#"
    {
      "model": "/models/small.gguf",
      "stream": true,
      "stream_options": {
        "include_usage": true
      },
      "max_tokens": 16,
      "messages": [
        {
          "role": "user",
          "content": "hello"
        }
      ],
      "stop": [
        " END"
      ],
      "temperature": 0.0,
      "seed": 0,
      "top_k": 0,
      "min_p": 0.0,
      "chat_template_kwargs": {
        "enable_thinking": false
      }
    }
    "#);
}

#[tokio::test]
async fn what_an_answer_cost_is_what_the_server_says() {
    let reply = server(llama, &["a", "b"])
        .model()
        .await
        .chat(&chat("hello"), &mut |_| ())
        .await
        .unwrap();
    let usage = reply.usage;
    assert_eq!(
        (usage.prompt_tokens, usage.reused_tokens, usage.generated_tokens),
        (6, 4, 2)
    );
}

#[tokio::test]
async fn a_begun_answer_goes_on_where_the_server_can() {
    let server = server(vllm_now, &["7-9"]);
    let request = ChatRequest {
        answer_prefix: "Lines ".to_owned(),
        constraint: Constraint::LineRanges {
            first: 7,
            last: 12,
            most: 1,
        },
        ..chat("which?")
    };
    let reply = server.model().await.chat(&request, &mut |_| ()).await.unwrap();
    assert_eq!(reply.text, "7-9");
    let body = body(&server);
    assert_eq!(body["messages"][1], json!({"role": "assistant", "content": "Lines "}));
    assert_eq!(
        (&body["continue_final_message"], &body["add_generation_prompt"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(
        body["structured_outputs"]["regex"],
        "([7-9]|1[0-2])-([7-9]|1[0-2])(, ([7-9]|1[0-2])-([7-9]|1[0-2])){0,0}"
    );
}

#[tokio::test]
async fn an_earlier_vllm_is_told_of_choices_in_its_own_way() {
    let server = server(vllm_before, &["no"]);
    let request = ChatRequest {
        constraint: Constraint::OneOf(vec!["yes".to_owned(), "no".to_owned()]),
        ..chat("well?")
    };
    server.model().await.chat(&request, &mut |_| ()).await.unwrap();
    assert_eq!(body(&server)["guided_choice"], json!(["yes", "no"]));
}

#[tokio::test]
async fn other_servers_are_asked_in_words_and_in_json() {
    let server = server(plain, &["{\"answer\": ", "\"no\"}"]);
    let request = ChatRequest {
        answer_prefix: "I say ".to_owned(),
        constraint: Constraint::OneOf(vec!["yes".to_owned(), "no".to_owned()]),
        ..chat("well?")
    };
    let model = server.model().await;
    let reply = model.chat(&request, &mut |_| ()).await.unwrap();
    assert_eq!(reply.text, "no");
    insta::assert_snapshot!(body(&server)["messages"][0]["content"].as_str().unwrap(), @r#"
    well?

    Answer with JSON of the form {"answer": "…"}, where the text is exactly one of these:
    - yes
    - no

    It is what comes behind this begin of an answer:
    I say 
    "#);
    insta::assert_snapshot!(model.abilities().remarks().join("\n"), @"
    it offers no log-probabilities, so files are compared by the order in which the model names them
    it does not count tokens, so prompts are measured by an estimate that is rather too high
    it does not enforce the form of every answer, so wrong ones are asked for again
    it does not go on with an answer that was begun, so the model is asked to begin so
    ");
}

#[tokio::test]
async fn a_begin_that_another_server_repeats_is_cut_off() {
    let server = server(plain, &["Sum", "mary: it", " works"]);
    let request = ChatRequest {
        answer_prefix: "Summary: ".to_owned(),
        ..chat("sum up")
    };
    let mut shown = String::new();
    let reply = server
        .model()
        .await
        .chat(&request, &mut |text| shown.push_str(text))
        .await
        .unwrap();
    assert_eq!((reply.text.as_str(), shown.as_str()), ("it works", "it works"));
}

#[tokio::test]
async fn texts_are_scored_by_the_log_probabilities_of_their_own_tokens() {
    for (kind, scoring) in [(llama as fn(&Asked) -> Reply, "llama-server"), (vllm_now, "vLLM")] {
        let server = server(kind, &[]);
        let model = server.model().await;
        assert_eq!(model.abilities().scoring, Scoring::Exact, "{scoring}");
        let mut request = scores("which?", &["a", "a\nb"]);
        request.by_line = true;
        let reply = model.score(&request).await.unwrap();
        // A token is a character, and its log-probability a hundredth of its code: a 97, b 98, the end of a line 10.
        let expected = [(-0.97, 1), (-2.05, 3)];
        for (Score { logprob, tokens }, (sum, count)) in reply.scores.iter().zip(expected) {
            assert!((logprob - sum).abs() < 1e-9 && *tokens == count, "{scoring}: {reply:?}");
        }
        let lines = format!("{:.2?}", reply.lines);
        assert_eq!(lines, "[[-0.97], [-1.07, -0.98]]", "{scoring}");
    }
}

#[tokio::test]
async fn without_log_probabilities_texts_are_ranked_by_choosing() {
    let server = Server::start(|asked, before| match asked.path.as_str() {
        "/v1/chat/completions" => said(&[["{\"answer\": \"3\"}", "1"][before.min(1)]]),
        _ => plain(asked),
    });
    let model = server.model().await;
    assert_eq!(model.abilities().scoring, Scoring::Ranked);
    let reply = model.score(&scores("which?", &["a", "b", "c"])).await.unwrap();
    let order: Vec<f64> = reply.scores.iter().map(|score| score.logprob).collect();
    assert_eq!(order, [-2.0, -4.0, 0.0]);
    assert_eq!(reply.usage.prompt_tokens, 12);
}

#[tokio::test]
async fn tokens_are_counted_by_the_server_or_estimated() {
    let counting = server(llama, &[]);
    let exact = counting.model().await;
    assert_eq!(exact.abilities().counting, Counting::Exact);
    assert_eq!(
        exact.count_tokens(&["abc".to_owned(), String::new()]).await,
        Ok(vec![3, 0])
    );
    assert_eq!(exact.count_prompt(&user("abc"), "xy").await, Ok(7));
    let other = server(plain, &[]);
    let estimated = other.model().await;
    assert_eq!(estimated.abilities().counting, Counting::Estimated);
    assert!(estimated.count_tokens(&["fn main() {}".to_owned()]).await.unwrap()[0] >= 6);
    assert_eq!(
        estimated.card().context,
        4096,
        "the server says none, so the person does"
    );
}

#[tokio::test]
async fn calls_are_made_side_by_side_up_to_the_slots_of_the_server() {
    let server = Server::start(|asked, _| match asked.path.as_str() {
        "/v1/chat/completions" => {
            sleep(Duration::from_millis(100));
            let text = asked.body["messages"][0]["content"].as_str().unwrap();
            said(&[text])
        }
        _ => llama(asked),
    });
    let model = server.model().await;
    let requests: Vec<GenerateRequest> = ["a", "b", "c", "d", "e"]
        .map(|text| GenerateRequest::Chat(chat(text)))
        .into();
    let mut shown = String::new();
    let replies = model
        .generate_all(&requests, &mut |text| shown.push_str(text))
        .await
        .unwrap();
    let texts: Vec<&str> = replies.iter().map(|reply| reply.text.as_str()).collect();
    assert_eq!(texts, ["a", "b", "c", "d", "e"]);
    assert_eq!(shown, "a", "the first alone is shown");
    assert_eq!(server.most_at_work(), 2, "the server has two slots");
}

#[tokio::test]
async fn a_model_is_the_one_that_is_named_or_the_only_one() {
    let several = Server::start(|_, _| {
        Reply::Json(
            200,
            json!({"data": [{"id": "a", "owned_by": "library"}, {"id": "b", "owned_by": "library"}]}),
        )
    });
    let named = |model: Option<&str>, context| EngineOptions {
        model: model.map(str::to_owned),
        context,
        ..several.options()
    };
    assert_eq!(several.options().models().await.unwrap().len(), 2);
    let model = RemoteModel::connect(named(Some("b"), Some(9000))).await.unwrap();
    assert_eq!((model.card().name.as_str(), model.card().context), ("b", 9000));
    insta::assert_snapshot!(refused(named(None, None)).await, @"the engine at HOST has several models; name one of: a, b");
    insta::assert_snapshot!(refused(named(Some("c"), None)).await, @"the engine at HOST has no model called c; it has: a, b");
    insta::assert_snapshot!(refused(named(Some("a"), None)).await, @"the engine at HOST does not say how many tokens its context holds; give the number");
    let none = Server::start(|_, _| Reply::Json(200, json!({"data": []})));
    insta::assert_snapshot!(refused(none.options()).await, @"the engine at HOST has no model loaded; load one in it first");
}

#[tokio::test]
async fn a_model_is_known_by_where_it_is_and_what_it_is() {
    let one = server(llama, &[]);
    let sha = one.model().await.card().sha256.clone();
    assert_eq!(sha, one.model().await.card().sha256);
    assert_eq!(sha.len(), 64);
    assert_ne!(
        sha,
        server(llama, &[]).model().await.card().sha256,
        "another port is another engine"
    );
}

#[tokio::test]
async fn a_key_goes_into_the_header_and_nowhere_else() {
    let server = server(plain, &["yes"]);
    let options = EngineOptions {
        key: Some(EngineKey::new("secret-7").unwrap()),
        ..server.options()
    };
    assert!(!format!("{options:?}").contains("secret-7"));
    RemoteModel::connect(options).await.unwrap();
    let asked = server.asked("/v1/models");
    assert!(
        asked[0].headers.contains("authorization: Bearer secret-7"),
        "{}",
        asked[0].headers
    );
    server.model().await;
    assert!(!server.asked("/v1/models")[1].headers.contains("authorization"));
}
