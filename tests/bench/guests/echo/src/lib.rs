//! The smallest honest tool: a JSON document in, the same document out, parsed and written. Its name ends in a number so that the
//! benchmarks can make many of it.

use mizzen_sdk::prelude::*;

/// Reads the document and writes it again.
#[tool(side_effects = "none")]
fn echo(input: Value) -> Value {
    input
}

mizzen_sdk::export_plugin! { namespace: "bench-echo-0000", tools: [echo] }
