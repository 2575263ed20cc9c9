//! Where the demo builds: the checkout, the development key, and the folder that everything goes into.

use crate::home::Home;
use crate::verbs::pack::build_rules;
use anyhow::{Context, Result};
use mizzen_builder::pack::PackProject;
use mizzen_builder::{BuildRequest, BuiltPlugin, Progress, build_plugin};
use mizzen_catalog::key::{DEV_KEY, KeyName, SecretKey};
use std::path::{Path, PathBuf};

/// The plugins of the story.
const PLUGINS: &[&str] = &["plugins/text", "plugins/json", "plugins/delivery"];

/// The governance packs of the story: rules, which need no compiler.
const PACKS: &[&str] = &[
    "plugins/safety-pii",
    "plugins/budgets",
    "plugins/retries",
    "plugins/audit",
];

/// A checkout and a folder to build into.
pub(super) struct Workshop {
    root: PathBuf,
    data: PathBuf,
    key: SecretKey,
}

impl Workshop {
    /// Finds the checkout; makes the key when there is none.
    pub(super) fn open(data: Option<&Path>) -> Result<Self> {
        let root = checkout()?;
        let data = data.map_or_else(|| root.join(".mizzen/demo"), Path::to_owned);
        let key = Home::at(data.clone())
            .keys()?
            .secret_or_create(&KeyName::parse(DEV_KEY)?, "development key of the demo")?;
        Ok(Self { root, data, key })
    }

    /// Where everything goes.
    pub(super) fn data(&self) -> &Path {
        &self.data
    }

    /// The council of the story.
    pub(super) fn council_file(&self) -> PathBuf {
        self.root.join("examples/review-council/council.json")
    }

    /// The same sprites, with packs that look over their shoulders.
    pub(super) fn governed_file(&self) -> PathBuf {
        self.root.join("examples/review-council/governed.json")
    }

    /// An input of the story.
    pub(super) fn input(&self, name: &str) -> Result<String> {
        let path = self.root.join("examples/review-council/inputs").join(name);
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Builds and signs the plugins of the story, and says what came of it.
    pub(super) fn build_plugins(&self) -> Result<()> {
        for plugin in PLUGINS {
            tell(&self.build(plugin, "plugins")?);
        }
        for pack in PACKS {
            let project = PackProject::open(&self.root.join(pack))?;
            tell(&build_rules(
                &project,
                &self.key,
                Some(&self.data.join("plugins")),
            )?);
        }
        Ok(())
    }

    /// Builds and signs one plugin of the checkout.
    pub(super) fn build(&self, plugin: &str, output: &str) -> Result<BuiltPlugin> {
        let (target, output) = (self.target(), self.data.join(output));
        let request = BuildRequest {
            folder: &self.root.join(plugin),
            key: &self.key,
            target_folder: Some(&target),
            shared_target_folder: None,
            output_folder: Some(&output),
        };
        let mut progress = |progress: Progress<'_>| match progress {
            Progress::InstallingTarget => {
                eprintln!("  installing the target {}", mizzen_builder::GUEST_TARGET);
            }
            Progress::Building(name) => eprintln!("  building {name}"),
            Progress::Line(line) => eprintln!("    {line}"),
            Progress::SdkRefreshed(_) | Progress::Waiting(_) | Progress::Packaging => {}
        };
        Ok(build_plugin(request, &mut progress)?)
    }

    /// Where guests are compiled: a folder that the reader named for cargo is used, so that it need not be done twice.
    fn target(&self) -> PathBuf {
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.data.join("target"), PathBuf::from)
    }
}

fn tell(built: &BuiltPlugin) {
    println!(
        "  {:<16} {:>8} bytes  {}  {}",
        format!("{} {}", built.manifest.name(), built.manifest.version()),
        built.size,
        short(&built.digest.to_string()),
        if built.unchanged { "unchanged" } else { "signed" },
    );
}

/// The checkout that this folder is in, or else the one that this binary was built from.
fn checkout() -> Result<PathBuf> {
    let is_checkout = |folder: &Path| folder.join("plugins/delivery/plugin.toml").exists();
    let here = std::env::current_dir()?;
    let built_from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    here.ancestors()
        .find(|folder| is_checkout(folder))
        .map(Path::to_owned)
        .or_else(|| {
            built_from
                .canonicalize()
                .ok()
                .filter(|folder| is_checkout(folder))
        })
        .context("the demo builds the plugins of the repository; run it in a checkout")
}

/// The beginning of a digest or a hash: enough to tell two apart.
pub(super) fn short(digest: &str) -> &str {
    digest.get(..23).unwrap_or(digest)
}
