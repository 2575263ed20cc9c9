//! The scope of `net`: `[METHOD@]HOST[:PORT]`. What is left out means "any"; a host may hold `*`.

use crate::glob::Glob;
use std::fmt;

/// Where outgoing HTTP may go.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NetScope {
    method: Option<Box<str>>,
    host: Glob,
    port: Option<u16>,
}

/// A host and a port that a guest wants to reach; the host in lower case, without a final dot or brackets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostPort {
    host: String,
    port: u16,
}

impl HostPort {
    /// Takes a host as it stands in a URL. Returns none when it cannot be a host, so that it can never match.
    pub fn new(host: &str, port: u16) -> Option<Self> {
        let host = normal_host(host)?;
        (!host.contains('*')).then_some(Self { host, port })
    }

    /// The host, in lower case.
    pub const fn host(&self) -> &str {
        self.host.as_str()
    }

    /// The port.
    pub const fn port(&self) -> u16 {
        self.port
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_host(f, &self.host)?;
        write!(f, ":{}", self.port)
    }
}

fn write_host(f: &mut fmt::Formatter<'_>, host: &str) -> fmt::Result {
    if host.contains(':') {
        write!(f, "[{host}]")
    } else {
        f.write_str(host)
    }
}

/// Lower case, without brackets and without the final dot that DNS allows; none when a character is out of place.
fn normal_host(host: &str) -> Option<String> {
    let bracketed = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if let Some(address) = bracketed {
        // One spelling for each address, so that `[0::1]` and `[::1]` are the same host.
        return address
            .parse::<std::net::Ipv6Addr>()
            .ok()
            .map(|address| address.to_string());
    }
    let host = host.strip_suffix('.').unwrap_or(host);
    let fits = !host.is_empty()
        && host.len() <= 253
        && host
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'*'))
        && !host.starts_with('.')
        && !host.contains("..");
    fits.then(|| host.to_ascii_lowercase())
}

impl NetScope {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        const SHAPE: &str = "write net:HOST, net:HOST:PORT, net:METHOD@HOST or net:METHOD@HOST:PORT";
        let (method, place) = match text.split_once('@') {
            Some((method, place)) => (Some(method), place),
            None => (None, text),
        };
        let method = match method {
            None | Some("*") => None,
            Some(method)
                if !method.is_empty()
                    && method.len() <= 32
                    && method.bytes().all(|b| b.is_ascii_uppercase()) =>
            {
                Some(method.into())
            }
            Some(_) => return Err(format!("a method is written in capitals; {SHAPE}")),
        };
        let split = match place.rfind(']') {
            Some(end) => place
                .get(end + 1..)
                .and_then(|rest| rest.strip_prefix(':'))
                .map(|port| (place.get(..=end), port)),
            None => place.rsplit_once(':').map(|(host, port)| (Some(host), port)),
        };
        let (host, port) = match split {
            Some((host, port)) => (host.unwrap_or(""), Some(port)),
            None => (place, None),
        };
        let port = match port {
            None | Some("*") => None,
            Some(port) => match port.parse::<u16>() {
                // `parse` also takes `+80`; only digits are a port.
                Ok(number) if number > 0 && port.bytes().all(|b| b.is_ascii_digit()) => Some(number),
                _ => {
                    return Err(format!(
                        "a port is 1 to 65535 or *, and a host has no scheme or path; {SHAPE}"
                    ));
                }
            },
        };
        let host = normal_host(host).ok_or_else(|| {
            format!("a host is letters, digits, `-`, `_`, `.` and `*`, or an address in brackets; {SHAPE}")
        })?;
        Ok(Self {
            method,
            host: Glob::new(&host),
            port,
        })
    }

    /// The method, if the scope names one.
    pub fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// The host glob, in lower case.
    pub fn host(&self) -> &str {
        self.host.as_str()
    }

    /// What the hosts begin and end with.
    pub(super) fn ends(&self) -> (&str, &str) {
        self.host.ends()
    }

    /// The port, if the scope names one.
    pub const fn port(&self) -> Option<u16> {
        self.port
    }

    /// Whether the scope names exactly this host, without a glob. Only then may it be loopback, private or link-local.
    pub fn names_host(&self, host: &str) -> bool {
        self.host.is_literal() && self.host.as_str() == host
    }

    pub(super) fn covers(&self, asked: &Self) -> bool {
        covers_or_any(self.method.as_ref(), asked.method.as_ref())
            && covers_or_any(self.port.as_ref(), asked.port.as_ref())
            && self.host.matches(asked.host.as_str())
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        meet(self.method.as_ref(), other.method.as_ref())
            && meet(self.port.as_ref(), other.port.as_ref())
            && self.host.intersects(&other.host)
    }

    pub(super) fn allows(&self, method: &str, target: &HostPort) -> bool {
        // The host before the method: of many scopes of a plugin, it is the host in which they differ.
        self.port.is_none_or(|own| own == target.port)
            && self.host.matches(&target.host)
            && self.method.as_deref().is_none_or(|own| own == method)
    }
}

fn covers_or_any<T: PartialEq>(wide: Option<&T>, narrow: Option<&T>) -> bool {
    wide.is_none() || wide == narrow
}

fn meet<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
    a.is_none() || b.is_none() || a == b
}

impl fmt::Display for NetScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(method) = &self.method {
            write!(f, "{method}@")?;
        }
        write_host(f, self.host.as_str())?;
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Permission, Use};
    use super::*;

    #[test]
    fn a_request_is_checked_by_method_host_and_port() {
        for (permission, method, host, port, allowed) in [
            ("net:api.example.com", "GET", "api.example.com", 443, true),
            ("net:api.example.com", "DELETE", "api.example.com", 22, true),
            ("net:api.example.com", "GET", "API.Example.com.", 443, true),
            ("net:api.example.com", "GET", "example.com", 443, false),
            (
                "net:api.example.com",
                "GET",
                "api.example.com.evil.org",
                443,
                false,
            ),
            ("net:*.example.com", "GET", "a.b.example.com", 443, true),
            ("net:*.example.com", "GET", "example.com", 443, false),
            ("net:*.example.com", "GET", "evilexample.com", 443, false),
            ("net:GET@api.example.com", "GET", "api.example.com", 443, true),
            ("net:GET@api.example.com", "POST", "api.example.com", 443, false),
            ("net:GET@api.example.com", "get", "api.example.com", 443, false),
            ("net:a:8443", "GET", "a", 8443, true),
            ("net:a:8443", "GET", "a", 443, false),
            ("net:*@a:*", "PUT", "a", 9, true),
            ("net:[::1]", "GET", "[::1]", 80, true),
            ("net:[0:0::1]:80", "GET", "[::1]", 80, true),
            ("net:*", "GET", "127.0.0.1", 80, true),
        ] {
            let target = HostPort::new(host, port).unwrap();
            let allowed_now = Permission::parse(permission).unwrap().allows(&Use::Net {
                method,
                target: &target,
            });
            assert_eq!(allowed_now, allowed, "{permission} {method} {host}:{port}");
        }
    }

    #[test]
    fn what_cannot_be_a_host_is_never_a_target() {
        for host in [
            "",
            "*",
            "a*",
            "a b",
            "a/b",
            "a@b",
            "a:80",
            "é.com",
            "..",
            ".a",
            "[::1",
            "[zz]",
            &"a".repeat(254),
        ] {
            assert_eq!(HostPort::new(host, 80), None, "{host}");
        }
    }

    #[test]
    fn only_a_scope_without_a_glob_names_a_host() {
        let names = |permission: &str| {
            Permission::parse(permission)
                .unwrap()
                .net()
                .unwrap()
                .names_host("127.0.0.1")
        };
        assert!(names("net:127.0.0.1"));
        assert!(names("net:GET@127.0.0.1:80"));
        assert!(!names("net:*"));
        assert!(!names("net:127.*"));
    }
}
