//! Plugins and packs of the repository, each built and signed once for all tests.

use super::http::mizzen;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The target folder of everything that tests compile for guests: kept between runs, shared by all tests, and not the one of the cargo
/// that runs them, which is locked.
pub(crate) const TARGET: &str = env!("CARGO_TARGET_TMPDIR");

/// The repository.
pub(crate) fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The home whose development key signs the packages; kept between runs, as a person's is.
pub(crate) fn home() -> PathBuf {
    Path::new(TARGET).join("suite/home")
}

/// A signed package.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    /// `NAME-VERSION.wasm`.
    pub(crate) file: String,
    pub(crate) bytes: Vec<u8>,
}

impl Package {
    /// Writes it into a folder of plugins. Returns its path.
    pub(crate) fn write(&self, folder: &Path) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        let path = folder.join(&self.file);
        fs::write(&path, &self.bytes).unwrap();
        path
    }
}

/// A pack of rules that a test has written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RulePack<'a> {
    pub(crate) name: &'a str,
    pub(crate) version: &'a str,
    /// More lines of `[pack]`.
    pub(crate) more: &'a str,
    pub(crate) rules: &'a str,
}

impl<'a> RulePack<'a> {
    /// Version 1.0.0, asked at every moment.
    pub(crate) const fn new(name: &'a str, rules: &'a str) -> Self {
        Self {
            name,
            version: "1.0.0",
            more: "",
            rules,
        }
    }

    /// Writes its source into a folder. Returns the folder that `pack build` takes.
    pub(crate) fn write(&self, folder: &Path) -> PathBuf {
        let Self {
            name,
            version,
            more,
            rules,
        } = self;
        let folder = folder.join(format!("source-{name}-{version}"));
        fs::create_dir_all(&folder).unwrap();
        let toml = format!(
            "[plugin]\nname = \"{name}\"\nversion = \"{version}\"\napi_version = \"1\"\nnamespaces = [\"{name}\"]\n\
             [pack]\ndescription = \"For tests.\"\n{more}"
        );
        fs::write(folder.join("pack.toml"), toml).unwrap();
        fs::write(folder.join("rules.clp"), rules).unwrap();
        folder
    }

    /// Its package.
    pub(crate) fn build(&self) -> Package {
        built(&format!("{self:?}"), || {
            let folder = tempfile::tempdir().unwrap();
            build("pack", &self.write(folder.path()), &home())
        })
    }
}

/// A plugin of the repository, by its folder: `plugins/text`.
pub(crate) fn plugin(folder: &str) -> Package {
    built(folder, || build("plugin", &checkout().join(folder), &home()))
}

/// A pack of the repository, by its folder: `plugins/budgets`.
pub(crate) fn pack(folder: &str) -> Package {
    built(folder, || build("pack", &checkout().join(folder), &home()))
}

fn built(what: &str, build: impl FnOnce() -> Package) -> Package {
    static BUILT: Mutex<BTreeMap<String, Package>> = Mutex::new(BTreeMap::new());
    // Builds wait for each other anyway. One that fails must not fail those of other tests with a poisoned lock.
    let mut packages = BUILT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    packages.entry(what.to_owned()).or_insert_with(build).clone()
}

/// `mizzen plugin build` or `pack build`, signed with the development key of a home.
pub(crate) fn build(group: &str, source: &Path, home: &Path) -> Package {
    let scratch = Path::new(TARGET).join("suite");
    fs::create_dir_all(&scratch).unwrap();
    // Two test processes may share the target folder, and make the home's key only once.
    let lock = File::create(scratch.join("lock")).unwrap();
    lock.lock().unwrap();
    let folder = tempfile::tempdir_in(&scratch).unwrap();
    let output = mizzen()
        .args([group, "build"])
        .arg(source)
        .arg("--output")
        .arg(folder.path())
        .arg("--home")
        .arg(home)
        .env("CARGO_TARGET_DIR", TARGET)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut files = fs::read_dir(folder.path()).unwrap();
    let path = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none(), "one package is built at a time");
    Package {
        file: path.file_name().unwrap().to_str().unwrap().to_owned(),
        bytes: fs::read(path).unwrap(),
    }
}
