//! Governance: mounted packs.

use crate::ir::record::record;
use crate::ir::slug::validate_pack_id;

record! {
    /// A mounted Bosun rule pack.
    pub struct PackMount {
        /// Stable slug.
        id slug validate_pack_id: String,
        /// Pinned pack version.
        version: Option<String> = None,
        /// Which host the pack needs; checked when it is loaded.
        requires: Option<PackRequires> = None,
    }
}

record! {
    /// Which host a pack needs.
    pub struct PackRequires {
        /// Required version of the fact vocabulary, as "1.0".
        stargraph_facts_version: Option<String> = None,
        /// Required plugin api_version, as "1".
        api_version: Option<String> = None,
    }
}
