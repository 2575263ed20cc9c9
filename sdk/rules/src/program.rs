//! A whole rule file.

use crate::budget::Room;
use crate::error::RuleError;
use crate::expression::Scope;
use crate::network::Network;
use crate::reader::{Form, FormKind, TextLimits, read};
use crate::rule::{self, NewFact, Rule};
use crate::shared::Lasting;
use crate::template::{self, Template};
use crate::value::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Templates by name.
pub(crate) type Templates = BTreeMap<Arc<str>, Lasting<Template>>;

/// Most constructs in a file.
const CONSTRUCTS: usize = 1000;
/// Most mistakes that are reported together.
const MOST_MISTAKES: usize = 50;

/// At least one mistake.
struct Mistakes {
    first: RuleError,
    others: Vec<RuleError>,
}

impl Mistakes {
    /// Adds one, and returns how many there are.
    fn add(mistakes: &mut Option<Self>, mistake: RuleError) -> usize {
        match mistakes {
            None => *mistakes = Some(mistake.into()),
            Some(mistakes) => mistakes.others.push(mistake),
        }
        mistakes.as_ref().map_or(0, |mistakes| mistakes.others.len() + 1)
    }

    fn all(self) -> Vec<RuleError> {
        std::iter::once(self.first).chain(self.others).collect()
    }
}

impl From<RuleError> for Mistakes {
    fn from(first: RuleError) -> Self {
        Self {
            first,
            others: Vec::new(),
        }
    }
}

/// Whether a form has a list that begins with this name.
fn mentions(form: &Form, name: &str) -> bool {
    let mut open = vec![form];
    while let Some(form) = open.pop() {
        if form.head() == Some(name) {
            return true;
        }
        open.extend(form.list().unwrap_or_default());
    }
    false
}

/// A parsed rule file: templates, initial facts and rules.
#[derive(Debug, Clone, Default)]
pub struct Program {
    pub(crate) templates: Templates,
    pub(crate) facts: Vec<NewFact>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) network: Network,
}

impl Program {
    /// Reads a rule file. The first mistake is returned, with its place and what to write instead.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        Self::parse_with(text, std::iter::empty())
    }

    /// Reads a rule file in which the host's templates exist already; a file that defines one of them anew is refused.
    pub fn parse_with(
        text: &str,
        host: impl IntoIterator<Item = Lasting<Template>>,
    ) -> Result<Self, RuleError> {
        Self::read(text, host, 1).map_err(|mistakes| mistakes.first)
    }

    /// The same, with the first mistake of every construct.
    ///
    /// # Errors
    /// With at least one mistake, in the order of the file.
    pub fn parse_all(
        text: &str,
        host: impl IntoIterator<Item = Lasting<Template>>,
    ) -> Result<Self, Vec<RuleError>> {
        Self::read(text, host, MOST_MISTAKES).map_err(Mistakes::all)
    }

    fn read(
        text: &str,
        host: impl IntoIterator<Item = Lasting<Template>>,
        most: usize,
    ) -> Result<Self, Mistakes> {
        let forms = read(text, TextLimits::FILE)?;
        let mut program = Self::default();
        program.templates.extend(
            host.into_iter()
                .map(|template| (Arc::from(template.name()), template)),
        );
        let room = Room::default();
        let mut mistakes: Option<Mistakes> = None;
        // Templates that could not be read: what is wrong with rules that use them may follow from that alone.
        let mut unread: Vec<&str> = Vec::new();
        for (at, form) in forms.iter().enumerate() {
            if at >= CONSTRUCTS {
                let mistake = RuleError::budget(
                    form.span,
                    format!("the file has more constructs than the budget of {CONSTRUCTS}"),
                )
                .hint("divide it into several packs");
                Mistakes::add(&mut mistakes, mistake);
                break;
            }
            if unread.iter().any(|name| mentions(form, name)) {
                continue;
            }
            if let Err(mistake) = program.construct(form, &room) {
                let name = form.list().and_then(|items| items.get(1)).and_then(Form::symbol);
                if form.head() == Some("deftemplate") {
                    unread.extend(name.filter(|name| !program.templates.contains_key(*name)));
                }
                if Mistakes::add(&mut mistakes, mistake) >= most {
                    break;
                }
            }
        }
        mistakes.map_or(Ok(program), Err)
    }

    fn construct(&mut self, form: &Form, room: &Room) -> Result<(), RuleError> {
        match form.head() {
            Some("deftemplate") => {
                let template = template::parse(form)?;
                let name = template.name();
                if name == "initial-fact" || self.templates.contains_key(name) {
                    return Err(
                        RuleError::refused(form.span, format!("the template {name} exists already"))
                            .hint("give this one another name, or use the one that is there"),
                    );
                }
                self.templates.insert(name.into(), Lasting::new(template));
            }
            Some("deffacts") => {
                let items = form.list().unwrap_or_default();
                if items.get(1).and_then(Form::symbol).is_none() {
                    return Err(
                        RuleError::refused(form.span, "deffacts need a name").hint("(deffacts start (a 1))")
                    );
                }
                let comment = matches!(
                    items.get(2).map(|item| &item.kind),
                    Some(FormKind::Atom(Value::String(_)))
                );
                for fact in items.iter().skip(2 + usize::from(comment)) {
                    self.facts
                        .push(rule::new_fact(fact, &self.templates, &Scope::within(room))?);
                }
            }
            Some("defrule") => {
                let rule = rule::parse(form, &self.templates, room)?;
                if self.rules.iter().any(|other| other.name == rule.name) {
                    return Err(RuleError::refused(
                        form.span,
                        format!("the rule {} is there twice", rule.name),
                    )
                    .hint("give this one another name"));
                }
                self.add(rule);
            }
            Some(other @ ("assert" | "retract" | "modify" | "bind")) => {
                return Err(RuleError::refused(
                    form.span,
                    format!("`{other}` has no place outside of a rule"),
                )
                .hint("(deffacts start (a 1)) for the first facts, (defrule name … => …) for later ones"));
            }
            Some(other) => {
                return Err(
                    RuleError::refused(form.span, format!("`{other}` is not in the rule language"))
                        .hint("a file has deftemplate, deffacts and defrule"),
                );
            }
            None => {
                return Err(
                    RuleError::refused(form.span, "a file has deftemplate, deffacts and defrule")
                        .hint("(defrule name (pattern) => (assert (fact)))"),
                );
            }
        }
        Ok(())
    }

    /// Adds a rule.
    pub(crate) fn add(&mut self, rule: Rule) {
        self.network.add(self.rules.len(), &rule);
        self.rules.push(rule);
    }

    /// Its templates.
    pub fn templates(&self) -> impl Iterator<Item = &Lasting<Template>> {
        self.templates.values()
    }

    /// The template of this name.
    #[must_use]
    pub fn template(&self, name: &str) -> Option<&Lasting<Template>> {
        self.templates.get(name)
    }

    /// The names of the facts that its patterns look at, each once.
    #[must_use]
    pub fn reads(&self) -> std::collections::BTreeSet<&str> {
        let mut names = std::collections::BTreeSet::new();
        let branches = self.rules.iter().flat_map(|rule| &rule.branches);
        // Groups nest as deep as the text, which the reader bounds.
        let mut open: Vec<&rule::Joint> = branches.flat_map(|branch| &branch.joints).collect();
        while let Some(joint) = open.pop() {
            match &joint.right {
                rule::Right::Nothing => {}
                rule::Right::Pattern(pattern) => {
                    names.insert(&*pattern.name);
                }
                rule::Right::Group(inner) => open.extend(inner),
            }
        }
        names
    }

    /// The names of its rules, in order.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| &*rule.name)
    }
}
