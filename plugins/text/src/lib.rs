//! Pure text tools: count words, compare, extract, fill in templates, change case.
//!
//! Every tool is a function of its input and asks for no permission. One file per tool; to add one: a file with a
//! `#[tool]` function and its examples, and its path in the list below.

#![forbid(unsafe_code)]

mod case;
mod diff;
mod extract;
mod template;
mod word_count;

mizzen_sdk::export_plugin! {
    namespace: "text",
    tools: [word_count::word_count, diff::diff, extract::extract, template::template, case::case],
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
