//! A new plugin's folder, from templates in the binary.

use crate::{NewProjectError, embedded, sdk};
use mizzen_model::namespace::PluginName;
use std::path::{Path, PathBuf};

/// Cargo refuses these as the name of a package, or the crate would hide one that its code needs.
const RESERVED: &[&str] = &[
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "core",
    "crate",
    "deps",
    "do",
    "dyn",
    "else",
    "enum",
    "examples",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "incremental",
    "let",
    "loop",
    "macro",
    "match",
    "mizzen-sdk",
    "mizzen-sdk-macros",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc-macro",
    "pub",
    "ref",
    "return",
    "schemars",
    "self",
    "serde",
    "serde-json",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
];

/// What a plugin provides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectKind {
    /// Tools.
    Tool,
    /// A governance pack in Rust.
    Pack,
}

impl ProjectKind {
    fn template(self) -> &'static str {
        match self {
            ProjectKind::Tool => "tool/",
            ProjectKind::Pack => "pack/",
        }
    }
}

/// What to create.
#[derive(Debug, Clone, Copy)]
pub struct NewProject<'a> {
    /// The plugin's name, which is also its namespace.
    pub name: &'a PluginName,
    /// What it provides.
    pub kind: ProjectKind,
    /// The folder to create; it may exist when it is empty.
    pub folder: &'a Path,
}

/// Writes the folder, and returns the files that an author should look at, relative to it.
///
/// # Errors
/// When the folder is not empty or a file cannot be written.
pub fn new_project(request: NewProject<'_>) -> Result<Vec<PathBuf>, NewProjectError> {
    let NewProject { name, kind, folder } = request;
    let occupied =
        folder.exists() && !std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if occupied {
        return Err(NewProjectError::NotEmpty(folder.to_owned()));
    }
    let package = if RESERVED.contains(&name.as_str()) {
        format!("{name}-plugin")
    } else {
        name.to_string()
    };
    let mut written = Vec::new();
    for (path, bytes) in embedded::TEMPLATES {
        let Some(path) = path.strip_prefix(kind.template()) else {
            continue;
        };
        // The templates are named so that neither cargo nor git treats them as files of this repository.
        let path = match path {
            "Cargo.toml.template" => "Cargo.toml",
            "gitignore.template" => ".gitignore",
            other => other.strip_suffix(".template").unwrap_or(other),
        };
        let text = String::from_utf8_lossy(bytes)
            .replace("@NAME@", name.as_str())
            .replace("@PACKAGE@", &package);
        sdk::write(&folder.join(path), text.as_bytes())?;
        written.push(PathBuf::from(path));
    }
    // The versions that this host was tested with. Cargo drops what the project does not use.
    for (path, bytes) in embedded::LOCK {
        sdk::write(&folder.join(path), bytes)?;
    }
    sdk::unpack(folder, &mut |_| {})?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create(name: &str, folder: &Path) -> Result<Vec<PathBuf>, NewProjectError> {
        new_project(NewProject {
            name: &PluginName::parse(name).unwrap(),
            kind: ProjectKind::Tool,
            folder,
        })
    }

    #[test]
    fn a_project_has_what_an_author_needs_and_no_placeholder() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("hello");
        create("hello", &folder).unwrap();
        for file in [
            "Cargo.toml",
            "Cargo.lock",
            "plugin.toml",
            "src/lib.rs",
            "README.md",
            ".gitignore",
            ".mizzen/kit/sdk/Cargo.toml",
        ] {
            let text = std::fs::read_to_string(folder.join(file)).unwrap();
            assert!(!text.contains("@NAME@") && !text.contains("@PACKAGE@"), "{file}");
        }
        let manifest = std::fs::read_to_string(folder.join("plugin.toml")).unwrap();
        mizzen_model::manifest::Manifest::parse(&manifest).unwrap();
    }

    #[test]
    fn a_folder_with_something_in_it_is_refused_and_left_alone() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("mine"), "x").unwrap();
        assert!(matches!(
            create("hello", root.path()),
            Err(NewProjectError::NotEmpty(_))
        ));
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 1);
        assert!(matches!(
            create("hello", &root.path().join("mine")),
            Err(NewProjectError::NotEmpty(_))
        ));
    }

    #[test]
    fn a_name_that_cargo_refuses_gets_a_package_name_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("test");
        create("test", &folder).unwrap();
        assert!(
            std::fs::read_to_string(folder.join("Cargo.toml"))
                .unwrap()
                .contains("name = \"test-plugin\"")
        );
        assert!(
            std::fs::read_to_string(folder.join("plugin.toml"))
                .unwrap()
                .contains("name = \"test\"")
        );
    }

    #[test]
    fn the_example_of_the_tutorial_is_what_a_new_project_holds() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("hello");
        create("hello", &folder).unwrap();
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hello-plugin");
        for file in ["src/lib.rs", "plugin.toml"] {
            let read = |folder: &Path| std::fs::read_to_string(folder.join(file)).unwrap();
            assert_eq!(read(&folder), read(&example), "{file}");
        }
    }
}
