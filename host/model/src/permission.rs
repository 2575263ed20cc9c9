//! What a plugin may touch: `name` or `name:scope`, split at the first colon.
//!
//! A permission is a *pattern* (a scope may hold `*`); what a guest does at call time is a concrete [`Use`]. The
//! effective authority of a call is the intersection of what the author declared, the operator granted and the tool
//! asked for. It is never computed as a pattern: [`Effective`] keeps the layers and a use must pass each of them.
//!
//! To add a permission: a row in [`KINDS`], a variant of [`Use`], and its line in [`Permission::allows`].

mod index;
mod net;
mod set;

pub use net::{HostPort, NetScope};
pub use set::{Effective, PermissionSet};

use crate::glob::Glob;
use mizzen_json::shorten;
use serde::{Serialize, Serializer};
use std::fmt;

/// The longest permission, in bytes. Bounds the cost of a check.
pub const MAX_PERMISSION: usize = 320;

/// What a permission's scope looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScopeShape {
    /// The permission stands alone.
    None,
    /// `read`, `write` or `*`.
    Access,
    /// A glob over names.
    Glob,
    /// `[METHOD@]HOST[:PORT]`.
    Net,
}

/// Every permission there is, its scope, and what a scope looks like in a message.
const KINDS: &[(&str, PermissionKind, ScopeShape, &str)] = &[
    ("clock", PermissionKind::Clock, ScopeShape::None, "clock"),
    ("config", PermissionKind::Config, ScopeShape::None, "config"),
    (
        "kv",
        PermissionKind::Kv,
        ScopeShape::Access,
        "kv:read, kv:write or kv:*",
    ),
    (
        "llm",
        PermissionKind::Llm,
        ScopeShape::Glob,
        "llm:NAME, such as llm:default",
    ),
    (
        "net",
        PermissionKind::Net,
        ScopeShape::Net,
        "net:HOST, net:HOST:PORT, net:METHOD@HOST or net:METHOD@HOST:PORT",
    ),
    ("random", PermissionKind::Random, ScopeShape::None, "random"),
    (
        "secret",
        PermissionKind::Secret,
        ScopeShape::Glob,
        "secret:NAME, such as secret:github",
    ),
    (
        "tools",
        PermissionKind::Tools,
        ScopeShape::Glob,
        "tools:NAMESPACE.NAME, such as tools:acme.text.*",
    ),
    (
        "db.",
        PermissionKind::Db,
        ScopeShape::Access,
        "db.STORE:read, db.STORE:write or db.STORE:*",
    ),
];

/// Which part of the world a permission is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PermissionKind {
    /// The time.
    Clock,
    /// The operator's settings for the plugin.
    Config,
    /// A named store.
    Db,
    /// The plugin's own keys and values.
    Kv,
    /// A language model by name.
    Llm,
    /// Outgoing HTTP.
    Net,
    /// Randomness.
    Random,
    /// A named secret.
    Secret,
    /// Calls of other tools.
    Tools,
}

impl PermissionKind {
    pub(crate) const COUNT: usize = 9;

    /// Its place in the order of the kinds.
    pub(crate) const fn index(self) -> usize {
        match self {
            Self::Clock => 0,
            Self::Config => 1,
            Self::Db => 2,
            Self::Kv => 3,
            Self::Llm => 4,
            Self::Net => 5,
            Self::Random => 6,
            Self::Secret => 7,
            Self::Tools => 8,
        }
    }
}

/// Reading or changing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Looks without changing.
    Read,
    /// Changes.
    Write,
}

impl Access {
    /// As it is written in a scope.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// One thing that a guest is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use<'a> {
    /// Read the time.
    Clock,
    /// Read the operator's settings.
    Config,
    /// Touch a named store.
    Db {
        /// The store's binding name.
        store: &'a str,
        /// Reading or changing.
        access: Access,
    },
    /// Touch the plugin's own keys and values.
    Kv(Access),
    /// Ask a language model.
    Llm(&'a str),
    /// Send an HTTP request.
    Net {
        /// The method, in capitals.
        method: &'a str,
        /// Where to.
        target: &'a HostPort,
    },
    /// Draw randomness.
    Random,
    /// Read a secret.
    Secret(&'a str),
    /// Call a tool by its id, without a version requirement.
    Tool(&'a str),
}

impl Use<'_> {
    /// Which kind of permission it takes.
    pub const fn kind(&self) -> PermissionKind {
        match self {
            Self::Clock => PermissionKind::Clock,
            Self::Config => PermissionKind::Config,
            Self::Db { .. } => PermissionKind::Db,
            Self::Kv(_) => PermissionKind::Kv,
            Self::Llm(_) => PermissionKind::Llm,
            Self::Net { .. } => PermissionKind::Net,
            Self::Random => PermissionKind::Random,
            Self::Secret(_) => PermissionKind::Secret,
            Self::Tool(_) => PermissionKind::Tools,
        }
    }

    /// What it is about by name: a host, a store, a secret, a tool.
    const fn name(&self) -> Option<&str> {
        match self {
            Self::Net { target, .. } => Some(target.host()),
            Self::Db { store, .. } => Some(store),
            Self::Llm(name) | Self::Secret(name) | Self::Tool(name) => Some(name),
            Self::Clock | Self::Config | Self::Kv(_) | Self::Random => None,
        }
    }
}

/// The permission that this use takes, as an operator would grant it.
impl fmt::Display for Use<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock => f.write_str("clock"),
            Self::Config => f.write_str("config"),
            Self::Db { store, access } => write!(f, "db.{}:{}", shorten(store), access.as_str()),
            Self::Kv(access) => write!(f, "kv:{}", access.as_str()),
            Self::Llm(name) => write!(f, "llm:{}", shorten(name)),
            Self::Net { method, target } => write!(f, "net:{}@{target}", shorten(method)),
            Self::Random => f.write_str("random"),
            Self::Secret(name) => write!(f, "secret:{}", shorten(name)),
            Self::Tool(id) => write!(f, "tools:{}", shorten(id)),
        }
    }
}

/// A text that is not a permission.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a permission: {reason}")]
pub struct PermissionError {
    /// The text, shortened.
    pub text: String,
    /// What is wrong, and what would be right.
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Scope {
    None,
    /// `read`, `write` or `*`, or a glob over names.
    Glob(Glob),
    Net(NetScope),
}

/// One checked permission, in its normal form: hosts in lower case, methods in capitals.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Permission {
    kind: PermissionKind,
    /// The store of a `db.STORE` permission; empty for the others.
    store: Box<str>,
    scope: Scope,
}

impl Permission {
    /// Reads a permission.
    ///
    /// # Errors
    /// When the name is unknown, or the scope does not have the shape which the name asks for.
    pub fn parse(text: &str) -> Result<Self, PermissionError> {
        let wrong = |reason: String| PermissionError {
            text: shorten(text),
            reason,
        };
        if text.len() > MAX_PERMISSION {
            return Err(wrong(format!("it is longer than {MAX_PERMISSION} bytes")));
        }
        let (name, scope) = match text.split_once(':') {
            Some((name, scope)) => (name, Some(scope)),
            None => (text, None),
        };
        let store = name.strip_prefix("db.");
        let known = KINDS.iter().find(|(known, kind, ..)| match store {
            Some(_) => *kind == PermissionKind::Db,
            None => *known == name,
        });
        let Some((_, kind, shape, example)) = known else {
            let names = "clock, config, db.STORE, kv, llm, net, random, secret and tools";
            return Err(wrong(format!("no such name; there are {names}")));
        };
        let store = store.unwrap_or("");
        if *kind == PermissionKind::Db && !is_plain(store, Star::Refused) {
            return Err(wrong(format!(
                "the store's name is letters, digits, `_`, `-` and `.`; write {example}"
            )));
        }
        let scope = match (shape, scope) {
            (ScopeShape::None, None) => Scope::None,
            (ScopeShape::None, Some(_)) => return Err(wrong(format!("it takes no scope; write {example}"))),
            (_, None | Some("")) => return Err(wrong(format!("it needs a scope; write {example}"))),
            (ScopeShape::Access, Some(scope @ ("read" | "write" | "*"))) => Scope::Glob(Glob::new(scope)),
            (ScopeShape::Access, Some(_)) => {
                return Err(wrong(format!("its scope is read, write or *; write {example}")));
            }
            (ScopeShape::Glob, Some(scope)) if is_plain(scope, Star::Allowed) => {
                Scope::Glob(Glob::new(scope))
            }
            (ScopeShape::Glob, Some(_)) => {
                return Err(wrong(format!(
                    "a scope is letters, digits, `_`, `-`, `.` and `*`; write {example}"
                )));
            }
            (ScopeShape::Net, Some(scope)) => Scope::Net(NetScope::parse(scope).map_err(wrong)?),
        };
        Ok(Self {
            kind: *kind,
            store: store.into(),
            scope,
        })
    }

    /// Which part of the world it is about.
    pub const fn kind(&self) -> PermissionKind {
        self.kind
    }

    /// The scope of a `net` permission.
    pub const fn net(&self) -> Option<&NetScope> {
        match &self.scope {
            Scope::Net(scope) => Some(scope),
            _ => None,
        }
    }

    /// Whether a `kv` or `db` permission allows this access; of the others, none does.
    pub fn allows_access(&self, access: Access) -> bool {
        match (&self.scope, self.kind) {
            (Scope::Glob(scope), PermissionKind::Kv | PermissionKind::Db) => scope.matches(access.as_str()),
            _ => false,
        }
    }

    /// Whether everything that `asked` allows, this allows too. Sound for globs: it never says yes wrongly.
    pub fn covers(&self, asked: &Self) -> bool {
        self.kind == asked.kind
            && self.store == asked.store
            && match (&self.scope, &asked.scope) {
                (Scope::None, Scope::None) => true,
                (Scope::Glob(wide), Scope::Glob(narrow)) => wide.matches(narrow.as_str()),
                (Scope::Net(wide), Scope::Net(narrow)) => wide.covers(narrow),
                _ => false,
            }
    }

    /// Whether there is a use that both allow.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.store == other.store
            && match (&self.scope, &other.scope) {
                (Scope::None, Scope::None) => true,
                (Scope::Glob(a), Scope::Glob(b)) => a.intersects(b),
                (Scope::Net(a), Scope::Net(b)) => a.overlaps(b),
                _ => false,
            }
    }

    /// What the name of a use that it allows begins and ends with; the name is that of [`Use::name`].
    fn ends(&self) -> (&str, &str) {
        match &self.scope {
            Scope::None => ("", ""),
            Scope::Glob(_) if self.kind == PermissionKind::Db => (&self.store, &self.store),
            // `read` and `write` are no names.
            Scope::Glob(_) if self.kind == PermissionKind::Kv => ("", ""),
            Scope::Glob(scope) => scope.ends(),
            Scope::Net(scope) => scope.ends(),
        }
    }

    /// Whether it allows this use.
    pub fn allows(&self, wanted: &Use<'_>) -> bool {
        match (&self.scope, wanted) {
            (Scope::None, Use::Clock | Use::Config | Use::Random) => self.kind == wanted.kind(),
            (Scope::Glob(scope), Use::Kv(access)) => {
                self.kind == PermissionKind::Kv && scope.matches(access.as_str())
            }
            (Scope::Glob(scope), Use::Db { store, access }) => {
                self.kind == PermissionKind::Db && &*self.store == *store && scope.matches(access.as_str())
            }
            (Scope::Glob(scope), Use::Llm(name) | Use::Secret(name) | Use::Tool(name)) => {
                // A name with a star in it is not a name; it must not be able to pose as a pattern.
                self.kind == wanted.kind() && !name.contains('*') && scope.matches(name)
            }
            (Scope::Net(scope), Use::Net { method, target }) => scope.allows(method, target),
            _ => false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Star {
    Allowed,
    Refused,
}

fn is_plain(text: &str, star: Star) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| {
            b.is_ascii_alphanumeric()
                || matches!(b, b'_' | b'-' | b'.')
                || (b == b'*' && star == Star::Allowed)
        })
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            PermissionKind::Db => write!(f, "db.{}", self.store)?,
            kind => {
                let name = KINDS
                    .iter()
                    .find(|(_, known, ..)| *known == kind)
                    .map_or("", |(name, ..)| name);
                f.write_str(name)?;
            }
        }
        match &self.scope {
            Scope::None => Ok(()),
            Scope::Glob(scope) => write!(f, ":{scope}"),
            Scope::Net(scope) => write!(f, ":{scope}"),
        }
    }
}

impl Serialize for Permission {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_design_are_permissions_and_print_as_written() {
        for text in [
            "db.notes:read",
            "db.notes:*",
            "net:api.example.com",
            "net:GET@*.example.com:8443",
            "net:[::1]:80",
            "tools:acme.text.*",
            "llm:default",
            "secret:github",
            "secret:GITHUB_TOKEN",
            "kv:read",
            "kv:*",
            "clock",
            "random",
            "config",
        ] {
            assert_eq!(Permission::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            Permission::parse("net:API.Example.COM").unwrap().to_string(),
            "net:api.example.com"
        );
    }

    #[test]
    fn what_is_not_a_permission_is_refused_with_what_would_be() {
        let long = format!("secret:{}", "x".repeat(400));
        for (text, said) in [
            ("", "no such name"),
            ("fs:read", "no such name"),
            ("Clock", "no such name"),
            ("db", "no such name"),
            ("kv", "kv:read, kv:write or kv:*"),
            ("kv:", "needs a scope"),
            ("kv:delete", "read, write or *"),
            ("clock:now", "takes no scope"),
            ("secret", "secret:NAME"),
            ("secret:a b", "a scope is"),
            ("secret:../x", "a scope is"),
            ("db.:read", "the store's name"),
            ("db.a*:read", "the store's name"),
            ("db.notes", "needs a scope"),
            ("net", "net:HOST"),
            ("net:", "needs a scope"),
            ("net:http://a", "host"),
            ("net:a:99999", "port"),
            ("net:get@a", "capitals"),
            (long.as_str(), "longer than"),
        ] {
            let error = Permission::parse(text).unwrap_err();
            assert!(error.to_string().contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn a_wider_permission_covers_a_narrower_one_and_not_the_other_way_round() {
        for (wide, narrow) in [
            ("kv:*", "kv:read"),
            ("tools:acme.*", "tools:acme.text.*"),
            ("tools:*", "tools:a.b"),
            ("net:*", "net:GET@api.example.com:443"),
            ("net:*.example.com", "net:api.example.com"),
            ("net:a", "net:GET@a"),
            ("net:a", "net:a:80"),
            ("db.notes:*", "db.notes:write"),
        ] {
            let (wide, narrow) = (
                Permission::parse(wide).unwrap(),
                Permission::parse(narrow).unwrap(),
            );
            assert!(
                wide.covers(&narrow) && wide.covers(&wide) && !narrow.covers(&wide),
                "{wide} {narrow}"
            );
            assert!(
                wide.overlaps(&narrow) && narrow.overlaps(&wide),
                "{wide} {narrow}"
            );
        }
    }

    #[test]
    fn permissions_about_different_things_neither_cover_nor_overlap() {
        for (a, b) in [
            ("kv:read", "kv:write"),
            ("kv:*", "db.kv:read"),
            ("db.a:read", "db.b:read"),
            ("clock", "random"),
            ("secret:a", "llm:a"),
            ("net:a", "net:b"),
            ("net:GET@a", "net:POST@a"),
            ("net:a:80", "net:a:81"),
        ] {
            let (a, b) = (Permission::parse(a).unwrap(), Permission::parse(b).unwrap());
            assert!(
                !a.covers(&b) && !b.covers(&a) && !a.overlaps(&b) && !b.overlaps(&a),
                "{a} {b}"
            );
        }
    }

    #[test]
    fn a_use_is_allowed_by_a_permission_of_its_kind_and_scope_only() {
        for (permission, wanted, allowed) in [
            ("clock", Use::Clock, true),
            ("clock", Use::Random, false),
            ("kv:read", Use::Kv(Access::Read), true),
            ("kv:read", Use::Kv(Access::Write), false),
            ("kv:*", Use::Kv(Access::Write), true),
            ("secret:git*", Use::Secret("github"), true),
            ("secret:git*", Use::Llm("github"), false),
            ("secret:*", Use::Secret("*"), false),
            ("tools:acme.text.*", Use::Tool("acme.text.count"), true),
            ("tools:acme.text.*", Use::Tool("acme.text"), false),
            (
                "db.notes:read",
                Use::Db {
                    store: "notes",
                    access: Access::Read,
                },
                true,
            ),
            (
                "db.notes:read",
                Use::Db {
                    store: "other",
                    access: Access::Read,
                },
                false,
            ),
        ] {
            assert_eq!(
                Permission::parse(permission).unwrap().allows(&wanted),
                allowed,
                "{permission} {wanted}"
            );
        }
    }
}
