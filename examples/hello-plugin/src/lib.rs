//! What this plugin does, for the next person who opens it.

use mizzen_sdk::prelude::*;

#[input]
struct Greet {
    /// Who to greet.
    name: String,
}

#[output]
struct Greeting {
    text: String,
}

/// Greets a person by name.
#[tool(
    side_effects = "none",
    example(name = "greets Ada", input = { "name": "Ada" }, output = { "text": "Hello, Ada!" })
)]
fn greet(input: Greet) -> Result<Greeting, ToolError> {
    let name = input.name.trim();
    if name.is_empty() {
        return Err(ToolError::invalid_input("/name", "the name is empty"));
    }
    let text = format!("Hello, {name}!");
    Ok(Greeting { text })
}

mizzen_sdk::export_plugin! { namespace: "hello", tools: [greet] }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declared_examples_hold() {
        mizzen_sdk::testing::check_examples(plugin());
    }

    #[test]
    fn nobody_is_not_greeted() {
        let unnamed = Greet { name: " ".into() };
        assert!(greet(unnamed).is_err());
    }
}
