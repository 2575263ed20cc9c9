//! Side effects follow from permissions (D22): what a permission allows is the least that a tool with it must claim.
//!
//! An author may claim more. `tools` is judged where the callees are known, at registration: here it counts for nothing.

use super::SideEffects;
use crate::permission::{Access, Permission, PermissionKind, Use};

/// Methods that ask a server for something and change nothing there (RFC 9110, 9.2.1). `OPTIONS` and `TRACE` are safe too, and
/// nobody reads data with them, so they are not worth an exception.
const READING: [&str; 2] = ["GET", "HEAD"];

impl SideEffects {
    /// The strongest effect among the uses that a permission allows.
    pub fn of_permission(permission: &Permission) -> Self {
        match permission.kind() {
            // The same at every replay (they are recorded), and nothing outside is touched: a function of what it is given.
            PermissionKind::Clock | PermissionKind::Config | PermissionKind::Random => Self::None,
            // Judged by its callees.
            PermissionKind::Tools => Self::None,
            // A value from outside that no journal holds (D35).
            PermissionKind::Secret => Self::Read,
            // Sends its input to a third party in the body of a request and costs money each time.
            PermissionKind::Llm => Self::External,
            PermissionKind::Kv | PermissionKind::Db if permission.allows_access(Access::Write) => Self::Write,
            PermissionKind::Kv | PermissionKind::Db => Self::Read,
            PermissionKind::Net => Self::of_method(permission.net().and_then(|scope| scope.method())),
        }
    }

    /// The effect of one use.
    pub fn of_use(wanted: &Use<'_>) -> Self {
        match wanted {
            Use::Clock | Use::Config | Use::Random | Use::Tool(_) => Self::None,
            Use::Secret(_) => Self::Read,
            Use::Llm(_) => Self::External,
            Use::Kv(access) | Use::Db { access, .. } => match access {
                Access::Read => Self::Read,
                Access::Write => Self::Write,
            },
            Use::Net { method, .. } => Self::of_method(Some(method)),
        }
    }

    /// No method means any of them.
    fn of_method(method: Option<&str>) -> Self {
        match method {
            Some(method) if READING.contains(&method) => Self::Read,
            _ => Self::External,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::HostPort;
    use proptest::prelude::*;

    #[test]
    fn each_permission_has_the_effect_of_its_strongest_use() {
        for (text, effects) in [
            ("clock", SideEffects::None),
            ("config", SideEffects::None),
            ("random", SideEffects::None),
            ("tools:*", SideEffects::None),
            ("secret:github", SideEffects::Read),
            ("llm:default", SideEffects::External),
            ("kv:read", SideEffects::Read),
            ("kv:write", SideEffects::Write),
            ("kv:*", SideEffects::Write),
            ("db.notes:read", SideEffects::Read),
            ("db.notes:write", SideEffects::Write),
            ("db.notes:*", SideEffects::Write),
            ("net:api.example.com", SideEffects::External),
            ("net:*@api.example.com", SideEffects::External),
            ("net:GET@api.example.com", SideEffects::Read),
            ("net:HEAD@*:443", SideEffects::Read),
            ("net:POST@api.example.com", SideEffects::External),
            ("net:OPTIONS@api.example.com", SideEffects::External),
            ("net:GETS@api.example.com", SideEffects::External),
        ] {
            let permission = Permission::parse(text).unwrap();
            assert_eq!(SideEffects::of_permission(&permission), effects, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_use_has_more_effect_than_the_permission_that_allows_it(
            text in "(clock|config|random|kv:(read|write|\\*)|db\\.a:(read|write|\\*)|llm:(a|\\*)|secret:(a|\\*)|tools:(a|\\*)|net:((GET|HEAD|POST|\\*)@)?(a|\\*)(:80)?)",
            method in "(GET|HEAD|POST|get|DELETE)",
        ) {
            let permission = Permission::parse(&text).unwrap();
            let target = HostPort::new("a", 80).unwrap();
            let db = |access| Use::Db { store: "a", access };
            for wanted in [
                Use::Clock, Use::Config, Use::Random, Use::Llm("a"), Use::Secret("a"), Use::Tool("a"),
                Use::Kv(Access::Read), Use::Kv(Access::Write), db(Access::Read), db(Access::Write),
                Use::Net { method: &method, target: &target },
            ] {
                if permission.allows(&wanted) {
                    prop_assert!(SideEffects::of_use(&wanted) <= SideEffects::of_permission(&permission), "{permission} {wanted}");
                }
            }
        }
    }
}
