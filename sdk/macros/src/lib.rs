//! The attributes that `mizzen-sdk` re-exports. Authors do not depend on this crate directly.
//!
//! What an attribute can know at compile time it checks at compile time, with an error at the place of the mistake:
//! names, side effects, replay policies, permissions, versions and the JSON of examples.

mod arguments;
mod data;
mod grammar;
mod json;
mod tool;

use proc_macro::TokenStream;

/// Makes a function a tool. See the crate documentation of `mizzen-sdk` for the arguments.
#[proc_macro_attribute]
pub fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(arguments.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a struct or enum readable as a tool's input, with a JSON Schema derived from it. Fields that the type does not
/// have are refused; `#[input(open)]` ignores them instead.
#[proc_macro_attribute]
pub fn input(arguments: TokenStream, item: TokenStream) -> TokenStream {
    data::expand(data::Role::Input, arguments.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a struct or enum writable as a tool's output, with a JSON Schema derived from it.
#[proc_macro_attribute]
pub fn output(arguments: TokenStream, item: TokenStream) -> TokenStream {
    data::expand(data::Role::Output, arguments.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
