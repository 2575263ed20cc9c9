//! A host inside of this process: the same operations as behind HTTP, without HTTP.

use crate::echo::settings;
use crate::harness::Bench;
use crate::site::{Site, council, sprite};
use anyhow::{Context, Result};
use mizzen_catalog::change::Installation;
use mizzen_catalog::key::SecretKey;
use mizzen_engine::Profile;
use mizzen_json::Json;
use mizzen_ops::toolbox::Toolbox;
use mizzen_ops::{Caller, Executed, Host, HostKey, PluginSet, Wait};
use mizzen_sandbox::Sandbox;
use mizzen_store_sqlite::{Options, SqliteStore};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// The host, and the sandbox that its guests run in.
#[derive(Clone)]
pub(crate) struct Local {
    pub(crate) host: Arc<Host>,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) toolbox: Arc<Toolbox>,
}

/// Sections of `mizzen.toml` that the catalog does not read; the sites of the benchmarks have none.
const OTHER_SECTIONS: &[&str] = &[];

impl Local {
    /// As `mizzen serve` puts a host together, on the site's configuration and this data folder.
    pub(crate) async fn open(bench: &Bench, site: &Site, data: &Path) -> Result<Self> {
        let store = SqliteStore::open(data, &Options::default())?.store();
        let host = Arc::new(Host::new(store.clone()));
        let installation = Installation {
            config: site.config(),
            other_sections: OTHER_SECTIONS,
            dev_key: Arc::new(|| None),
        };
        let sandbox = Arc::new(Sandbox::start(settings(bench))?);
        let set = PluginSet::new(Some(installation), Arc::clone(&sandbox), store, Profile::Open);
        set.reload(&host.registry).await?;
        let toolbox = Arc::clone(set.toolbox());
        host.equip(Arc::clone(&toolbox));
        host.set_plugins(Arc::new(set));
        host.sign_with(HostKey::new(SecretKey::from_seed(
            b"a host key for the benchmarks ..",
        )));
        Ok(Self {
            host,
            sandbox,
            toolbox,
        })
    }

    /// Registers a sprite for a tool and a council with a chain; gives the council as it is stored.
    pub(crate) async fn furnish(&self, domain: &str, tool: &str, steps: usize) -> Result<Value> {
        self.furnish_changed(domain, tool, steps, |_| ()).await
    }

    /// The same, with a council that was changed before.
    pub(crate) async fn furnish_changed(
        &self,
        domain: &str,
        tool: &str,
        steps: usize,
        change: impl FnOnce(&mut Value),
    ) -> Result<Value> {
        let caller = Caller::local("req-bench");
        let made = sprite(&format!("SPRITE-{domain}").to_uppercase(), tool);
        let made = self.host.create_sprite(&caller, &json(&made)?, None).await?;
        let mut council = council(domain, &made.id.to_string(), steps);
        change(&mut council);
        let made = self.host.create_council(&caller, &json(&council)?, None).await?;
        serde_json::from_str(&made.json).context("the council cannot be read")
    }

    pub(crate) async fn execute(&self, request: &Json, wait: Wait) -> Result<Executed> {
        let caller = Caller::local("req-bench");
        Ok(self.host.execute_chain(&caller, request, None, wait).await?)
    }

    /// Folds the log into the file, so that its size is what was kept.
    pub(crate) async fn close(&self) {
        self.host.store.close().await;
    }
}

/// From the one form of JSON to the other.
pub(crate) fn json(value: &Value) -> Result<Json> {
    let limits = mizzen_json::ReadLimits::default();
    let text = value.to_string();
    let tape = mizzen_json::parse(&text, limits);
    let tape = tape.map_err(|error| anyhow::anyhow!("{error}"))?;
    Ok(tape.root().to_json())
}
