//! Prints for ever. The log is bounded, and so is its time.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    loop {
        println!("{}", "ahoy ".repeat(200));
        eprintln!("{}", "ahoy ".repeat(200));
    }
}

mizzen_sdk::export_plugin! { namespace: "hostile.prints-without-end", tools: [attack] }
