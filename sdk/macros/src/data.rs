//! `#[input]` and `#[output]`: the derives that a tool's types need, with the paths that make them work without the
//! author depending on serde or schemars.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, DeriveInput, Error, Result, parse_quote};

/// Which of the two attributes is being expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Input,
    Output,
}

/// Adds the derives. A type may carry both attributes: the first one expanded takes the other with it, because each
/// would derive the schema.
pub(crate) fn expand(role: Role, arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let mut item: DeriveInput = syn::parse2(item)?;
    if let syn::Data::Union(union) = &item.data {
        return Err(Error::new(
            union.union_token.span,
            "a tool's input or output is a struct or an enum",
        ));
    }
    let mut open = is_open(role, arguments)?;
    let other_name = if role == Role::Input { "output" } else { "input" };
    let mut both = false;
    let mut kept: Vec<Attribute> = Vec::new();
    for attribute in std::mem::take(&mut item.attrs) {
        if attribute
            .path()
            .segments
            .last()
            .is_some_and(|segment| segment.ident == other_name)
        {
            both = true;
            if let syn::Meta::List(list) = &attribute.meta {
                let other = if role == Role::Input {
                    Role::Output
                } else {
                    Role::Input
                };
                open |= is_open(other, list.tokens.clone())?;
            }
        } else {
            kept.push(attribute);
        }
    }
    item.attrs = kept;

    let mut derives: Vec<Attribute> =
        vec![parse_quote!(#[derive(::mizzen_sdk::__private::schemars::JsonSchema)])];
    let reads = both || role == Role::Input;
    if reads {
        derives.push(parse_quote!(#[derive(::mizzen_sdk::__private::serde::Deserialize)]));
    }
    if both || role == Role::Output {
        derives.push(parse_quote!(#[derive(::mizzen_sdk::__private::serde::Serialize)]));
    }
    derives.push(parse_quote!(#[serde(crate = "::mizzen_sdk::__private::serde")]));
    derives.push(parse_quote!(#[schemars(crate = "::mizzen_sdk::__private::schemars")]));
    if reads && !open && has_named_fields(&item.data) {
        if let Some(field) = flattened(&item.data) {
            let advice = "a flattened field cannot tell known fields from unknown ones: write #[input(open)]";
            return Err(Error::new_spanned(field, advice));
        }
        derives.push(parse_quote!(#[serde(deny_unknown_fields)]));
    }
    item.attrs.splice(0..0, derives);
    Ok(quote!(#item))
}

fn is_open(role: Role, arguments: TokenStream) -> Result<bool> {
    if arguments.is_empty() {
        return Ok(false);
    }
    let word: syn::Ident = syn::parse2(arguments.clone())
        .map_err(|_| Error::new_spanned(&arguments, "expected nothing or `open`, as in #[input(open)]"))?;
    if role == Role::Input && word == "open" {
        Ok(true)
    } else {
        Err(Error::new(
            word.span(),
            "the only argument is `open`, of #[input(open)]: ignore unknown fields",
        ))
    }
}

/// The first field with `#[serde(flatten)]`. serde accepts it beside `deny_unknown_fields`, and then refuses good input.
fn flattened(data: &syn::Data) -> Option<&syn::Field> {
    let mut fields: Vec<&syn::Field> = match data {
        syn::Data::Struct(data) => data.fields.iter().collect(),
        syn::Data::Enum(data) => data.variants.iter().flat_map(|variant| &variant.fields).collect(),
        syn::Data::Union(_) => Vec::new(),
    };
    fields.retain(|field| {
        field.attrs.iter().any(|attribute| match &attribute.meta {
            syn::Meta::List(list) if list.path.is_ident("serde") => list
                .tokens
                .clone()
                .into_iter()
                .any(|token| token.to_string() == "flatten"),
            _ => false,
        })
    });
    fields.first().copied()
}

fn has_named_fields(data: &syn::Data) -> bool {
    let named = |fields: &syn::Fields| matches!(fields, syn::Fields::Named(_));
    match data {
        syn::Data::Struct(data) => named(&data.fields),
        syn::Data::Enum(data) => data.variants.iter().any(|variant| named(&variant.fields)),
        syn::Data::Union(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Role, expand};

    fn expanded(role: Role, arguments: &str, item: &str) -> Result<String, String> {
        let parse = |text: &str| text.parse::<proc_macro2::TokenStream>().unwrap();
        expand(role, parse(arguments), parse(item))
            .map(|tokens| tokens.to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn unknown_fields_are_refused_unless_the_type_is_open() {
        let strict = expanded(Role::Input, "", "struct A { b: u8 }").unwrap();
        assert!(strict.contains("deny_unknown_fields"));
        let open = expanded(Role::Input, "open", "struct A { b: u8 }").unwrap();
        assert!(!open.contains("deny_unknown_fields"));
        let output = expanded(Role::Output, "", "struct A { b: u8 }").unwrap();
        assert!(!output.contains("deny_unknown_fields") && !output.contains("Deserialize"));
    }

    #[test]
    fn a_type_that_is_both_gets_one_schema() {
        let both = expanded(Role::Output, "", "#[input(open)] struct A { b: u8 }").unwrap();
        assert_eq!(both.matches("JsonSchema").count(), 1);
        assert!(
            both.contains("Deserialize")
                && both.contains("Serialize")
                && !both.contains("deny_unknown_fields")
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (role, arguments, item, part) in [
            (Role::Input, "closed", "struct A;", "the only argument is `open`"),
            (Role::Output, "open", "struct A;", "the only argument is `open`"),
            (Role::Input, "", "union A { b: u8 }", "a struct or an enum"),
            (
                Role::Input,
                "",
                "struct A { #[serde(flatten)] b: B }",
                "#[input(open)]",
            ),
        ] {
            let error = expanded(role, arguments, item).unwrap_err();
            assert!(error.contains(part), "{item}: {error}");
        }
        assert!(expanded(Role::Input, "open", "struct A { #[serde(flatten)] b: B }").is_ok());
    }
}
