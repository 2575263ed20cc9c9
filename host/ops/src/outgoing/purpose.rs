//! What requests are sent for. It decides whether a host may be a private one, and what a refusal advises.

use mizzen_sandbox::HostNamed;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

/// Hosts, in lower case, whose names may lead to private addresses.
pub type PrivateHosts = Arc<BTreeSet<String>>;

/// For whom requests are sent.
#[derive(Debug, Clone)]
pub enum Purpose {
    /// For plugins. A private address takes a grant of the address itself; or a grant of the host's full name, and the name in the
    /// operator's list. A grant alone is not enough for a name: whoever answers for it in DNS could lead it to any address, and a
    /// grant of one host is the usual case.
    Plugins(PrivateHosts),
    /// For hooks of rules: the list was looked at when the endpoint was found, and channels are the operator's own.
    Hooks,
    /// For prompts, which nobody keeps behind a fence.
    Prompts,
    /// For what the operator wrote into the configuration.
    Operator,
}

impl Default for Purpose {
    fn default() -> Self {
        Self::Plugins(PrivateHosts::default())
    }
}

impl Purpose {
    /// Whether the addresses of a host may be private.
    pub(super) fn may_be_private(&self, host: &str, named: HostNamed) -> bool {
        match self {
            Self::Plugins(private) => {
                named == HostNamed::Exactly && (is_address(host) || private.contains(host))
            }
            Self::Hooks | Self::Operator => named == HostNamed::Exactly,
            Self::Prompts => false,
        }
    }

    /// What to do about a host that is private and may not be.
    pub(super) fn advice(&self, host: &str) -> String {
        match self {
            Self::Plugins(_) if is_address(host) => {
                format!("the operator can grant the address itself (net:{host})")
            }
            Self::Plugins(_) => format!(
                "the operator can list the host under private_hosts of [plugins] in mizzen.toml, and grant it by its full name (net:{host})"
            ),
            Self::Hooks => {
                "the operator can list the host under private_hosts of [hooks] in mizzen.toml".to_owned()
            }
            Self::Prompts => "prompts are read from public addresses only".to_owned(),
            Self::Operator => "name a host that this machine can reach".to_owned(),
        }
    }
}

fn is_address(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok()
}
