//! Tools for JSON documents: query, merge, validate.
//!
//! Every tool is a function of its input and asks for no permission. One file per tool; to add one: a file with a
//! `#[tool]` function and its examples, and its path in the list below.
//!
//! Inputs nest at most 128 deep (the SDK's reader sees to that), so walking a document may recurse.

#![forbid(unsafe_code)]

mod merge;
mod pointer;
mod query;
mod validate;

mizzen_sdk::export_plugin! {
    namespace: "json",
    tools: [query::query, merge::merge, validate::validate],
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
