//! Mounting packs: whether this host can, and which pack a mount means.
//!
//! A mount is checked when it is written (a council is refused, a host does not start) and again when a run begins: then a
//! pack that is gone is a pack that does not answer, which a mandatory mount takes for a veto. So a plugin may be removed while
//! councils mount its packs, and no run of theirs goes on ungoverned; what `mizzen.toml` itself mounts cannot be taken away.

use crate::error::Refusal;
use crate::host::Host;
use crate::toolbox::{InstalledPack, Loaded};
use mizzen_catalog::change::OlderVersion;
use mizzen_catalog::{LoadCode, PluginLoadError, Stage};
use mizzen_model::council::Council;
use mizzen_model::governance::{Mount, PackMode, PackOrigin};
use mizzen_model::ir::{IRDocument, PackCompatError};
use semver::{Version, VersionReq};
use serde::Serialize;
use std::sync::Arc;

/// A mount that this host cannot mount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{path}: {message}")]
pub struct MountProblem {
    /// Where the mount stands, an RFC 6901 pointer into its document.
    pub path: String,
    /// The pack.
    pub pack_id: String,
    /// `not_installed` or `incompatible`.
    pub code: &'static str,
    /// What is wrong, and what to do.
    pub message: String,
    /// Of an incompatible one: `stargraph_facts_version` or `api_version`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<&'static str>,
    /// What is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<String>,
    /// What this host has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
}

impl MountProblem {
    fn incompatible(path: &str, error: PackCompatError) -> Self {
        Self {
            path: path.to_owned(),
            pack_id: error.pack_id.clone(),
            code: "incompatible",
            message: error.to_string(),
            field: Some(error.field),
            required: Some(error.required),
            actual: Some(error.actual),
        }
    }
}

/// Finds the pack that a mount means.
pub(crate) fn find(
    loaded: &Loaded,
    path: &str,
    mount: &Mount,
) -> Result<Arc<InstalledPack>, Box<MountProblem>> {
    let incompatible = |error| Box::new(MountProblem::incompatible(path, error));
    mount.check_compat().map_err(incompatible)?;
    let wanted = match &mount.version {
        None => VersionReq::STAR,
        Some(version) => exactly(version),
    };
    let Some(pack) = loaded.pack(&mount.id, &wanted) else {
        return Err(Box::new(missing(loaded, path, mount)));
    };
    // The pack's own requirements, at load: a mount may ask for less than the pack does.
    let own = Mount {
        requires: Some(pack.descriptor().requires()),
        ..mount.clone()
    };
    own.check_compat().map_err(incompatible)?;
    Ok(pack)
}

fn exactly(version: &str) -> VersionReq {
    // A version that is none was refused by the mount's table; nothing fits what cannot be read.
    VersionReq::parse(&format!("={version}"))
        .or_else(|_| VersionReq::parse("<0.0.0-0"))
        .unwrap_or(VersionReq::STAR)
}

fn missing(loaded: &Loaded, path: &str, mount: &Mount) -> MountProblem {
    let there: Vec<String> = loaded
        .packs()
        .filter(|pack| pack.id() == mount.id)
        .map(|pack| pack.version().to_string())
        .collect();
    let id = &mount.id;
    let message = match (&mount.version, there.is_empty()) {
        (Some(version), false) => format!(
            "pack {id:?} is not installed in version {version}, only in {}: install it, or mount one of these",
            there.join(", ")
        ),
        (None, false) => format!(
            "pack {id:?} is installed in {} only: name the version that is meant",
            there.join(", ")
        ),
        (_, true) => format!(
            "pack {id:?} is not installed: no plugin that this host has loaded and trusts provides it; see `mizzen plugins list`"
        ),
    };
    MountProblem {
        path: path.to_owned(),
        pack_id: id.clone(),
        code: "not_installed",
        message,
        field: None,
        required: None,
        actual: None,
    }
}

/// What is wrong with mounts, each with its path.
pub(crate) fn problems<'a>(
    loaded: &Loaded,
    mounts: impl IntoIterator<Item = (String, &'a Mount)>,
) -> Vec<MountProblem> {
    mounts
        .into_iter()
        .filter_map(|(path, mount)| find(loaded, &path, mount).err().map(|problem| *problem))
        .collect()
}

/// What `mizzen.toml` mounts and a set cannot: the set is not loaded.
pub(crate) fn unmountable(loaded: &Loaded) -> Vec<PluginLoadError> {
    let mounts = loaded.governance().iter().enumerate();
    let mounts = mounts.map(|(index, mount)| (format!("/governance/{index}"), mount));
    let error = |problem: MountProblem| PluginLoadError {
        code: LoadCode::PackUnmountable,
        stage: Stage::Register,
        plugin: None,
        file: None,
        message: format!("mizzen.toml mounts a pack for the whole host: {problem}"),
        help: "install the plugin that provides it, or take its [[governance]] out of mizzen.toml".to_owned(),
    };
    problems(loaded, mounts).into_iter().map(error).collect()
}

/// Mandatory packs of `mizzen.toml` that another set would have in an older version: what an older one does not veto is not vetoed.
pub(crate) fn lowered(running: &Loaded, next: &Loaded) -> Vec<OlderVersion> {
    let mandatory = next
        .governance()
        .iter()
        .filter(|mount| mount.mode() == PackMode::Mandatory);
    let of = |loaded: &Loaded, mount: &Mount| find(loaded, "", mount).ok().map(|pack| pack.version().clone());
    mandatory
        .filter_map(|mount| {
            // What the host ran under this id, whichever version its configuration named then.
            let any = Mount {
                version: None,
                ..mount.clone()
            };
            let (newest, version) = (of(running, &any)?, of(next, mount)?);
            (version < newest).then(|| OlderVersion {
                name: format!("pack {}", mount.id),
                version,
                newest,
            })
        })
        .collect()
}

/// What governs every run of the host, in load order: all that governs a call of a tool without a council.
pub(crate) fn host_mounts(loaded: &Loaded) -> Vec<(PackOrigin, Mount)> {
    let mounts = loaded.governance().iter();
    mounts.map(|mount| (PackOrigin::Host, mount.clone())).collect()
}

/// Everything that governs a chain, in load order: the host's mounts, the council's, the chain's.
pub(crate) fn mounts_of(
    loaded: &Loaded,
    council: &Council,
    chain: &mizzen_model::chain::Chain,
) -> Vec<(PackOrigin, Mount)> {
    let of = |origin: PackOrigin, mounts: &[Mount]| -> Vec<(PackOrigin, Mount)> {
        mounts.iter().map(|mount| (origin, mount.clone())).collect()
    };
    let mut all = host_mounts(loaded);
    all.extend(of(PackOrigin::Council, council.governance()));
    all.extend(of(PackOrigin::Chain, chain.body.governance()));
    all
}

/// Everything that governs a graph, in load order: the host's mounts, then the document's.
pub(crate) fn mounts_of_graph(loaded: &Loaded, document: &IRDocument) -> Vec<(PackOrigin, Mount)> {
    let own = document.governance.iter();
    let own = own.map(|mount| (PackOrigin::Graph, Mount::from(mount)));
    host_mounts(loaded).into_iter().chain(own).collect()
}

impl Host {
    /// Refuses a council whose mounts this host cannot mount.
    pub(crate) fn check_mounts(&self, council: &Council) -> Result<(), Refusal> {
        let problems = problems(&self.loaded(), council.mounts());
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Refusal::PackMounts { problems })
        }
    }
}

/// What came of a look at one mount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mountable {
    /// Where the mount stands.
    pub path: String,
    /// The pack.
    pub pack_id: String,
    /// The version and the package that would be mounted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<(Version, String)>,
    /// Why it cannot be mounted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<MountProblem>,
}

impl Loaded {
    /// Says of each mount whether this set could mount it.
    pub fn mountable<'a>(&self, mounts: impl IntoIterator<Item = (String, &'a Mount)>) -> Vec<Mountable> {
        let look = |(path, mount): (String, &Mount)| match find(self, &path, mount) {
            Ok(pack) => Mountable {
                path,
                pack_id: mount.id.clone(),
                found: Some((pack.version().clone(), pack.digest().to_string())),
                problem: None,
            },
            Err(problem) => Mountable {
                path,
                pack_id: mount.id.clone(),
                found: None,
                problem: Some(*problem),
            },
        };
        mounts.into_iter().map(look).collect()
    }
}
