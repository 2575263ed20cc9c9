//! The packs of the running set, and one evaluation of one of them.

use super::{Loaded, Toolbox};
use mizzen_catalog::key::KeyId;
use mizzen_catalog::package::Digest;
use mizzen_catalog::register::RegisteredItem;
use mizzen_engine::pack::{PackFailure, Verdict};
use mizzen_engine::run::MomentFacts;
use mizzen_engine::{Permit, Usage};
use mizzen_model::manifest::{Manifest, Provides};
use mizzen_model::pack::{Moment, PackDescriptor};
use mizzen_sandbox::{CallablePlugin, Evaluation};
use semver::{Version, VersionReq};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

/// A pack that can be asked: nothing is left to compile or look up.
pub struct InstalledPack {
    plugin: CallablePlugin,
    descriptor: Arc<PackDescriptor>,
    /// The same for all of its evaluations.
    permit: Permit,
    /// The operator's settings as facts, JSON text with a comma after each.
    settings: String,
}

/// On what terms a pack is asked about a moment of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MomentTerms {
    /// Match operations that it may spend.
    pub(crate) budget: u64,
    /// When its time is up.
    pub(crate) deadline: Option<Instant>,
    /// How many guests of the run wait for the answer.
    pub(crate) level: usize,
}

impl std::fmt::Debug for InstalledPack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InstalledPack")
            .field("id", &self.id())
            .field("version", self.version())
            .finish_non_exhaustive()
    }
}

impl InstalledPack {
    pub(super) fn new(item: &RegisteredItem, plugin: CallablePlugin, settings: Option<&str>) -> Option<Self> {
        let descriptor = Arc::clone(item.pack.as_ref()?);
        Some(Self {
            permit: Permit::for_pack(plugin.verified(), descriptor.id()),
            plugin,
            descriptor,
            settings: setting_facts(settings),
        })
    }

    /// The pack's id.
    pub fn id(&self) -> &str {
        self.descriptor.id()
    }

    /// The pack's version.
    pub fn version(&self) -> &Version {
        self.descriptor.version()
    }

    /// The digest of the file that it came in.
    pub fn digest(&self) -> Digest {
        self.plugin.verified().digest()
    }

    /// The keys that signed the file.
    pub fn signers(&self) -> &[KeyId] {
        self.plugin.verified().signers()
    }

    /// What the pack says of itself.
    pub fn descriptor(&self) -> &Arc<PackDescriptor> {
        &self.descriptor
    }

    /// The manifest of the plugin that it came in.
    pub fn manifest(&self) -> &Manifest {
        self.plugin.verified().manifest()
    }

    /// Whether it wants to be asked now; asking it anyway is allowed and wasted.
    pub fn wants(&self, moment: Moment) -> bool {
        self.descriptor.wants(moment)
    }

    /// Asks for a verdict on facts (a JSON array, see `docs/facts.md`) within a budget of match operations, in a fresh sandbox.
    /// The operator's settings for the pack are added to the facts.
    ///
    /// # Errors
    /// Whenever there is no verdict that could be believed.
    pub async fn evaluate(
        &self,
        facts: &str,
        budget: u64,
        deadline: Option<Instant>,
    ) -> Result<Verdict, PackFailure> {
        let facts = with_settings(&self.settings, facts).ok_or_else(|| PackFailure::NotAsked {
            pack: self.id().to_owned(),
            problem: "the facts are not a JSON array".to_owned(),
        })?;
        let evaluation = Evaluation {
            facts,
            budget,
            deadline,
            level: 0,
        };
        self.judge(evaluation).await.0
    }

    /// The same for facts that are all there, settings included, and says what it used; nothing where nothing of the guest ran.
    pub async fn evaluate_measured(
        &self,
        facts: String,
        budget: u64,
    ) -> (Result<Verdict, PackFailure>, Option<Usage>) {
        self.judge(Evaluation {
            facts,
            budget,
            deadline: None,
            level: 0,
        })
        .await
    }

    /// Asks about a moment of a run. The pack is sent what it reads: the facts of those templates, among them what other packs
    /// share (JSON, each with a comma after it), and the run's ordered facts.
    ///
    /// # Errors
    /// Whenever there is no verdict that could be believed.
    pub(crate) async fn evaluate_moment(
        &self,
        facts: &MomentFacts,
        shared: &[(String, String)],
        terms: MomentTerms,
    ) -> Result<Verdict, PackFailure> {
        let reads = self.descriptor.reads();
        // One that does not say what it reads is sent everything.
        let is_read = |template: &str| reads.is_empty() || reads.iter().any(|read| read == template);
        let mut before = Cow::Borrowed(self.settings.as_str());
        for (template, fact) in shared {
            if is_read(template) {
                before.to_mut().push_str(fact);
                before.to_mut().push(',');
            }
        }
        let evaluation = Evaluation {
            facts: facts.select(&before, is_read),
            budget: terms.budget,
            deadline: terms.deadline,
            level: terms.level,
        };
        self.judge(evaluation).await.0
    }

    async fn judge(&self, evaluation: Evaluation) -> (Result<Verdict, PackFailure>, Option<Usage>) {
        let pack = || self.id().to_owned();
        let report = match self.plugin.evaluate(self.permit.clone(), evaluation).await {
            Ok(report) => report,
            Err(fault) => {
                let problem = fault.to_string();
                return (
                    Err(PackFailure::NotAsked {
                        pack: pack(),
                        problem,
                    }),
                    None,
                );
            }
        };
        for line in &report.log {
            tracing::debug!(pack = %self.id(), "{}", line.message);
        }
        let verdict = match report.answer {
            Err(outcome) => Err(PackFailure::Ended {
                pack: pack(),
                outcome,
            }),
            Ok(draft) => Verdict::check(draft, &self.descriptor).map_err(|problem| PackFailure::Nonsense {
                pack: pack(),
                problem,
            }),
        };
        (verdict, Some(report.usage))
    }
}

/// One `setting` fact for every member of the settings; a nested value is its JSON text.
fn setting_facts(settings: Option<&str>) -> String {
    let settings: Option<Value> = settings.and_then(|text| serde_json::from_str(text).ok());
    let members = settings.as_ref().and_then(Value::as_object);
    let mut facts = String::new();
    for (key, value) in members.into_iter().flatten() {
        let value = match value {
            Value::Array(_) | Value::Object(_) => Value::String(value.to_string()),
            plain => plain.clone(),
        };
        let fact = json!({"template": "setting", "slots": {"key": key, "value": value}});
        facts.push_str(&fact.to_string());
        facts.push(',');
    }
    facts
}

/// The settings in front of the facts. Text, not values: the facts are copied once and parsed by the guest alone.
fn with_settings(settings: &str, facts: &str) -> Option<String> {
    let facts = facts.trim_ascii();
    let inside = facts.strip_prefix('[')?.strip_suffix(']')?;
    let settings = match inside.trim_ascii().is_empty() {
        true => settings.trim_end_matches(','),
        false => settings,
    };
    let mut all = String::with_capacity(settings.len() + facts.len());
    all.push('[');
    all.push_str(settings);
    all.push_str(inside);
    all.push(']');
    Some(all)
}

impl Loaded {
    /// A pack of this set in a version that will do.
    pub fn pack(&self, id: &str, versions: &VersionReq) -> Option<Arc<InstalledPack>> {
        let item = self.registry.pack(id, versions)?;
        self.pack_of(item)
    }

    /// Every pack of this set, by id.
    pub fn packs(&self) -> impl Iterator<Item = Arc<InstalledPack>> {
        self.registry
            .items(Provides::Pack)
            .filter_map(|item| self.pack_of(item))
    }

    /// A pack of a file, by the file's digest and the pack's id.
    pub(crate) fn pack_at(&self, digest: &str, id: &str) -> Option<Arc<InstalledPack>> {
        let (_, pack) = self
            .packs
            .iter()
            .find(|((found, pack), _)| pack == id && found.to_string() == digest)?;
        Some(Arc::clone(pack))
    }

    fn pack_of(&self, item: &RegisteredItem) -> Option<Arc<InstalledPack>> {
        self.packs
            .get(&(item.plugin.digest(), item.id.clone()))
            .map(Arc::clone)
    }
}

impl Toolbox {
    /// A pack of the running set in a version that will do. Whoever holds it keeps it, whatever is loaded later.
    pub fn pack(&self, id: &str, versions: &VersionReq) -> Option<Arc<InstalledPack>> {
        self.loaded().pack(id, versions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_stand_in_front_of_the_facts() {
        let settings = setting_facts(Some(r#"{"limit": 3, "words": ["a"]}"#));
        let all = |facts: &str| -> Option<Vec<Value>> {
            serde_json::from_str(&with_settings(&settings, facts)?).ok()
        };
        let limit = json!({"template": "setting", "slots": {"key": "limit", "value": 3}});
        let words = json!({"template": "setting", "slots": {"key": "words", "value": "[\"a\"]"}});
        assert_eq!(all("[]"), Some(vec![limit.clone(), words.clone()]));
        assert_eq!(all(" [ ] "), Some(vec![limit.clone(), words.clone()]));
        assert_eq!(all(r#"["(a 1)"]"#), Some(vec![limit, words, json!("(a 1)")]));
        assert_eq!(all("{}"), None);
        assert_eq!(with_settings("", "[1]").as_deref(), Some("[1]"));
        assert_eq!(setting_facts(None), "");
    }
}
