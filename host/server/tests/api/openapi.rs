//! The OpenAPI document that is served is the one that is committed, whose differences people read.

use crate::support::TestHost;
use serde_json::Value;
use std::path::Path;

#[test]
fn the_openapi_document_is_the_golden_one() {
    let served = TestHost::new().call("GET", "/openapi.json").expect(200, "");
    assert_eq!(served["openapi"], "3.1.0");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    if std::env::var_os("MIZZEN_UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, serde_json::to_string_pretty(&served).unwrap() + "\n").unwrap();
        panic!("{golden:?} is written; read its difference, and run the test without MIZZEN_UPDATE_GOLDEN");
    }
    let expected: Value = serde_json::from_str(&std::fs::read_to_string(&golden).unwrap()).unwrap();
    assert!(
        served == expected,
        "the API changed: run with MIZZEN_UPDATE_GOLDEN=1 and read the difference of {golden:?}"
    );
}
