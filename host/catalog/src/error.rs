//! Why a plugin, or a set of plugins, was not loaded: a stable code, the stage, the plugin, and what to do.

use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};

macro_rules! kebab_codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// As programs match it; it never changes.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

kebab_codes! {
    /// The stages of loading, in their order. Nothing is instantiated before `describe`.
    Stage {
        /// The file is read and taken apart.
        Read = "read",
        /// `plugin.toml` is read.
        Manifest = "manifest",
        /// The host supports the version of the contract.
        ApiVersion = "api-version",
        /// Every signature holds.
        Signature = "signature",
        /// The keys may sign for the namespaces.
        Trust = "trust",
        /// No two plugins claim one namespace.
        Namespaces = "namespaces",
        /// No two plugins state one order.
        Order = "order",
        /// Every import is covered by a declared and granted permission.
        Imports = "imports",
        /// The exports are those that the manifest declares.
        Provides = "provides",
        /// The component is compiled.
        Compile = "compile",
        /// The plugin describes what it has.
        Describe = "describe",
        /// What it describes is entered.
        Register = "register",
    }
}

kebab_codes! {
    /// The kinds of problems.
    LoadCode {
        /// A file or folder cannot be read.
        Unreadable = "unreadable",
        /// The file is not a package.
        Package = "package",
        /// The manifest has problems.
        Manifest = "manifest",
        /// The plugin is for another version of the contract.
        ApiVersion = "api-version",
        /// There is no signature, or one does not hold.
        Signature = "signature",
        /// No key that signed may sign for a namespace.
        UntrustedKey = "untrusted-key",
        /// A key that signed has been revoked.
        RevokedKey = "revoked-key",
        /// The package itself has been revoked.
        RevokedDigest = "revoked-digest",
        /// The key that signed is no longer, or not yet, valid.
        ExpiredKey = "expired-key",
        /// The namespace was first seen with another key.
        KeyChanged = "key-changed",
        /// Fewer keys signed than the namespace needs.
        TooFewSignatures = "too-few-signatures",
        /// The same version of a plugin is there twice.
        DuplicatePlugin = "duplicate-plugin",
        /// Two plugins claim a namespace.
        NamespaceConflict = "namespace-conflict",
        /// Two plugins state the same order.
        OrderCollision = "order-collision",
        /// An import is not covered by a declared permission.
        ImportNotPermitted = "import-not-permitted",
        /// An import's permission is declared, but not granted by the operator.
        PermissionNotGranted = "permission-not-granted",
        /// An upgrade asks for more than the running version, without approval.
        ApprovalNeeded = "approval-needed",
        /// The component's structure cannot be read.
        Component = "component",
        /// The exports are not what `provides` declares.
        ProvidesMismatch = "provides-mismatch",
        /// The default version that was chosen is not installed.
        DefaultNotInstalled = "default-not-installed",
        /// The operator's settings do not fit the plugin's schema, or the schema itself is refused.
        ConfigInvalid = "config-invalid",
        /// The component does not compile.
        CompileFailed = "compile-failed",
        /// The plugin could not describe itself.
        DescribeFailed = "describe-failed",
        /// A descriptor is not valid.
        DescriptorInvalid = "descriptor-invalid",
        /// Something described is outside of the claimed namespaces.
        OutsideNamespace = "outside-namespace",
        /// Two plugins, or one plugin twice, describe the same id.
        DuplicateTool = "duplicate-tool",
        /// A tool asks for more than its plugin declares.
        ToolPermission = "tool-permission",
        /// A tool claims weaker side effects than follow from its permissions.
        SideEffectsUnderstated = "side-effects-understated",
        /// A tool's schema is refused.
        SchemaRefused = "schema-refused",
        /// `mizzen.toml` mounts a pack that the set does not have, or not one that fits.
        PackUnmountable = "pack-unmountable",
    }
}

/// One problem of one plugin, or of the set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
pub struct PluginLoadError {
    /// The kind, stable for programs.
    pub code: LoadCode,
    /// Where in the loading it was found.
    pub stage: Stage,
    /// The plugin as `name@version`, when that much is known.
    pub plugin: Option<String>,
    /// The file, when there is one.
    pub file: Option<PathBuf>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl fmt::Display for PluginLoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whom = match (&self.plugin, &self.file) {
            (Some(plugin), Some(file)) => format!("{plugin} ({})", file.display()),
            (Some(plugin), None) => plugin.clone(),
            (None, Some(file)) => file.display().to_string(),
            (None, None) => "the plugin set".to_owned(),
        };
        write!(
            f,
            "{whom}: {}: {} [{}]\n  help: {}",
            self.stage,
            self.message,
            self.code,
            self.help.replace('\n', "\n        ")
        )
    }
}

/// The plugin that a problem concerns; makes the errors of one plugin.
#[derive(Debug, Clone, Default)]
pub(crate) struct Subject {
    pub(crate) plugin: Option<String>,
    pub(crate) file: Option<PathBuf>,
}

impl Subject {
    pub(crate) fn of_file(file: &Path) -> Self {
        Self {
            plugin: None,
            file: Some(file.to_owned()),
        }
    }

    pub(crate) fn error(
        &self,
        stage: Stage,
        code: LoadCode,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> PluginLoadError {
        PluginLoadError {
            code,
            stage,
            plugin: self.plugin.clone(),
            file: self.file.clone(),
            message: message.into(),
            help: help.into(),
        }
    }
}
