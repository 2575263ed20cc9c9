//! Where hooks may lead: the operator's channels, and the hosts that a rule's webhook may reach.
//!
//! A rule's author is not the operator. A `webhook:` URL reaches public addresses only, unless the operator named its host; a
//! `notify:` target goes to the endpoint that the operator configured for the channel, wherever that is.

use crate::outgoing::is_public;
use mizzen_engine::WebUrl;
use mizzen_model::council::{Council, Warning};
use mizzen_model::rule::Hook;
use mizzen_sandbox::HostNamed;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// The operator's settings for hooks.
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    /// Endpoints by the name that `notify:NAME:TARGET` uses.
    pub channels: BTreeMap<String, Channel>,
    /// Hosts, in lower case, that webhooks may reach although their addresses are private. None by default.
    pub private_hosts: BTreeSet<String>,
}

/// An endpoint that the operator configured.
#[derive(Debug, Clone)]
pub struct Channel {
    /// Where messages are posted.
    pub url: WebUrl,
    /// Signs what is posted, when there is one.
    pub secret: Option<ChannelSecret>,
}

/// What a channel and its receiver share. Never printed.
#[derive(Clone)]
pub struct ChannelSecret(Vec<u8>);

impl std::fmt::Debug for ChannelSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChannelSecret")
    }
}

/// A block of SHA-256, in bytes.
const BLOCK: usize = 64;

impl ChannelSecret {
    /// These bytes.
    pub fn new(secret: impl Into<Vec<u8>>) -> Self {
        Self(secret.into())
    }

    /// HMAC-SHA256 (RFC 2104) of a body, as receivers of webhooks expect it: `sha256=` and 64 hexadecimal digits.
    pub(crate) fn sign(&self, body: &[u8]) -> String {
        let mut key = [0_u8; BLOCK];
        let shortened = (self.0.len() > BLOCK).then(|| Sha256::digest(&self.0));
        let secret = shortened
            .as_ref()
            .map_or(self.0.as_slice(), |hash| hash.as_slice());
        for (to, from) in key.iter_mut().zip(secret) {
            *to = *from;
        }
        let pass = |pad: u8, parts: &[u8]| {
            let mut hasher = Sha256::new();
            hasher.update(key.map(|byte| byte ^ pad));
            hasher.update(parts);
            hasher.finalize()
        };
        let inner = pass(0x36, body);
        format!("sha256={}", mizzen_model::hex::encode(&pass(0x5c, &inner)))
    }
}

/// Where a hook's message goes, and under what terms.
pub(crate) struct Endpoint<'a> {
    pub(crate) url: WebUrl,
    pub(crate) secret: Option<&'a ChannelSecret>,
    pub(crate) named: HostNamed,
}

impl Hooks {
    /// The endpoint of a hook, or why there is none.
    pub(crate) fn endpoint(&self, hook: &Hook) -> Result<Endpoint<'_>, String> {
        match hook {
            Hook::Notify { channel, .. } => {
                let found = self.channels.get(channel).ok_or_else(|| unknown(channel))?;
                Ok(Endpoint {
                    url: found.url.clone(),
                    secret: found.secret.as_ref(),
                    named: HostNamed::Exactly,
                })
            }
            Hook::Webhook { url } => {
                let url = WebUrl::parse(url).map_err(|error| error.to_string())?;
                let named = if self.private_hosts.contains(url.target().host()) {
                    HostNamed::Exactly
                } else {
                    HostNamed::ByPattern
                };
                Ok(Endpoint {
                    url,
                    secret: None,
                    named,
                })
            }
        }
    }

    /// Why a webhook will never be delivered whose host is an address. Of a name that is known when it is resolved.
    fn out_of_reach(&self, url: &WebUrl) -> Option<String> {
        let host = url.target().host();
        let address: IpAddr = host.trim_matches(['[', ']']).parse().ok()?;
        (!is_public(address) && !self.private_hosts.contains(host)).then(|| {
            format!(
                "{host} is not a public address, so nothing is delivered there; the operator can add it to private_hosts of [hooks] \
                 in mizzen.toml"
            )
        })
    }

    /// What a council's author should know about its hooks now: a channel that is not there is no mistake of the document, and
    /// may be configured later.
    pub(crate) fn review(&self, council: &Council) -> Vec<Warning> {
        let warn = |(index, hook): (usize, &Hook)| {
            let (code, message) = match hook {
                Hook::Notify { channel, .. } if self.channels.contains_key(channel) => return None,
                Hook::Notify { channel, .. } => ("unknown_channel", unknown(channel)),
                Hook::Webhook { url } => match WebUrl::parse(url) {
                    Err(error) => ("bad_hook", error.to_string()),
                    Ok(url) => ("private_hook", self.out_of_reach(&url)?),
                },
            };
            Some(Warning {
                path: format!("/rules/{index}/hook"),
                code: code.to_owned(),
                message,
            })
        };
        council
            .rules
            .iter()
            .enumerate()
            .filter_map(|(index, rule)| Some((index, rule.hook.as_ref()?)))
            .filter_map(warn)
            .collect()
    }
}

fn unknown(channel: &str) -> String {
    format!(
        "no channel {channel:?} is configured on this host; the operator can add [channels.{channel}] with a url to mizzen.toml"
    )
}

/// What stands at the end of a hook: deliveries to one destination share its places, and none of the others'.
pub(crate) fn destination(hook: &Hook) -> String {
    match hook {
        Hook::Notify { channel, .. } => format!("notify:{channel}"),
        Hook::Webhook { url } => WebUrl::parse(url).map_or_else(
            |_| "webhook:".to_owned(),
            |url| format!("webhook:{}:{}", url.target().host(), url.target().port()),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channels_signature_is_the_hmac_of_rfc_4231() {
        for (key, body, expected) in [
            (
                vec![0x0b; 20],
                b"Hi There".to_vec(),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe".to_vec(),
                b"what do ya want for nothing?".to_vec(),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                vec![0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First".to_vec(),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ] {
            assert_eq!(ChannelSecret::new(key).sign(&body), format!("sha256={expected}"));
        }
        assert_eq!(format!("{:?}", ChannelSecret::new("hunter2")), "ChannelSecret");
    }

    #[test]
    fn a_literal_private_address_is_out_of_reach_unless_the_operator_names_it() {
        let hooks = Hooks {
            private_hosts: ["10.0.0.5".to_owned()].into(),
            ..Hooks::default()
        };
        for (url, is_reached) in [
            ("http://127.0.0.1:9/hook", false),
            ("http://2130706433/", false),
            ("http://[::1]/", false),
            ("http://169.254.169.254/", false),
            ("http://10.0.0.5:8080/", true),
            ("http://1.1.1.1/", true),
            ("http://intranet.example/", true),
        ] {
            let why = hooks.out_of_reach(&WebUrl::parse(url).unwrap());
            assert_eq!(why.is_none(), is_reached, "{url}: {why:?}");
            assert!(why.is_none_or(|why| why.contains("private_hosts of [hooks]")));
        }
    }

    #[test]
    fn spellings_of_one_place_are_one_destination() {
        let of = |text: &str| destination(&Hook::parse(text).unwrap());
        assert_eq!(
            of("webhook:http://127.0.0.1/a"),
            of("webhook:http://2130706433:80/b")
        );
        assert_ne!(of("webhook:http://a.example/"), of("webhook:https://a.example/"));
        assert_ne!(of("notify:slack:#a"), of("notify:pager:#a"));
        assert_eq!(of("notify:slack:#a"), of("notify:slack:#b"));
    }
}
