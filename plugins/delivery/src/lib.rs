//! From a specification to a release: generate code, review it, try it, deploy it.
//!
//! A specification is a few lines of text (see `spec.rs`); what is generated from it is reviewed by looking at its text, and
//! a deployment is a record in the plugin's own store. Nothing here reaches out. One file per tool; to add one: a file with
//! a `#[tool]` function and its examples, and its path in the list below.

#![forbid(unsafe_code)]

mod deploy;
mod expression;
mod generate_code;
mod language;
mod released;
mod releases;
mod review;
mod review_pull_request;
mod soak_test;
mod spec;

mizzen_sdk::export_plugin! {
    namespace: "delivery",
    tools: [
        generate_code::generate_code,
        review_pull_request::review_pull_request,
        soak_test::soak_test,
        deploy::deploy,
        released::released,
    ],
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_declared_example_holds() {
        mizzen_sdk::testing::check_examples(super::plugin());
    }

    #[test]
    fn every_tool_has_examples_with_outputs() {
        for tool in super::plugin().describe() {
            assert!(
                tool.examples.iter().any(|example| example.output.is_some()),
                "{}",
                tool.name
            );
        }
    }
}
