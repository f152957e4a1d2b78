//! Another engine than our own: it is used only when a person chose it, whatever a run says.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod environment;

use environment::{ISSUE, TestEnvironment};
use magis_engine::{EngineError, EngineLimits, OtherEngine, SolveRequest, check_data};
use std::net::TcpListener;

fn engine(address: &str) -> OtherEngine {
    OtherEngine {
        address: address.to_owned(),
        model: None,
        context: None,
        authorities: None,
    }
}

#[test]
fn there_is_none_until_a_person_chooses_one() {
    let environment = TestEnvironment::new();
    let magis = &environment.magis;
    assert_eq!(magis.other_engine().unwrap(), None);
    let public = magis.put_other_engine(Some(&engine("https://8.8.8.8"))).unwrap_err();
    assert!(public.to_string().contains("public address"), "{public}");
    assert_eq!(magis.other_engine().unwrap(), None);
    let chosen = engine("http://127.0.0.1:8080");
    magis.put_other_engine(Some(&chosen)).unwrap();
    assert_eq!(magis.other_engine().unwrap(), Some(chosen.clone()));
    assert_eq!(check_data(magis.data()).unwrap().other_engine, Some(chosen));
    magis.put_other_engine(None).unwrap();
    assert_eq!(magis.other_engine().unwrap(), None);
}

#[tokio::test]
async fn what_a_run_says_of_an_engine_is_connected_to_by_nobody() {
    let environment = TestEnvironment::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let name = format!("small@engine:{host}");
    let elsewhere = environment
        .magis
        .clone()
        .with_other_engine(engine("http://127.0.0.1:1"));
    for magis in [&environment.magis, &elsewhere] {
        let error = magis
            .load(&name, &EngineLimits::default())
            .await
            .err()
            .expect("it is not chosen");
        assert!(matches!(error, EngineError::OtherEngine { .. }), "{error}");
        let wish = SolveRequest {
            model: Some(name.clone()),
            ..environment.wish(ISSUE)
        };
        let error = magis
            .prepare(wish, &EngineLimits::default())
            .expect_err("it is not chosen");
        assert!(matches!(error, EngineError::OtherEngine { .. }), "{error}");
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "nobody may have connected");
}
