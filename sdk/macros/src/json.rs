//! JSON written as Rust tokens in an attribute, turned into JSON text at compile time so that a guest carries a
//! constant string and no code to build it.

use proc_macro2::{Delimiter, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::{Error, Lit, LitStr, Result, Token, token};

/// A JSON value as text. Object keys may be written without quotes when they are Rust identifiers.
pub(crate) struct Json(pub(crate) String);

impl Parse for Json {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut text = String::new();
        value(input, &mut text)?;
        Ok(Json(text))
    }
}

// The recursion is bounded by the nesting of the author's own source, which the compiler has already parsed.
fn value(input: ParseStream<'_>, text: &mut String) -> Result<()> {
    if input.peek(token::Brace) {
        let inner;
        syn::braced!(inner in input);
        text.push('{');
        while !inner.is_empty() {
            if inner.peek(LitStr) {
                string(&inner.parse::<LitStr>()?.value(), text);
            } else {
                let key: syn::Ident = inner.call(syn::ext::IdentExt::parse_any)?;
                string(&key.to_string(), text);
            }
            inner.parse::<Token![:]>()?;
            text.push(':');
            value(&inner, text)?;
            separator(&inner, text)?;
        }
        text.push('}');
        return Ok(());
    }
    if input.peek(token::Bracket) {
        let inner;
        syn::bracketed!(inner in input);
        text.push('[');
        while !inner.is_empty() {
            value(&inner, text)?;
            separator(&inner, text)?;
        }
        text.push(']');
        return Ok(());
    }
    if input.peek(Token![-]) {
        input.parse::<Token![-]>()?;
        text.push('-');
        return number(input, text);
    }
    if input.peek(LitStr) {
        string(&input.parse::<LitStr>()?.value(), text);
        return Ok(());
    }
    if input.peek(syn::LitBool) {
        text.push_str(if input.parse::<syn::LitBool>()?.value {
            "true"
        } else {
            "false"
        });
        return Ok(());
    }
    if input.peek(syn::Ident) {
        let word: syn::Ident = input.parse()?;
        if word == "null" {
            text.push_str("null");
            return Ok(());
        }
        return Err(Error::new(
            word.span(),
            format!("`{word}` is not JSON; quote it if it is a string"),
        ));
    }
    if input.peek(Lit) {
        return number(input, text);
    }
    let found: TokenTree = input.parse()?;
    let what = match &found {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => "parentheses".to_owned(),
        other => format!("`{other}`"),
    };
    Err(Error::new(
        found.span(),
        format!("expected a JSON value, found {what}"),
    ))
}

fn separator(input: ParseStream<'_>, text: &mut String) -> Result<()> {
    if input.is_empty() {
        return Ok(());
    }
    input.parse::<Token![,]>()?;
    if !input.is_empty() {
        text.push(',');
    }
    Ok(())
}

fn number(input: ParseStream<'_>, text: &mut String) -> Result<()> {
    match input.parse::<Lit>()? {
        Lit::Int(number) if number.suffix().is_empty() => text.push_str(number.base10_digits()),
        Lit::Float(number) if number.suffix().is_empty() => {
            let digits = number.base10_digits();
            text.push_str(digits);
            // `1.` is a Rust float but not a JSON number.
            if digits.ends_with('.') {
                text.push('0');
            }
        }
        other => {
            return Err(Error::new(
                other.span(),
                "expected a JSON number without a type suffix",
            ));
        }
    }
    Ok(())
}

fn string(value: &str, text: &mut String) {
    text.push('"');
    for character in value.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            control if u32::from(control) < 0x20 => text.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => text.push(other),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::Json;

    fn check(tokens: &str, expected: Result<&str, &str>) {
        let parsed = syn::parse_str::<Json>(tokens)
            .map(|json| json.0)
            .map_err(|error| error.to_string());
        match expected {
            Ok(text) => assert_eq!(parsed.as_deref(), Ok(text), "{tokens}"),
            Err(part) => assert!(
                parsed.as_ref().is_err_and(|error| error.contains(part)),
                "{tokens}: {parsed:?}"
            ),
        }
    }

    #[test]
    fn tokens_become_json_text() {
        check(
            r#"{ "name": "Ada", type: [1, -2.5, true, null,], "e": {} }"#,
            Ok(r#"{"name":"Ada","type":[1,-2.5,true,null],"e":{}}"#),
        );
        check(r#""a\"b\\\n\u{1}é""#, Ok(r#""a\"b\\\n\u0001é""#));
        check("1_000", Ok("1000"));
        check("1.", Ok("1.0"));
    }

    #[test]
    fn what_is_not_json_is_refused_where_it_stands() {
        check("name", Err("`name` is not JSON"));
        check("1u8", Err("without a type suffix"));
        check("(1)", Err("parentheses"));
        check("{ \"a\" 1 }", Err("expected `:`"));
        check("'c'", Err("expected a JSON number"));
    }
}
