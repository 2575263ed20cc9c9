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

fn has_named_fields(data: &syn::Data) -> bool {
    let named = |fields: &syn::Fields| matches!(fields, syn::Fields::Named(_));
    match data {
        syn::Data::Struct(data) => named(&data.fields),
        syn::Data::Enum(data) => data.variants.iter().any(|variant| named(&variant.fields)),
        syn::Data::Union(_) => false,
    }
}
