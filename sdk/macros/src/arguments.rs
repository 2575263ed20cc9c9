//! The arguments of `#[tool(…)]`.

use crate::grammar;
use crate::json::Json;
use proc_macro2::{Ident, Span};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, LitBool, LitStr, Result, Token, parenthesized};

const KNOWN: &str = "name, namespace, version, description, side_effects, replay, permissions, example, tags, \
                     idempotency_key, cost_estimate, deprecated";

/// How a tool touches the world; the variants are those of the contract.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum SideEffects {
    None,
    Read,
    Write,
    External,
}

impl SideEffects {
    const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read => "read",
            Self::Write => "write",
            Self::External => "external",
        }
    }
}

/// What a replay does with a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Replay {
    MustStub,
    FailLoud,
    RecordedResult,
}

/// One `example(…)`.
pub(crate) struct Example {
    pub(crate) name: String,
    pub(crate) input: String,
    pub(crate) output: Option<String>,
}

/// Everything an author states about a tool beside its function.
pub(crate) struct Arguments {
    pub(crate) name: Option<(String, Span)>,
    pub(crate) namespace: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) side_effects: SideEffects,
    pub(crate) replay: Replay,
    pub(crate) permissions: Vec<String>,
    pub(crate) examples: Vec<Example>,
    pub(crate) tags: Vec<String>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) cost_estimate: Option<String>,
    pub(crate) deprecated: bool,
    /// Where the legacy `side_effects = true` or `false` stands, which the author is warned of.
    pub(crate) legacy: Option<Span>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut side_effects = None;
        let mut replay = None;
        let mut read = Arguments {
            name: None,
            namespace: None,
            version: None,
            description: None,
            side_effects: SideEffects::None,
            replay: Replay::RecordedResult,
            permissions: Vec::new(),
            examples: Vec::new(),
            tags: Vec::new(),
            idempotency_key: None,
            cost_estimate: None,
            deprecated: false,
            legacy: None,
        };
        let mut seen: Vec<String> = Vec::new();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            let word = key.to_string();
            if word != "example" && seen.contains(&word) {
                return Err(Error::new(key.span(), format!("`{word}` is given twice")));
            }
            match word.as_str() {
                "name" => {
                    let literal = text(input)?;
                    read.name = Some((literal.value(), literal.span()));
                }
                "namespace" => read.namespace = Some(grammar::namespace(&text(input)?)?),
                "version" => read.version = Some(grammar::version(&text(input)?)?),
                "description" => read.description = Some(text(input)?.value()),
                "side_effects" => {
                    let (effects, span, form) = parse_side_effects(input)?;
                    side_effects = Some((effects, span));
                    read.legacy = (form == Form::Legacy).then_some(span);
                }
                "replay" => replay = Some(parse_replay(&text(input)?)?),
                "permissions" => {
                    read.permissions = list(input)?
                        .iter()
                        .map(grammar::permission)
                        .collect::<Result<_>>()?;
                }
                "example" => read.examples.push(example(input)?),
                "tags" => read.tags = list(input)?.iter().map(LitStr::value).collect(),
                "idempotency_key" => read.idempotency_key = Some(text(input)?.value()),
                "cost_estimate" => read.cost_estimate = Some(grammar::decimal(&text(input)?)?),
                "deprecated" => read.deprecated = flag(input)?,
                _ => {
                    return Err(Error::new(
                        key.span(),
                        format!("unknown argument `{word}`; known are {KNOWN}"),
                    ));
                }
            }
            seen.push(word);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        read.side_effects = match side_effects {
            None => derived(&read.permissions),
            Some((stated, span)) => {
                at_least(&read.permissions, stated, span)?;
                stated
            }
        };
        // D19: what changes nothing may be answered from the record; what changes something must be stood in for.
        read.replay = replay.unwrap_or(match read.side_effects {
            SideEffects::None | SideEffects::Read => Replay::RecordedResult,
            SideEffects::Write | SideEffects::External => Replay::MustStub,
        });
        Ok(read)
    }
}

fn text(input: ParseStream<'_>) -> Result<LitStr> {
    input.parse::<Token![=]>()?;
    input.parse()
}

fn list(input: ParseStream<'_>) -> Result<Vec<LitStr>> {
    input.parse::<Token![=]>()?;
    let inner;
    syn::bracketed!(inner in input);
    Ok(Punctuated::<LitStr, Token![,]>::parse_terminated(&inner)?
        .into_iter()
        .collect())
}

fn flag(input: ParseStream<'_>) -> Result<bool> {
    if !input.peek(Token![=]) {
        return Ok(true);
    }
    input.parse::<Token![=]>()?;
    Ok(input.parse::<LitBool>()?.value)
}

fn example(input: ParseStream<'_>) -> Result<Example> {
    let inner;
    let parentheses = parenthesized!(inner in input);
    let (mut name, mut given, mut output) = (None, None, None);
    while !inner.is_empty() {
        let key: Ident = inner.parse()?;
        inner.parse::<Token![=]>()?;
        if key == "name" {
            name = Some(inner.parse::<LitStr>()?.value());
        } else if key == "input" {
            given = Some(inner.parse::<Json>()?.0);
        } else if key == "output" {
            output = Some(inner.parse::<Json>()?.0);
        } else {
            return Err(Error::new(
                key.span(),
                format!("unknown `{key}`; an example has name, input and output"),
            ));
        }
        if !inner.is_empty() {
            inner.parse::<Token![,]>()?;
        }
    }
    let missing = |what: &str| Error::new(parentheses.span.join(), format!("this example has no {what}"));
    Ok(Example {
        name: name.ok_or_else(|| missing("name = \"…\""))?,
        input: given.ok_or_else(|| missing("input = { … }"))?,
        output,
    })
}

/// What a permission lets a tool do, as the host judges it (D22); none where that depends on the tools it may call.
fn effects_of(permission: &str) -> Option<SideEffects> {
    let (name, scope) = permission.split_once(':').unwrap_or((permission, ""));
    match (name, scope) {
        ("tools", _) => None,
        ("secret", _) | ("kv", "read") => Some(SideEffects::Read),
        ("kv", _) => Some(SideEffects::Write),
        ("llm", _) => Some(SideEffects::External),
        ("net", scope) if scope.starts_with("GET@") || scope.starts_with("HEAD@") => Some(SideEffects::Read),
        ("net", _) => Some(SideEffects::External),
        (name, "read") if name.starts_with("db.") => Some(SideEffects::Read),
        (name, _) if name.starts_with("db.") => Some(SideEffects::Write),
        _ => Some(SideEffects::None),
    }
}

/// What follows from the permissions. Which tools a `tools` permission means is known to the host alone: the strongest effect
/// is the one that is never too weak.
fn derived(permissions: &[String]) -> SideEffects {
    let effects = permissions
        .iter()
        .map(|permission| effects_of(permission).unwrap_or(SideEffects::External));
    effects.max().unwrap_or(SideEffects::None)
}

/// A host refuses a tool that claims less than its permissions allow; the compiler says so sooner.
fn at_least(permissions: &[String], stated: SideEffects, span: Span) -> Result<()> {
    for permission in permissions {
        if let Some(least) = effects_of(permission).filter(|least| *least > stated) {
            let least = least.as_str();
            return Err(Error::new(
                span,
                format!(
                    "the permission `{permission}` is at least \"{least}\": write side_effects = \"{least}\", or leave it out \
                     and it follows from the permissions"
                ),
            ));
        }
    }
    Ok(())
}

/// How side effects were stated.
#[derive(PartialEq, Eq)]
enum Form {
    Current,
    Legacy,
}

fn parse_side_effects(input: ParseStream<'_>) -> Result<(SideEffects, Span, Form)> {
    input.parse::<Token![=]>()?;
    if input.peek(LitBool) {
        // As the host reads it in a descriptor document: true became write, false became none.
        let legacy: LitBool = input.parse()?;
        let effects = if legacy.value {
            SideEffects::Write
        } else {
            SideEffects::None
        };
        return Ok((effects, legacy.span, Form::Legacy));
    }
    let literal: LitStr = input.parse()?;
    let effects = match literal.value().as_str() {
        "none" => SideEffects::None,
        "read" => SideEffects::Read,
        "write" => SideEffects::Write,
        "external" => SideEffects::External,
        other => {
            return Err(Error::new(
                literal.span(),
                format!("`{other}` is not a side effect: one of \"none\", \"read\", \"write\", \"external\""),
            ));
        }
    };
    Ok((effects, literal.span(), Form::Current))
}

fn parse_replay(literal: &LitStr) -> Result<Replay> {
    // Both spellings are read everywhere (D19).
    match literal.value().replace('_', "-").as_str() {
        "must-stub" => Ok(Replay::MustStub),
        "fail-loud" => Ok(Replay::FailLoud),
        "recorded-result" => Ok(Replay::RecordedResult),
        other => Err(Error::new(
            literal.span(),
            format!(
                "`{other}` is not a replay policy: one of \"must-stub\", \"fail-loud\", \"recorded-result\""
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{Arguments, Replay, SideEffects};

    fn error(tokens: &str) -> String {
        syn::parse_str::<Arguments>(tokens)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn the_replay_policy_follows_the_side_effect_when_it_is_left_out() {
        for (side_effects, replay) in [
            ("none", Replay::RecordedResult),
            ("read", Replay::RecordedResult),
            ("write", Replay::MustStub),
            ("external", Replay::MustStub),
        ] {
            let read = syn::parse_str::<Arguments>(&format!("side_effects = \"{side_effects}\"")).unwrap();
            assert_eq!(read.replay, replay, "{side_effects}");
        }
        let stated = syn::parse_str::<Arguments>("side_effects = \"none\", replay = \"fail_loud\"").unwrap();
        assert_eq!(stated.replay, Replay::FailLoud);
    }

    #[test]
    fn side_effects_that_are_left_out_follow_from_the_permissions() {
        for (permissions, effects) in [
            ("", SideEffects::None),
            ("\"clock\", \"config\", \"random\"", SideEffects::None),
            ("\"kv:read\"", SideEffects::Read),
            ("\"db.notes:read\", \"secret:a\"", SideEffects::Read),
            ("\"net:GET@a.example\", \"net:HEAD@a.example\"", SideEffects::Read),
            ("\"kv:*\"", SideEffects::Write),
            ("\"db.notes:write\"", SideEffects::Write),
            ("\"kv:write\", \"net:a.example\"", SideEffects::External),
            ("\"net:*@a.example\"", SideEffects::External),
            ("\"llm:default\"", SideEffects::External),
            ("\"tools:acme.*\"", SideEffects::External),
        ] {
            let read = syn::parse_str::<Arguments>(&format!("permissions = [{permissions}]")).unwrap();
            assert_eq!(read.side_effects, effects, "{permissions}");
        }
        let stated = "side_effects = \"none\", permissions = [\"tools:acme.*\"]";
        let stated = syn::parse_str::<Arguments>(stated).unwrap();
        assert_eq!(
            stated.side_effects,
            SideEffects::None,
            "the host knows the callees"
        );
        let left_out = syn::parse_str::<Arguments>("").unwrap();
        assert_eq!(
            (left_out.side_effects, left_out.replay),
            (SideEffects::None, Replay::RecordedResult)
        );
    }

    #[test]
    fn the_legacy_flag_is_up_converted_and_remembered_for_its_warning() {
        for (flag, effects, replay) in [
            ("true", SideEffects::Write, Replay::MustStub),
            ("false", SideEffects::None, Replay::RecordedResult),
        ] {
            let read = syn::parse_str::<Arguments>(&format!("side_effects = {flag}")).unwrap();
            assert_eq!((read.side_effects, read.replay), (effects, replay));
            assert!(read.legacy.is_some());
        }
        let current = syn::parse_str::<Arguments>("side_effects = \"write\"").unwrap();
        assert!(current.legacy.is_none());
    }

    #[test]
    fn mistakes_are_named() {
        for (tokens, part) in [
            (
                "side_effects = \"none\", permissions = [\"kv:read\"]",
                "write side_effects = \"read\"",
            ),
            (
                "permissions = [\"net:GET@a.example\", \"kv:*\"], side_effects = \"read\"",
                "the permission `kv:*` is at least \"write\"",
            ),
            (
                "side_effects = false, permissions = [\"net:a.example\"]",
                "write side_effects = \"external\"",
            ),
            ("side_effects = \"some\"", "not a side effect"),
            (
                "side_effects = \"none\", replay = \"never\"",
                "not a replay policy",
            ),
            ("side_effect = \"none\"", "unknown argument `side_effect`"),
            ("side_effects = \"none\", side_effects = \"read\"", "given twice"),
            (
                "side_effects = \"none\", permissions = [\"Net\"]",
                "not a permission",
            ),
            (
                "side_effects = \"none\", permissions = [\"net:\"]",
                "not a permission",
            ),
            (
                "side_effects = \"none\", cost_estimate = \"1e3\"",
                "not an amount",
            ),
            (
                "side_effects = \"none\", version = \"1.0\"",
                "not a SemVer version",
            ),
            ("side_effects = \"none\", namespace = \"a..b\"", "not a namespace"),
            ("side_effects = \"none\", example(input = {})", "has no name"),
            ("side_effects = \"none\", example(name = \"x\")", "has no input"),
            ("side_effects = \"none\", example(name = \"x\", in = {})", ""),
        ] {
            let error = error(tokens);
            assert!(!error.is_empty() && error.contains(part), "{tokens}: {error}");
        }
    }
}
