//! A host that trusts the tests' key.

use crate::build::key;
use crate::network::Network;
use anyhow::Result;
use mizzen_catalog::grants::{GrantPolicy, Grants};
use mizzen_catalog::load::load_set;
use mizzen_catalog::trust::{Policy, TrustMode, UnixTime};
use mizzen_catalog::{LoadFailure, Sources, Terms};
use mizzen_engine::CallPolicy;
use mizzen_model::namespace::NamespacePattern;
use mizzen_model::permission::Permission;
use mizzen_ops::outgoing::{Outgoing, OutgoingLimits, PrivateHosts, Purpose};
use mizzen_ops::toolbox::{CallError, CallRequest, OpenKv, Outfit, ToolResult, Toolbox};
use mizzen_sandbox::{CallContext, Sandbox, Secret};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// Trusts the tests' key for everything and grants what is declared.
pub fn terms() -> Terms {
    let policy = Policy {
        mode: TrustMode::Dev,
        dev_key: Some(key().id()),
        ..Policy::default()
    };
    Terms::new(policy, GrantPolicy::AsDeclared, UnixTime::now())
}

/// The same, but grants only this, to everybody.
///
/// # Errors
/// When one of them is not a permission.
pub fn terms_granting(permissions: &[String]) -> Result<Terms> {
    let mut grants = Grants::default();
    let granted = permissions
        .iter()
        .map(|text| Permission::parse(text))
        .collect::<Result<_, _>>()?;
    grants.namespace.insert(NamespacePattern::Any, granted);
    Ok(Terms {
        grants: GrantPolicy::Listed(grants),
        ..terms()
    })
}

/// Everything that a plugin could want: two secrets, keys and values, and a network that only records.
pub fn outfit(network: &Arc<Network>, kv: Arc<OpenKv>) -> Outfit {
    outfit_reaching(network, kv, &[])
}

/// The same, with hosts that the operator lists as private ones.
pub fn outfit_reaching(network: &Arc<Network>, kv: Arc<OpenKv>, private_hosts: &[String]) -> Outfit {
    let private_hosts: PrivateHosts = Arc::new(private_hosts.iter().cloned().collect());
    let secret = |name: &str, value: &str| (name.to_owned(), Secret::new(value.to_owned()));
    Outfit {
        secrets: [
            secret("github", "ghp_doubloons"),
            secret("payroll", "pieces-of-eight"),
        ]
        .into(),
        http: Some(Arc::new(
            Outgoing::new(
                Arc::clone(network) as _,
                Arc::clone(network) as _,
                OutgoingLimits::default(),
            )
            .serving(Purpose::Plugins(Arc::clone(&private_hosts))),
        )),
        private_hosts,
        kv,
        ..Outfit::default()
    }
}

/// Loads packages into a toolbox of their own.
///
/// # Errors
/// With what the loader refuses.
pub async fn load(sandbox: &Arc<Sandbox>, files: Vec<PathBuf>) -> Result<Arc<Toolbox>, LoadFailure> {
    load_with(sandbox, files, Outfit::default(), &terms()).await
}

/// The same, with services behind the imports, and on other terms.
///
/// # Errors
/// With what the loader refuses.
pub async fn load_with(
    sandbox: &Arc<Sandbox>,
    files: Vec<PathBuf>,
    outfit: Outfit,
    terms: &Terms,
) -> Result<Arc<Toolbox>, LoadFailure> {
    let plan = load_set(
        &Sources {
            files,
            ..Sources::default()
        },
        terms,
    )?;
    let toolbox = Toolbox::new(Arc::clone(sandbox), outfit);
    toolbox.load(&plan).await?;
    Ok(toolbox)
}

/// Calls a tool with no terms of its own.
///
/// # Errors
/// With what the call came to.
pub async fn call(toolbox: &Toolbox, tool: &str, input: Value) -> Result<ToolResult, CallError> {
    let request = CallRequest {
        tool: tool.to_owned(),
        input,
        context: CallContext::default(),
        policy: CallPolicy::default(),
    };
    toolbox.call(request).await
}
