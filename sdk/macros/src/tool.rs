//! `#[tool]`: leaves the function as it is and adds a type of the same name that implements `mizzen_sdk::Tool`.
//!
//! The type lives in another namespace of the language than the function, so `tools: [words::count]` names both with one
//! path, wherever the function is.

use crate::arguments::{Arguments, Replay, SideEffects};
use crate::grammar;
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, FnArg, ItemFn, Lit, Meta, Result, ReturnType, Type};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let function: ItemFn = syn::parse2(item).map_err(|error| {
        Error::new(
            error.span(),
            "#[tool] stands before a function: fn name(input: Input) -> Result<Output, ToolError>",
        )
    })?;
    let arguments: Arguments = syn::parse2(arguments)?;
    check_signature(&function)?;

    let ident = &function.sig.ident;
    let (name, span) = arguments
        .name
        .unwrap_or_else(|| (ident.unraw().to_string(), ident.span()));
    let name = grammar::tool_name(&name, span)?;
    let description = description(&function, arguments.description)?;

    let call = Call::read(&function)?;
    let read_input = &call.input;
    let given = call.given();
    let output = output_type(&function.sig.output);
    let (output_schema_of, finish) = match &output {
        Output::Fallible(ty) => (
            quote!(<#ty as ::mizzen_sdk::__private::Outcome>::Output),
            quote!(::mizzen_sdk::__private::finish),
        ),
        Output::Plain(ty) => (quote!(#ty), quote!(::mizzen_sdk::__private::write)),
    };

    let version = match arguments.version {
        Some(version) => quote!(#version),
        None => quote!(::core::env!("CARGO_PKG_VERSION")),
    };
    let namespace = option(arguments.namespace);
    let idempotency_key = option(arguments.idempotency_key);
    let cost_estimate = option(arguments.cost_estimate);
    let side_effects = format_ident!("{}", side_effects(arguments.side_effects));
    let replay = format_ident!("{}", replay(arguments.replay));
    let (permissions, tags, deprecated) = (arguments.permissions, arguments.tags, arguments.deprecated);
    let examples = arguments.examples.iter().map(|example| {
        let (name, input, output) = (&example.name, &example.input, option(example.output.clone()));
        quote!(::mizzen_sdk::Example { name: #name, input: #input, output: #output })
    });

    let legacy = arguments.legacy.map(legacy_warning);
    let visibility = &function.vis;
    let invoke = quote_spanned! { function.sig.span() => #finish(#ident(#(#given),*)) };
    Ok(quote! {
        #function
        #legacy

        #[doc(hidden)]
        #[allow(non_camel_case_types, unreachable_pub, dead_code, missing_debug_implementations)]
        #visibility struct #ident {}

        impl ::mizzen_sdk::Tool for #ident {
            const NAME: &'static str = #name;

            fn describe() -> ::mizzen_sdk::Descriptor {
                ::mizzen_sdk::Descriptor {
                    name: #name,
                    namespace: #namespace,
                    version: #version,
                    description: #description,
                    input_schema: ::mizzen_sdk::__private::input_schema::<#read_input>(),
                    output_schema: ::mizzen_sdk::__private::output_schema::<#output_schema_of>(),
                    side_effects: ::mizzen_sdk::SideEffects::#side_effects,
                    replay_policy: ::mizzen_sdk::ReplayPolicy::#replay,
                    permissions: &[#(#permissions),*],
                    idempotency_key: #idempotency_key,
                    cost_estimate: #cost_estimate,
                    examples: &[#(#examples),*],
                    tags: &[#(#tags),*],
                    deprecated: #deprecated,
                }
            }

            fn invoke(
                input: &str,
                context: &::mizzen_sdk::Context,
            ) -> ::core::result::Result<::std::string::String, ::mizzen_sdk::ToolError> {
                let _ = context;
                let input: #read_input = ::mizzen_sdk::__private::read::<#read_input>(input)?;
                let _ = &input;
                #invoke
            }
        }
    })
}

/// A macro cannot warn by itself; using something deprecated at the author's own words does.
fn legacy_warning(span: proc_macro2::Span) -> TokenStream {
    quote_spanned! { span =>
        const _: () = {
            #[deprecated(note = "side_effects = true or false is the legacy form: write \"write\" or \"none\"")]
            const LEGACY_SIDE_EFFECTS: () = ();
            LEGACY_SIDE_EFFECTS
        };
    }
}

fn check_signature(function: &ItemFn) -> Result<()> {
    let signature = &function.sig;
    if let Some(token) = &signature.asyncness {
        return Err(Error::new(
            token.span(),
            "a tool is an ordinary function: host calls wait by themselves, remove `async`",
        ));
    }
    if let Some(token) = &signature.unsafety {
        return Err(Error::new(token.span(), "a tool cannot be unsafe"));
    }
    if !signature.generics.params.is_empty() {
        return Err(Error::new(
            signature.generics.span(),
            "a tool cannot be generic: its schemas come from its types",
        ));
    }
    Ok(())
}

/// How the function wants to be called.
struct Call {
    input: TokenStream,
    takes_input: bool,
    context: ContextParameter,
}

enum ContextParameter {
    Absent,
    Borrowed,
    Owned,
}

impl Call {
    fn read(function: &ItemFn) -> Result<Call> {
        let mut types = Vec::new();
        for parameter in &function.sig.inputs {
            match parameter {
                FnArg::Typed(typed) => types.push(typed.ty.as_ref()),
                FnArg::Receiver(receiver) => {
                    return Err(Error::new(
                        receiver.span(),
                        "a tool is a free function: it cannot take `self`",
                    ));
                }
            }
        }
        let none = quote!(::mizzen_sdk::NoInput);
        match types.as_slice() {
            [] => Ok(Call {
                input: none,
                takes_input: false,
                context: ContextParameter::Absent,
            }),
            [only] => match context(only) {
                ContextParameter::Absent => Ok(Call {
                    input: quote!(#only),
                    takes_input: true,
                    context: ContextParameter::Absent,
                }),
                found => Ok(Call {
                    input: none,
                    takes_input: false,
                    context: found,
                }),
            },
            [first, second] => match context(second) {
                ContextParameter::Absent => Err(Error::new(
                    second.span(),
                    "a tool takes one input (put several values into one struct), then optionally `&Context`",
                )),
                found => Ok(Call {
                    input: quote!(#first),
                    takes_input: true,
                    context: found,
                }),
            },
            [_, _, third, ..] => Err(Error::new(
                third.span(),
                "a tool takes one input, then optionally `&Context`, and no more",
            )),
        }
    }

    fn given(&self) -> Vec<TokenStream> {
        let mut given = Vec::new();
        if self.takes_input {
            given.push(quote!(input));
        }
        match self.context {
            ContextParameter::Absent => {}
            ContextParameter::Borrowed => given.push(quote!(context)),
            ContextParameter::Owned => given.push(quote!(::core::clone::Clone::clone(context))),
        }
        given
    }
}

fn context(ty: &Type) -> ContextParameter {
    let named = |ty: &Type| match ty {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|segment| segment.ident == "Context"),
        _ => false,
    };
    match ty {
        Type::Reference(reference) if reference.mutability.is_none() && named(&reference.elem) => {
            ContextParameter::Borrowed
        }
        other if named(other) => ContextParameter::Owned,
        _ => ContextParameter::Absent,
    }
}

/// Whether the function can fail is read from its text: a type whose last segment is `Result`.
enum Output {
    Fallible(TokenStream),
    Plain(TokenStream),
}

fn output_type(output: &ReturnType) -> Output {
    match output {
        ReturnType::Default => Output::Plain(quote!(())),
        ReturnType::Type(_, ty) => match ty.as_ref() {
            Type::Path(path)
                if path
                    .path
                    .segments
                    .last()
                    .is_some_and(|segment| segment.ident == "Result") =>
            {
                Output::Fallible(quote!(#ty))
            }
            _ => Output::Plain(quote!(#ty)),
        },
    }
}

/// The stated description, else the doc comment with its line breaks folded.
fn description(function: &ItemFn, stated: Option<String>) -> Result<String> {
    let text = stated.unwrap_or_else(|| {
        let mut paragraphs = vec![String::new()];
        for attribute in &function.attrs {
            let Meta::NameValue(pair) = &attribute.meta else {
                continue;
            };
            let Expr::Lit(ExprLit {
                lit: Lit::Str(line), ..
            }) = &pair.value
            else {
                continue;
            };
            if !pair.path.is_ident("doc") {
                continue;
            }
            for line in line.value().split('\n').map(str::trim) {
                match paragraphs.last_mut() {
                    Some(last) if !line.is_empty() => {
                        if !last.is_empty() {
                            last.push(' ');
                        }
                        last.push_str(line);
                    }
                    _ => paragraphs.push(String::new()),
                }
            }
        }
        paragraphs.retain(|paragraph| !paragraph.is_empty());
        paragraphs.join("\n\n")
    });
    if text.trim().is_empty() {
        return Err(Error::new(
            function.sig.ident.span(),
            "describe the tool in a doc comment: one or two sentences for the person or model that chooses it",
        ));
    }
    Ok(text)
}

fn option(value: Option<String>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

fn side_effects(value: SideEffects) -> &'static str {
    match value {
        SideEffects::None => "None",
        SideEffects::Read => "Read",
        SideEffects::Write => "Write",
        SideEffects::External => "External",
    }
}

fn replay(value: Replay) -> &'static str {
    match value {
        Replay::MustStub => "MustStub",
        Replay::FailLoud => "FailLoud",
        Replay::RecordedResult => "RecordedResult",
    }
}

#[cfg(test)]
mod tests {
    use super::expand;

    fn error(arguments: &str, item: &str) -> String {
        let parse = |text: &str| text.parse::<proc_macro2::TokenStream>().unwrap();
        expand(parse(arguments), parse(item))
            .map(|tokens| tokens.to_string())
            .unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn a_function_that_cannot_be_a_tool_is_told_why() {
        let pure = "side_effects = \"none\"";
        for (arguments, item, part) in [
            (pure, "struct Tool;", "stands before a function"),
            (
                pure,
                "fn tool(input: u8) -> u8 { 1 }",
                "describe the tool in a doc comment",
            ),
            (pure, "/// T.\nasync fn tool() {}", "remove `async`"),
            (pure, "/// T.\nunsafe fn tool() {}", "cannot be unsafe"),
            (pure, "/// T.\nfn tool<T>(input: T) {}", "cannot be generic"),
            (pure, "/// T.\nfn tool(&self) {}", "cannot take `self`"),
            (
                pure,
                "/// T.\nfn tool(a: u8, b: u8) {}",
                "put several values into one struct",
            ),
            (
                pure,
                "/// T.\nfn tool(a: u8, b: &Context, c: u8) {}",
                "and no more",
            ),
            (pure, "/// T.\nfn _tool() {}", "is not a tool name"),
            (
                "side_effects = \"none\", permissions = [\"kv:write\"]",
                "/// T.\nfn tool() {}",
                "write side_effects = \"write\"",
            ),
        ] {
            let found = error(arguments, item);
            assert!(found.contains(part), "{item}: {found}");
        }
    }
}
