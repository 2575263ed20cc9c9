//! The host's interfaces, natively: what the stand-ins have is what the code gets.

#![allow(missing_docs, clippy::unwrap_used)]

use mizzen_sdk::testing::Host;
use mizzen_sdk::{ToolError, Value, clock, config, http, json, kv, log, random, secrets, tools};

#[test]
fn keys_and_values_are_kept_for_the_run_and_can_be_looked_at() {
    let ((), host) = Host::new().key("a", "1").run(|| {
        assert_eq!(kv::get("a").unwrap().as_deref(), Some(&b"1"[..]));
        kv::set("b", b"2").unwrap();
        kv::set("c", b"3").unwrap();
        assert!(kv::delete("a").unwrap() && !kv::delete("a").unwrap());
        assert_eq!(kv::list_keys("", None, 1).unwrap(), ["b"]);
        assert_eq!(kv::list_keys("", Some("b"), 9).unwrap(), ["c"]);
    });
    assert_eq!((host.stored("b"), host.stored("a")), (Some(&b"2"[..]), None));
    assert_eq!(kv::get("b").unwrap(), None, "nothing is left for the next test");
}

#[test]
fn log_lines_are_recorded_with_their_fields() {
    let ((), host) = Host::new().run(|| log::write(log::Level::Warn, "odd", &[("key", "value")]));
    let line = &host.log_lines()[0];
    assert_eq!((line.level, line.message.as_str()), (log::Level::Warn, "odd"));
    assert_eq!(line.fields, [("key".to_owned(), "value".to_owned())]);
}

#[test]
fn settings_secrets_time_and_randomness_come_from_the_test() {
    let host = Host::new()
        .config(json!({ "unit": "m" }))
        .secret("token", "s3cret")
        .now_ms(1_000);
    let (random_bytes, _) = host.run(|| {
        assert_eq!(config::get::<Value>().unwrap(), json!({ "unit": "m" }));
        assert!(
            matches!(config::get::<Vec<u8>>(), Err(ToolError::Failed { code, .. }) if code == "BAD_CONFIG")
        );
        assert_eq!(secrets::get("token").unwrap(), "s3cret");
        assert!(matches!(secrets::get("other"), Err(ToolError::Denied(_))));
        assert_eq!(clock::now_ms(), 1_000);
        random::bytes(8)
    });
    assert_eq!(
        Host::new().run(|| random::bytes(8)).0,
        random_bytes,
        "a test sees the same bytes every time"
    );
}

#[test]
fn http_and_other_tools_are_answered_by_the_test() {
    let host = Host::new()
        .http(|request| {
            Ok(http::Response {
                status: 200,
                body: request.url.clone().into_bytes(),
                ..Default::default()
            })
        })
        .tool("acme.double", |input| {
            Ok(json!(input["n"].as_u64().unwrap_or(0) * 2))
        });
    host.run(|| {
        for _ in 0..2 {
            assert_eq!(
                http::Request::get("https://a.example/")
                    .header("x", "y")
                    .send()
                    .unwrap()
                    .text(),
                "https://a.example/"
            );
            assert_eq!(
                tools::call::<u64>("acme.double@^1", &json!({ "n": 21 })).unwrap(),
                42
            );
        }
        assert!(matches!(
            tools::call_value("acme.other", &json!({})),
            Err(ToolError::Denied(_))
        ));
    });
    assert!(matches!(
        http::Request::get("https://a.example/").send(),
        Err(ToolError::Denied(_))
    ));
}
