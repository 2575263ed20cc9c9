//! Sets of permissions, and what is left when several sets must all agree.

use super::index::Index;
use super::{HostPort, Permission, PermissionKind, Use};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Permissions, sorted and without duplicates. Default: nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PermissionSet {
    sorted: Vec<Permission>,
    /// Where each kind ends in `sorted`, by [`PermissionKind::index`]: a check looks at its own kind only.
    ends: [usize; PermissionKind::COUNT],
    /// Of the kinds with many permissions, which of them can allow a name at all.
    indexes: Box<[(PermissionKind, Index)]>,
}

/// As many permissions of one kind are asked one after the other sooner than they are looked up.
const FEW: usize = 8;

impl FromIterator<Permission> for PermissionSet {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> Self {
        let sorted: BTreeSet<Permission> = permissions.into_iter().collect();
        let sorted: Vec<Permission> = sorted.into_iter().collect();
        let mut ends = [0; PermissionKind::COUNT];
        for (index, end) in ends.iter_mut().enumerate() {
            *end = sorted.partition_point(|permission| permission.kind().index() <= index);
        }
        let mut set = Self {
            sorted,
            ends,
            indexes: Box::default(),
        };
        let large = [
            PermissionKind::Db,
            PermissionKind::Llm,
            PermissionKind::Net,
            PermissionKind::Secret,
            PermissionKind::Tools,
        ]
        .into_iter()
        .filter(|kind| set.of_kind(*kind).len() > FEW);
        let indexes = large.map(|kind| (kind, Index::new(set.of_kind(kind).iter().map(Permission::ends))));
        set.indexes = indexes.collect();
        set
    }
}

impl PermissionSet {
    /// The permissions in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Permission> {
        self.sorted.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// The permissions of one kind: the kind is the first thing they are sorted by.
    pub fn of_kind(&self, kind: PermissionKind) -> &[Permission] {
        let end = |index: usize| self.ends.get(index).copied().unwrap_or(0);
        let start = kind.index().checked_sub(1).map_or(0, end);
        self.sorted.get(start..end(kind.index())).unwrap_or_default()
    }

    /// Whether one permission of the set covers `asked` alone.
    pub fn covers(&self, asked: &Permission) -> bool {
        self.of_kind(asked.kind())
            .iter()
            .any(|permission| permission.covers(asked))
    }

    /// Whether the set allows this use.
    pub fn allows(&self, wanted: &Use<'_>) -> bool {
        let kind = wanted.kind();
        let permissions = self.of_kind(kind);
        let index = self.indexes.iter().find(|(of, _)| *of == kind);
        match (index, wanted.name()) {
            // The index only says who is worth asking: each of them decides as ever.
            (Some((_, index)), Some(name)) => index.any(name, |at| {
                permissions
                    .get(at)
                    .is_some_and(|permission| permission.allows(wanted))
            }),
            _ => permissions.iter().any(|permission| permission.allows(wanted)),
        }
    }

    /// Whether the two sets have a use of this kind in common.
    pub fn overlaps(&self, other: &Self, kind: PermissionKind) -> bool {
        self.of_kind(kind)
            .iter()
            .any(|own| other.of_kind(kind).iter().any(|its| own.overlaps(its)))
    }

    /// Those of `asked` that the set does not cover, in order.
    pub fn missing<'a>(&self, asked: &'a Self) -> Vec<&'a Permission> {
        asked
            .iter()
            .filter(|permission| !self.covers(permission))
            .collect()
    }

    /// Everything in either set.
    pub fn union(&self, other: &Self) -> Self {
        self.iter().chain(other.iter()).cloned().collect()
    }
}

impl Serialize for PermissionSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.sorted)
    }
}

/// The authority of a call: what every layer allows (declared ∩ granted ∩ asked).
///
/// The layers are kept apart and each is asked, because the intersection of two globs need not be a glob.
#[derive(Debug, Clone)]
pub struct Effective {
    layers: Vec<Arc<PermissionSet>>,
}

impl Effective {
    /// What the author declared and the operator granted.
    pub fn new(declared: Arc<PermissionSet>, granted: Arc<PermissionSet>) -> Self {
        Self {
            layers: vec![declared, granted],
        }
    }

    /// The same, narrowed by one more layer, such as what a tool asks for.
    #[must_use]
    pub fn narrowed(&self, asked: Arc<PermissionSet>) -> Self {
        let mut layers = self.layers.clone();
        layers.push(asked);
        Self { layers }
    }

    /// The first layer that does not allow this use: 0 is what was declared, 1 what was granted, 2 what narrows both.
    pub fn refusing(&self, wanted: &Use<'_>) -> Option<usize> {
        self.layers.iter().position(|layer| !layer.allows(wanted))
    }

    /// Whether every layer allows this use.
    pub fn allows(&self, wanted: &Use<'_>) -> bool {
        self.layers.iter().all(|layer| layer.allows(wanted))
    }

    /// Whether any use of this kind may be allowed. An interface whose kind is not touched must not be linked at all.
    pub fn touches(&self, kind: PermissionKind) -> bool {
        self.layers.iter().enumerate().all(|(index, layer)| {
            !layer.of_kind(kind).is_empty()
                && self
                    .layers
                    .iter()
                    .skip(index + 1)
                    .all(|other| layer.overlaps(other, kind))
        })
    }

    /// Whether every layer allows the request, and the operator's grant for it names the host without a glob. That is what
    /// it takes to reach a loopback, private or link-local address.
    pub fn allows_by_name(&self, method: &str, target: &HostPort) -> bool {
        let granted = self.layers.get(1).is_some_and(|granted| {
            granted.of_kind(PermissionKind::Net).iter().any(|permission| {
                permission.allows(&Use::Net { method, target })
                    && permission
                        .net()
                        .is_some_and(|scope| scope.names_host(target.host()))
            })
        });
        granted && self.allows(&Use::Net { method, target })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::Access;
    use proptest::prelude::*;

    fn set(texts: &[&str]) -> Arc<PermissionSet> {
        Arc::new(
            texts
                .iter()
                .map(|text| Permission::parse(text).unwrap())
                .collect(),
        )
    }

    #[test]
    fn nothing_is_allowed_by_default() {
        let nothing = Effective::new(set(&[]), set(&[]));
        assert!(!nothing.allows(&Use::Clock));
        assert!(!nothing.touches(PermissionKind::Clock));
        assert!(PermissionSet::default().is_empty());
    }

    #[test]
    fn a_use_passes_only_when_declared_and_granted_and_asked() {
        let all = ["kv:*", "clock", "tools:acme.*"];
        for (declared, granted, asked, refusing) in [
            (&all[..], &all[..], &all[..], None),
            (&["clock"], &all[..], &all[..], Some(0)),
            (&["clock"], &["clock"], &["clock"], Some(0)),
            (&all[..], &["clock"], &all[..], Some(1)),
            (&all[..], &all[..], &["clock"], Some(2)),
            (&["kv:read"], &["kv:*"], &["kv:read"], None),
            (&["kv:read"], &["kv:write"], &["kv:*"], Some(1)),
        ] {
            let effective = Effective::new(set(declared), set(granted)).narrowed(set(asked));
            let wanted = Use::Kv(Access::Read);
            assert_eq!(
                (effective.allows(&wanted), effective.refusing(&wanted)),
                (refusing.is_none(), refusing),
                "{declared:?} {granted:?} {asked:?}"
            );
        }
    }

    #[test]
    fn the_intersection_of_two_globs_is_sound() {
        let effective = Effective::new(set(&["tools:acme.*"]), set(&["tools:*.count"]));
        assert!(effective.allows(&Use::Tool("acme.text.count")));
        assert!(!effective.allows(&Use::Tool("acme.text.diff")));
        assert!(!effective.allows(&Use::Tool("other.count")));
        assert!(effective.touches(PermissionKind::Tools));
    }

    #[test]
    fn an_interface_is_touched_only_when_the_layers_have_something_in_common() {
        assert!(!Effective::new(set(&["net:a.com"]), set(&["net:b.com"])).touches(PermissionKind::Net));
        assert!(Effective::new(set(&["net:*.com"]), set(&["net:b.*"])).touches(PermissionKind::Net));
        assert!(!Effective::new(set(&["net:a.com"]), set(&["clock"])).touches(PermissionKind::Net));
    }

    #[test]
    fn a_private_host_must_be_named_by_the_grant() {
        let target = HostPort::new("127.0.0.1", 80).unwrap();
        let by = |declared: &str, granted: &str| {
            Effective::new(set(&[declared]), set(&[granted])).allows_by_name("GET", &target)
        };
        assert!(by("net:127.0.0.1", "net:127.0.0.1"));
        assert!(by("net:*", "net:127.0.0.1"));
        assert!(!by("net:127.0.0.1", "net:*"));
        assert!(!by("net:a", "net:127.0.0.1"));
        assert!(!by("net:*", "net:POST@127.0.0.1"));
    }

    /// What a set says without its index: each permission is asked.
    fn straightforward(set: &PermissionSet, wanted: &Use<'_>) -> bool {
        set.iter().any(|permission| permission.allows(wanted))
    }

    /// Permissions that share many of their ends, so that an index has something to confuse.
    fn permission() -> impl Strategy<Value = Permission> {
        let host = "(GET@|POST@)?([ab]{1,2}|\\*)(\\.([ab]{1,2}|\\*|b\\*a)){0,2}(:80|:81)?";
        let name = "([ab.*]{1,6}|aa\\.[ab]{2}\\.\\*|\\*\\.[ab]{2})";
        prop_oneof![
            host.prop_map(|scope| format!("net:{scope}")),
            name.prop_map(|scope| format!("tools:{scope}")),
            name.prop_map(|scope| format!("secret:{scope}")),
            name.prop_map(|scope| format!("llm:{scope}")),
            "db\\.[ab]{1,4}:(read|write|\\*)",
            "kv:(read|write|\\*)",
            Just("clock".to_owned()),
        ]
        .prop_filter_map("not a permission", |text| Permission::parse(&text).ok())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn a_large_set_decides_as_if_each_permission_were_asked(
            permissions in proptest::collection::vec(permission(), 0..120),
            names in proptest::collection::vec("[ab.*]{0,7}", 30),
            method in "(GET|POST|PUT)",
            port in 80_u16..82,
        ) {
            let set: PermissionSet = permissions.into_iter().collect();
            for name in &names {
                let target = HostPort::new(name, port);
                let net = target.as_ref().map(|target| Use::Net { method: &method, target });
                let db = [Access::Read, Access::Write].map(|access| Use::Db { store: name, access });
                let uses = [Use::Tool(name), Use::Secret(name), Use::Llm(name), Use::Kv(Access::Read), Use::Clock];
                for wanted in uses.into_iter().chain(net).chain(db) {
                    prop_assert_eq!(set.allows(&wanted), straightforward(&set, &wanted), "{} of {:?}", wanted, set);
                }
            }
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let granted = set(&["kv:read", "net:*.example.com"]);
        let asked = set(&["kv:read", "kv:write", "net:api.example.com", "clock"]);
        let missing: Vec<String> = granted.missing(&asked).iter().map(ToString::to_string).collect();
        assert_eq!(missing, ["clock", "kv:write"]);
    }
}
