//! A rule file as a pack: facts of the host's vocabulary in, decisions out.
//!
//! Rules conclude by asserting facts of the template `decision`; those that are there when nothing fires any more are the
//! verdict, in the order in which they were asserted. Templates of the file are private: facts of them are not taken from
//! outside, and leave only when they are shared, under `ID::TEMPLATE`.

mod reach;
mod verdict;

pub use reach::Occasion;
pub use verdict::{Decision, Verdict};

use crate::json::{FactsError, read_facts};
use crate::rule::Action;
use crate::shared::Lasting;
use crate::{
    Budget, Explanation, Fact, FactId, Firing, Program, Report, RuleError, RunError, Session, Template,
};

/// The template of what rules conclude.
const DECISION: &str = include_str!("pack/decision.clp");

/// Most facts that are taken from outside.
const MOST_FACTS: usize = 100_000;

/// What a rule file needs around it to be a pack.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The pack's id.
    pub id: &'a str,
    /// The rule file.
    pub rules: &'a str,
    /// The host's templates, in the rule language.
    pub vocabulary: &'a str,
    /// The file's templates whose facts others may see.
    pub shares: &'a [String],
}

/// A parsed pack.
#[derive(Debug)]
pub struct Ruleset {
    id: String,
    program: Program,
    own: Vec<String>,
    shares: Vec<String>,
}

/// Why an evaluation has no verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// A budget is spent, an action failed, or a fact does not fit.
    Run(RunError),
    /// A test could not be evaluated. What it would have said is not known, so nothing is.
    Tests(Vec<String>),
    /// The facts are not what they should be.
    Facts(String),
    /// A decision does not hold together.
    Decision(String),
}

impl Failure {
    /// A stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Run(error) => error.code(),
            Self::Facts(_) => "BAD_FACTS",
            Self::Tests(_) => "TEST_FAILED",
            Self::Decision(_) => "BAD_DECISION",
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Run(error) => write!(f, "{error}"),
            Self::Tests(errors) => {
                let shown: Vec<&str> = errors.iter().take(5).map(String::as_str).collect();
                write!(f, "a test could not be evaluated: {}", shown.join("; "))
            }
            Self::Facts(problem) | Self::Decision(problem) => f.write_str(problem),
        }
    }
}

impl std::error::Error for Failure {}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

/// Facts from outside, as far as the rules look at them: each with its place in what was given.
pub type Given = Vec<(usize, Fact)>;

/// The templates that exist already: the host's, and that of decisions.
fn around(vocabulary: &str) -> Result<Vec<Lasting<Template>>, RuleError> {
    let (host, decision) = (Program::parse(vocabulary)?, Program::parse(DECISION)?);
    Ok(host.templates().chain(decision.templates()).cloned().collect())
}

impl Ruleset {
    /// Parses a pack.
    ///
    /// # Errors
    /// With the first mistake of the rule file. A mistake in the vocabulary is reported the same way; it is not the author's.
    pub fn parse(source: Source<'_>) -> Result<Self, RuleError> {
        let templates = around(source.vocabulary)?;
        let program = Program::parse_with(source.rules, templates.iter().cloned())?;
        Self::of(source, program, &templates)
    }

    /// The same, with the first mistake of every construct.
    ///
    /// # Errors
    /// With at least one mistake, in the order of the file.
    pub fn parse_all(source: Source<'_>) -> Result<Self, Vec<RuleError>> {
        let templates = around(source.vocabulary).map_err(|mistake| vec![mistake])?;
        let program = Program::parse_all(source.rules, templates.iter().cloned())?;
        Self::of(source, program, &templates).map_err(|mistake| vec![mistake])
    }

    fn of(source: Source<'_>, program: Program, templates: &[Lasting<Template>]) -> Result<Self, RuleError> {
        let mut own = Vec::new();
        for template in program.templates() {
            let name = template.name();
            if templates.iter().any(|host| host.name() == name) {
                continue;
            }
            match name.split_once("::") {
                // A template of another pack, as this one wants to read it.
                Some((owner, _)) if owner != source.id => {}
                Some(_) => {
                    return Err(RuleError::whole(
                        format!("the template {name} is the pack's own"),
                        "define it without the pack's id; the host puts it in front when the template is shared",
                    ));
                }
                None => own.push(name.to_owned()),
            }
        }
        if let Some(unknown) = source.shares.iter().find(|name| !own.contains(name)) {
            return Err(RuleError::whole(
                format!("the pack shares {unknown}, and the rule file has no such template"),
                format!("add (deftemplate {unknown} …), or take it out of `shares` in pack.toml"),
            ));
        }
        Ok(Self {
            id: source.id.to_owned(),
            program,
            own,
            shares: source.shares.to_vec(),
        })
    }

    /// The program, with the host's templates.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The templates that the file defines for itself.
    #[must_use]
    pub fn own_templates(&self) -> &[String] {
        &self.own
    }

    /// The facts that the rules look at and that come from outside.
    #[must_use]
    pub fn reads(&self) -> Vec<String> {
        let outside = |name: &&str| {
            *name != "decision" && *name != "initial-fact" && !self.own.iter().any(|own| own == name)
        };
        let reads = self.program.reads();
        reads
            .into_iter()
            .filter(outside)
            .filter(|name| self.program.template(name).is_some())
            .map(str::to_owned)
            .collect()
    }

    /// The patterns of redactions that stand in the rules as they are, each with its rule: whoever carries redactions out can say
    /// beforehand whether they can be.
    pub fn redaction_patterns(&self) -> impl Iterator<Item = (&str, &str)> {
        let rules = self.program.rules.iter();
        let branches = rules.flat_map(|rule| rule.branches.iter().map(move |branch| (rule, branch)));
        let actions =
            branches.flat_map(|(rule, branch)| branch.actions.iter().map(move |action| (rule, action)));
        actions.filter_map(|(rule, action)| match action {
            Action::Assert(fact) => Some((&*rule.name, fact.literal("decision", "pattern")?)),
            _ => None,
        })
    }

    /// A session without facts. It can be made long before it is needed.
    ///
    /// # Errors
    /// When the file's own `deffacts` do not fit.
    pub fn session(&self) -> Result<Session<'_>, RunError> {
        Session::new(&self.program, Budget::default())
    }

    /// Reads facts from outside, the text of a JSON array: those that no pattern looks at are left out, and so are those of
    /// private templates.
    ///
    /// # Errors
    /// When it is no array of facts, or one does not fit its template.
    pub fn given(&self, facts: &str, session: &Session<'_>) -> Result<Given, Failure> {
        let is_wanted = |name: &str| !self.is_private(name) && session.looks_at(name);
        let given =
            read_facts(facts, &self.program, MOST_FACTS, &is_wanted).map_err(|error| match error {
                FactsError::Exhausted(exhausted) => Failure::Run(RunError::Exhausted(exhausted)),
                FactsError::Refused(problem) => Failure::Facts(problem),
            })?;
        Ok(given
            .into_iter()
            .filter(|(_, fact)| !self.is_private(fact.name()))
            .collect())
    }

    fn is_private(&self, name: &str) -> bool {
        name == "decision" || self.own.iter().any(|own| own == name)
    }

    /// Runs the rules over facts.
    ///
    /// # Errors
    /// Whenever what the rules say is not known for certain.
    pub fn evaluate(
        &self,
        session: &mut Session<'_>,
        given: Given,
        operations: u64,
    ) -> Result<Verdict, Failure> {
        let places = Self::fill(session, given, operations)?;
        session.settle()?;
        self.concluded(session.errors(), session.firings(), session.facts(), &places)
    }

    /// The same, and says of every rule that did not fire why.
    ///
    /// # Errors
    /// As [`Ruleset::evaluate`].
    pub fn explain(
        &self,
        session: &mut Session<'_>,
        given: Given,
        operations: u64,
    ) -> Result<(Verdict, Report, Vec<Explanation>), Failure> {
        let places = Self::fill(session, given, operations)?;
        let (report, why) = session.run_explained()?;
        let facts = report.facts.iter().map(|(id, fact)| (*id, fact));
        let verdict = self.concluded(&report.errors, &report.firings, facts, &places)?;
        Ok((verdict, report, why))
    }

    /// Asserts the facts; which of them has which place in what was given. Ids grow, so they are in order.
    fn fill(
        session: &mut Session<'_>,
        given: Given,
        operations: u64,
    ) -> Result<Vec<(FactId, usize)>, Failure> {
        session.refill(operations);
        let mut places = Vec::with_capacity(given.len());
        for (at, fact) in given {
            if let Some(id) = session.assert(fact)? {
                places.push((id, at));
            }
        }
        Ok(places)
    }

    fn concluded<'s>(
        &self,
        errors: &[String],
        firings: &[Firing],
        facts: impl Iterator<Item = (FactId, &'s Fact)>,
        places: &[(FactId, usize)],
    ) -> Result<Verdict, Failure> {
        if !errors.is_empty() {
            return Err(Failure::Tests(errors.to_vec()));
        }
        verdict::read(firings, facts, places, &self.id, &self.shares).map_err(Failure::Decision)
    }
}
