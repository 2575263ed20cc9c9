//! Every record by its name, for callers that choose one at run time.

use super::dumps::{dumps, dumps_canonical, loads, read};
use super::error::ValidationError;
use super::record::{Record, SchemaBook};
use super::records::*;
use mizzen_json::{Json, Object, Tape};

macro_rules! records {
    ($($name:ident),* $(,)?) => {
        /// The name of a record.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum RecordName {
            $(
                #[doc = concat!("`", stringify!($name), "`")]
                $name,
            )*
        }

        /// A record of any kind.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum AnyRecord {
            $(
                #[doc = concat!("`", stringify!($name), "`")]
                $name(Box<$name>),
            )*
        }

        impl RecordName {
            /// Every record.
            pub const ALL: &'static [RecordName] = &[$(RecordName::$name),*];

            /// The name, as in the seed.
            pub fn as_str(self) -> &'static str {
                match self {
                    $( RecordName::$name => <$name as Record>::NAME, )*
                }
            }

            /// Reads a record of this kind.
            pub fn loads(self, text: &str) -> Result<AnyRecord, Vec<ValidationError>> {
                match self {
                    $( RecordName::$name => loads::<$name>(text).map(Box::new).map(AnyRecord::$name), )*
                }
            }

            /// Reads a record of this kind from a tape.
            pub fn read(self, tape: &Tape<'_>) -> Result<AnyRecord, Vec<ValidationError>> {
                match self {
                    $( RecordName::$name => read::<$name>(tape).map(Box::new).map(AnyRecord::$name), )*
                }
            }

            /// The JSON Schema 2020-12 of this kind.
            pub fn schema(self) -> Json {
                let identifier = format!("https://mizzen.dev/schema/ir/{}.json", self.as_str());
                match self {
                    $( RecordName::$name => SchemaBook::document::<$name>(&identifier, self.as_str()), )*
                }
            }
        }

        impl AnyRecord {
            /// As [`dumps`].
            pub fn dumps(&self) -> String {
                match self {
                    $( AnyRecord::$name(record) => dumps(record.as_ref()), )*
                }
            }

            /// As [`dumps_canonical`].
            pub fn dumps_canonical(&self) -> String {
                match self {
                    $( AnyRecord::$name(record) => dumps_canonical(record.as_ref()), )*
                }
            }
        }
    };
}

records!(
    IRDocument,
    NodeSpec,
    RuleSpec,
    Action,
    GotoAction,
    HaltAction,
    ParallelAction,
    RetryAction,
    AssertAction,
    RetractAction,
    InterruptAction,
    StoreRef,
    StoreSpec,
    ToolRef,
    ToolSpec,
    SkillRef,
    SkillSpec,
    PluginManifest,
    PackMount,
    PackRequires,
    ParallelBlock,
    MigrateBlock,
    FactTemplate,
    SlotDef,
);

impl RecordName {
    /// Why a text is no record of this kind.
    pub fn check(self, tape: &Tape<'_>) -> Vec<ValidationError> {
        self.read(tape).err().unwrap_or_default()
    }

    /// From the name; upper and lower case, `-` and `_` do not matter.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = |text: &str| text.replace(['-', '_'], "").to_ascii_lowercase();
        let wanted = plain(text);
        RecordName::ALL
            .iter()
            .copied()
            .find(|name| plain(name.as_str()) == wanted)
    }

    /// One schema document with the definitions of every record; its root is `IRDocument`.
    pub fn all_schemas() -> Json {
        let mut document = RecordName::IRDocument.schema();
        let mut definitions = Object::new();
        for name in RecordName::ALL {
            if let Some(more) = name.schema().get("$defs").and_then(Json::as_object) {
                for (key, value) in more
                    .iter()
                    .filter(|(key, _)| !definitions.contains_key(key))
                    .collect::<Vec<_>>()
                {
                    definitions.insert(key, value.clone());
                }
            }
        }
        if let Some(members) = document.as_object_mut() {
            members.insert("$defs", Json::Object(definitions));
        }
        document
    }
}
