//! `deftemplate`: which slots a fact has, of which types, with which defaults and allowed values.

use crate::error::RuleError;
use crate::reader::{Form, FormKind};
use crate::shared::{Lasting, Text};
use crate::value::Value;
use std::sync::Arc;

/// What a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotType {
    /// `SYMBOL`.
    Symbol,
    /// `STRING`.
    String,
    /// `INTEGER`.
    Integer,
    /// `FLOAT`.
    Float,
}

impl SlotType {
    /// As it is written in a deftemplate.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Symbol => "SYMBOL",
            Self::String => "STRING",
            Self::Integer => "INTEGER",
            Self::Float => "FLOAT",
        }
    }
}

/// What a slot has when nobody says.
#[derive(Debug, Clone, PartialEq)]
enum Default {
    /// `?NONE`: it must be said.
    Required,
    /// A value of its own, or the one that follows from its types.
    Value(Value),
}

/// A slot of a template.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    name: Arc<str>,
    multiple: bool,
    /// Empty means any.
    types: Vec<SlotType>,
    /// Empty means any.
    allowed: Vec<Value>,
    range: Option<(f64, f64)>,
    default: Default,
    /// A derived default may be one that the slot does not take: then every fact must say it.
    default_fits: bool,
    /// It takes every value of this type, one at a time, and nothing else.
    plain: Option<SlotType>,
    /// Everything that is allowed fits in every other way.
    allowed_fits: bool,
}

impl Slot {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it holds several values.
    #[must_use]
    pub fn is_multislot(&self) -> bool {
        self.multiple
    }

    /// The types it takes; none means any.
    #[must_use]
    pub fn types(&self) -> &[SlotType] {
        &self.types
    }

    /// The values it takes; none means any of its types.
    #[must_use]
    pub fn allowed(&self) -> &[Value] {
        &self.allowed
    }

    /// The type of which it takes every value, one at a time, where that is all there is to say about it.
    pub(crate) fn plain(&self) -> Option<SlotType> {
        self.plain
    }

    /// The allowed symbol of this name, where nothing else has to be looked at.
    pub(crate) fn allowed_symbol(&self, name: &str) -> Option<&Value> {
        let is_it = |value: &&Value| matches!(value, Value::Symbol(known) if **known == *name);
        self.allowed.iter().filter(|_| self.allowed_fits).find(is_it)
    }

    /// Whether the value fits; if not, why.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        if self.multiple {
            let Value::Multifield(values) = value else {
                return Err(format!("slot {} holds several values", self.name));
            };
            return values.iter().try_for_each(|value| self.check_one(value));
        }
        self.check_one(value)
    }

    /// What it takes, for a person.
    pub(crate) fn takes(&self) -> String {
        if !self.allowed.is_empty() {
            // Enough to find the word that was meant.
            let shown: Vec<String> = self.allowed.iter().take(20).map(Value::to_string).collect();
            return format!("it takes {}", shown.join(", "));
        }
        let names: Vec<&str> = self.types.iter().map(|kind| kind.name()).collect();
        let kinds = match names.is_empty() {
            true => "any value".to_owned(),
            false => names.join(" or "),
        };
        match self.range {
            None => format!("it takes {kinds}"),
            Some((low, high)) => format!("it takes {kinds} from {low} to {high}"),
        }
    }

    pub(crate) fn check_one(&self, value: &Value) -> Result<(), String> {
        let kind = match value {
            Value::Symbol(_) => Some(SlotType::Symbol),
            Value::String(_) => Some(SlotType::String),
            Value::Integer(_) => Some(SlotType::Integer),
            Value::Float(_) => Some(SlotType::Float),
            Value::Multifield(_) => return Err(format!("slot {} holds one value", self.name)),
            Value::Fact(_) => None,
        };
        if !self.types.is_empty() && !kind.is_some_and(|kind| self.types.contains(&kind)) {
            return Err(format!(
                "slot {} does not take {} ({value})",
                self.name,
                value.kind()
            ));
        }
        if !self.allowed.is_empty() && !self.allowed.contains(value) {
            return Err(format!("slot {} does not take {value}", self.name));
        }
        let number = match value {
            Value::Integer(value) => Some(*value as f64),
            Value::Float(value) => Some(*value),
            _ => None,
        };
        match (self.range, number) {
            (Some((low, high)), Some(number)) if number < low || number > high => {
                Err(format!("slot {} does not take {value}", self.name))
            }
            _ => Ok(()),
        }
    }

    /// The default, if there is one and the slot takes it.
    pub(crate) fn fitting_default(&self) -> Option<&Value> {
        match &self.default {
            Default::Value(value) if self.default_fits => Some(value),
            _ => None,
        }
    }

    pub(crate) fn default_value(&self) -> Option<Value> {
        match &self.default {
            Default::Required => None,
            Default::Value(value) => Some(value.clone()),
        }
    }
}

/// A template.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    name: Lasting<str>,
    slots: Vec<Slot>,
}

impl Template {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn shared_name(&self) -> Lasting<str> {
        self.name.clone()
    }

    /// Its slots, in order.
    #[must_use]
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The same, of whoever goes through them in their order: the next one is looked at first.
    pub(crate) fn slot_after(&self, next: usize, name: &str) -> Option<(usize, &Slot)> {
        let rest = self.slots.get(next..).unwrap_or_default();
        let found = rest.iter().position(|slot| *slot.name == *name);
        match found.and_then(|place| rest.get(place).map(|slot| (next + place, slot))) {
            None => self.slot(name),
            found => found,
        }
    }

    pub(crate) fn slot(&self, name: &str) -> Option<(usize, &Slot)> {
        let first = name.as_bytes().first();
        self.slots
            .iter()
            .enumerate()
            // Most names differ in their length or first letter, and that is cheaper to see.
            .find(|(_, slot)| slot.name.as_bytes().first() == first && &*slot.name == name)
    }
}

/// Reads `(deftemplate name "comment" (slot …) …)`.
pub(crate) fn parse(form: &Form) -> Result<Template, RuleError> {
    let items = form.list().unwrap_or_default();
    let mut items = items.iter().skip(1);
    let name = items.next().and_then(Form::symbol).ok_or_else(|| {
        RuleError::refused(form.span, "a deftemplate needs a name").hint("(deftemplate name (slot a))")
    })?;
    let mut slots: Vec<Slot> = Vec::new();
    for (at, item) in items.enumerate() {
        if at == 0 && matches!(item.kind, FormKind::Atom(Value::String(_))) {
            continue;
        }
        let slot = parse_slot(item)?;
        if slots.iter().any(|other| other.name == slot.name) {
            return Err(
                RuleError::refused(item.span, format!("slot {} is there twice", slot.name))
                    .hint("give this one another name"),
            );
        }
        if slots.len() >= 64 {
            return Err(
                RuleError::budget(item.span, "the template has more slots than the budget of 64")
                    .hint("divide it into several templates"),
            );
        }
        slots.push(slot);
    }
    Ok(Template {
        name: name.into(),
        slots,
    })
}

fn parse_slot(form: &Form) -> Result<Slot, RuleError> {
    let multiple = match form.head() {
        Some("slot" | "field") => false,
        Some("multislot" | "multifield") => true,
        _ => {
            return Err(RuleError::refused(form.span, "a template consists of slots")
                .hint("write (slot name) or (multislot name)"));
        }
    };
    let items = form.list().unwrap_or_default();
    let name = items
        .get(1)
        .and_then(Form::symbol)
        .ok_or_else(|| RuleError::refused(form.span, "a slot needs a name").hint("(slot name)"))?;
    let mut slot = Slot {
        name: name.into(),
        multiple,
        types: Vec::new(),
        allowed: Vec::new(),
        range: None,
        default: Default::Value(Value::Symbol(Text::lasting("nil"))),
        default_fits: false,
        plain: None,
        allowed_fits: false,
    };
    let mut default: Option<&Form> = None;
    for attribute in items.iter().skip(2) {
        let values = attribute.list().unwrap_or_default().get(1..).unwrap_or_default();
        match attribute.head() {
            Some("type") => slot.types = types(values)?,
            Some("default") => default = Some(attribute),
            Some(
                "allowed-values" | "allowed-symbols" | "allowed-strings" | "allowed-lexemes"
                | "allowed-integers" | "allowed-floats" | "allowed-numbers",
            ) => slot.allowed = constants(values)?,
            Some("range") => slot.range = Some(range(attribute, values)?),
            Some(other) => {
                return Err(RuleError::refused(
                    attribute.span,
                    format!("`{other}` is not an attribute of a slot here"),
                )
                .hint(
                    "there are type, default, allowed-values, allowed-symbols, allowed-strings and range",
                ));
            }
            None => {
                return Err(
                    RuleError::refused(attribute.span, "a slot has attributes in parentheses")
                        .hint("such as (type INTEGER) or (default 0)"),
                );
            }
        }
    }
    slot.plain = match slot.types.as_slice() {
        [only] if !slot.multiple && slot.allowed.is_empty() && slot.range.is_none() => Some(*only),
        _ => None,
    };
    slot.allowed_fits = !slot.multiple && slot.allowed.iter().all(|value| slot.check(value).is_ok());
    slot.default = match default {
        Some(attribute) => explicit_default(&slot, attribute)?,
        None => Default::Value(derived(&slot)),
    };
    if let Default::Value(value) = &slot.default {
        match slot.check(value) {
            Ok(()) => slot.default_fits = true,
            Err(message) if default.is_some() => {
                return Err(
                    RuleError::refused(form.span, format!("the default does not fit: {message}"))
                        .hint(slot.takes()),
                );
            }
            Err(_) => {}
        }
    }
    Ok(slot)
}

fn explicit_default(slot: &Slot, attribute: &Form) -> Result<Default, RuleError> {
    let values = attribute.list().unwrap_or_default().get(1..).unwrap_or_default();
    if let [
        Form {
            kind: FormKind::Single(Some(name)),
            span,
        },
    ] = values
    {
        return match &**name {
            "NONE" => Ok(Default::Required),
            "DERIVE" => Ok(Default::Value(derived(slot))),
            _ => Err(
                RuleError::refused(*span, "a default is a constant, ?NONE or ?DERIVE")
                    .hint("(default 0); with (default ?NONE) whoever asserts the fact must say it"),
            ),
        };
    }
    let values = constants(values)?;
    if slot.multiple {
        return Ok(Default::Value(Value::Multifield(values.into())));
    }
    match <[Value; 1]>::try_from(values) {
        Ok([value]) => Ok(Default::Value(value)),
        Err(_) => Err(RuleError::refused(attribute.span, "a slot has one default value")
            .hint("(default value), or a multislot")),
    }
}

/// As CLIPS derives it: the first allowed value, else by the first type.
fn derived(slot: &Slot) -> Value {
    if slot.multiple {
        return Value::Multifield(Arc::from([]));
    }
    if let Some(first) = slot.allowed.first() {
        return first.clone();
    }
    match slot.types.first() {
        None | Some(SlotType::Symbol) => Value::Symbol(Text::lasting("nil")),
        Some(SlotType::String) => Value::String(Text::lasting("")),
        Some(SlotType::Integer) => Value::Integer(0),
        Some(SlotType::Float) => Value::Float(0.0),
    }
}

fn types(forms: &[Form]) -> Result<Vec<SlotType>, RuleError> {
    let mut types = Vec::new();
    for form in forms {
        match (form.symbol(), &form.kind) {
            (Some("SYMBOL"), _) => types.push(SlotType::Symbol),
            (Some("STRING"), _) => types.push(SlotType::String),
            (Some("LEXEME"), _) => types.extend([SlotType::Symbol, SlotType::String]),
            (Some("INTEGER"), _) => types.push(SlotType::Integer),
            (Some("FLOAT"), _) => types.push(SlotType::Float),
            (Some("NUMBER"), _) => types.extend([SlotType::Integer, SlotType::Float]),
            (_, FormKind::Single(Some(name))) if &**name == "VARIABLE" => return Ok(Vec::new()),
            _ => {
                return Err(RuleError::refused(form.span, "this is not a type")
                    .hint("SYMBOL, STRING, LEXEME, INTEGER, FLOAT, NUMBER or ?VARIABLE"));
            }
        }
    }
    Ok(types)
}

fn constants(forms: &[Form]) -> Result<Vec<Value>, RuleError> {
    forms
        .iter()
        .map(|form| match &form.kind {
            FormKind::Atom(value) => Ok(value.clone()),
            _ => Err(RuleError::refused(form.span, "a constant is expected here")
                .hint("a symbol, a string or a number")),
        })
        .collect()
}

fn range(attribute: &Form, forms: &[Form]) -> Result<(f64, f64), RuleError> {
    let bound = |form: &Form, open: f64| match &form.kind {
        FormKind::Atom(Value::Integer(value)) => Some(*value as f64),
        FormKind::Atom(Value::Float(value)) => Some(*value),
        FormKind::Single(Some(name)) if &**name == "VARIABLE" => Some(open),
        _ => None,
    };
    match forms {
        [low, high] => bound(low, f64::NEG_INFINITY).zip(bound(high, f64::INFINITY)),
        _ => None,
    }
    .ok_or_else(|| RuleError::refused(attribute.span, "a range has two numbers").hint("(range 0 10)"))
}
