//! Whether the host works: every part is asked, now.

use crate::host::Host;

/// How a part is, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It works.
    Healthy,
    /// It works in part.
    Degraded,
    /// It does not work.
    Unhealthy,
}

impl State {
    /// As in the answer.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Healthy => "healthy",
            State::Degraded => "degraded",
            State::Unhealthy => "unhealthy",
        }
    }
}

/// How each part is.
#[derive(Debug, Clone, Copy)]
pub struct Checks {
    /// The database answers, and takes writes.
    pub database: State,
    /// Sprites can be read.
    pub sprite_registry: State,
    /// Councils can be read.
    pub council_registry: State,
    /// The loaded set of plugins works.
    pub plugins: State,
    /// Traces reach their collector, when one is configured; degraded when they do not, because everything else goes on.
    pub telemetry: State,
}

/// How the host is.
#[derive(Debug, Clone)]
pub struct Health {
    /// The worst of the checks.
    pub status: State,
    /// Seconds since start.
    pub uptime_seconds: i64,
    /// Each part.
    pub checks: Checks,
    /// Now, RFC 3339.
    pub timestamp: String,
    /// The hash of the load plan, once plugins are loaded.
    pub load_plan_hash: Option<String>,
    /// Why parts are not healthy, as far as that is known.
    pub reasons: Vec<String>,
}

impl Host {
    /// Asks every part.
    pub async fn health(&self) -> Health {
        let answers = |probe: Result<(), mizzen_store::StoreError>| match probe {
            Ok(()) => State::Healthy,
            Err(mizzen_store::StoreError::Full { .. }) => State::Degraded,
            Err(error) => {
                tracing::error!(%error, "a health check failed");
                State::Unhealthy
            }
        };
        let database = answers(self.store.probe().await);
        let sprites = answers(self.store.probe_sprites().await);
        let councils = answers(self.store.probe_councils().await);
        let installed = self.registry.installed();
        let plugins = if installed.problems.is_empty() {
            State::Healthy
        } else {
            State::Degraded
        };
        let telemetry = self.traces.health().await;
        let checks = Checks {
            database,
            sprite_registry: sprites,
            council_registry: councils,
            plugins,
            telemetry,
        };
        let worst = [database, sprites, councils, plugins, telemetry]
            .into_iter()
            .max();
        let status = worst.unwrap_or(State::Unhealthy);
        Health {
            status,
            uptime_seconds: self.uptime_seconds(),
            checks,
            timestamp: self.timestamp().to_string(),
            load_plan_hash: installed.load_plan_hash.clone(),
            reasons: installed.problems.clone(),
        }
    }
}
