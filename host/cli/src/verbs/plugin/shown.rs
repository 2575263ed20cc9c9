//! How a verified plugin is shown, to people and to scripts.

use mizzen_catalog::VerifiedPlugin;
use serde_json::{Value, json};

/// For scripts.
pub(in crate::verbs) fn json(plugin: &VerifiedPlugin) -> Value {
    let manifest = plugin.manifest();
    json!({
        "name": plugin.name(),
        "version": plugin.version(),
        "file": plugin.file(),
        "digest": plugin.digest(),
        "signers": plugin.signers(),
        "trust": plugin.decision().because,
        "namespaces": manifest.namespaces(),
        "provides": manifest.provides(),
        "order": manifest.order(),
        "permissions": plugin.declared().as_ref(),
        "granted": plugin.granted().as_ref(),
        "imports": plugin.imports(),
        "limits": plugin.limits(),
        "warnings": plugin.warnings(),
    })
}

/// For people.
pub(in crate::verbs) fn print(plugin: &VerifiedPlugin) {
    let manifest = plugin.manifest();
    let joined = |items: Vec<String>| {
        if items.is_empty() {
            "none".to_owned()
        } else {
            items.join(", ")
        }
    };
    println!("{}  {}", plugin.id(), plugin.digest());
    println!(
        "  namespaces   {}",
        joined(manifest.namespaces().iter().map(ToString::to_string).collect())
    );
    println!(
        "  provides     {}",
        joined(manifest.provides().iter().map(ToString::to_string).collect())
    );
    println!(
        "  permissions  {}",
        joined(plugin.declared().iter().map(ToString::to_string).collect())
    );
    println!(
        "  granted      {}",
        joined(plugin.granted().iter().map(ToString::to_string).collect())
    );
    println!(
        "  signed by    {}",
        joined(plugin.signers().iter().map(ToString::to_string).collect())
    );
    for warning in plugin.warnings() {
        println!("  warning: {warning}");
    }
}
