//! The host's side of every import of the contract, one file each, named as its WIT interface.
//!
//! Enforced twice from one decision: an interface is linked only when the plugin holds a permission of its kind, and
//! each call checks its arguments against the permit of the call. To add one: the WIT file, a file here, a row in
//! [`link`].

mod clock;
mod config;
mod http;
mod kv;
mod log;
mod random;
mod secrets;
mod tools;

use crate::bindings::mizzen::plugin as wit;
use crate::state::CallState;
use mizzen_engine::ToolError;
use mizzen_model::permission::{PermissionKind, Use};
use wasmtime::component::{HasSelf, Linker};

/// Links what a plugin with permissions of these kinds may import.
pub(crate) fn link(
    linker: &mut Linker<CallState>,
    held: impl Fn(PermissionKind) -> bool,
) -> wasmtime::Result<()> {
    type Me = HasSelf<CallState>;
    wit::types::add_to_linker::<_, Me>(linker, |state| state)?;
    wit::log::add_to_linker::<_, Me>(linker, |state| state)?;
    if held(PermissionKind::Config) {
        wit::config::add_to_linker::<_, Me>(linker, |state| state)?;
    }
    if held(PermissionKind::Secret) {
        wit::secrets::add_to_linker::<_, Me>(linker, |state| state)?;
    }
    if held(PermissionKind::Kv) {
        wit::kv::add_to_linker::<_, Me>(linker, |state| state)?;
    }
    if held(PermissionKind::Net) {
        wit::http::add_to_linker::<_, Me>(linker, |state| state)?;
    }
    if held(PermissionKind::Tools) {
        wit::tools::add_to_linker::<_, Me>(linker, |state| state)?;
    }
    if held(PermissionKind::Clock) {
        wit::clock::add_to_linker::<_, Me>(linker, |state| state)?;
    }
    if held(PermissionKind::Random) {
        wit::random::add_to_linker::<_, Me>(linker, |state| state)?;
    }
    Ok(())
}

impl wit::types::Host for CallState {}

impl CallState {
    /// Counts the call and checks the permit. The inner `Err` is the denial that the guest gets.
    fn check(&mut self, wanted: &Use<'_>) -> wasmtime::Result<Result<(), wit::types::Error>> {
        self.count_host_call()?;
        Ok(self
            .permit
            .check(wanted)
            .map_err(|denied| wit::types::Error::Denied(denied.to_string())))
    }
}

/// A service's error as the contract's type.
fn guest_error(error: ToolError) -> wit::types::Error {
    match error {
        ToolError::InvalidInput { path, message } => {
            wit::types::Error::InvalidInput(wit::types::InvalidInput { path, message })
        }
        ToolError::Denied(reason) => wit::types::Error::Denied(reason),
        ToolError::Unavailable(reason) => wit::types::Error::Unavailable(reason),
        ToolError::Failed { code, message } => {
            wit::types::Error::Failed(wit::types::Failure { code, message })
        }
    }
}

fn absent(service: &str) -> wit::types::Error {
    wit::types::Error::Unavailable(format!("this host has no {service}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Add = fn(&mut Linker<CallState>) -> wasmtime::Result<()>;
    type Me = HasSelf<CallState>;

    const INTERFACES: &[(PermissionKind, Add)] = &[
        (PermissionKind::Config, |l| {
            wit::config::add_to_linker::<_, Me>(l, |s| s)
        }),
        (PermissionKind::Secret, |l| {
            wit::secrets::add_to_linker::<_, Me>(l, |s| s)
        }),
        (PermissionKind::Kv, |l| wit::kv::add_to_linker::<_, Me>(l, |s| s)),
        (PermissionKind::Net, |l| {
            wit::http::add_to_linker::<_, Me>(l, |s| s)
        }),
        (PermissionKind::Tools, |l| {
            wit::tools::add_to_linker::<_, Me>(l, |s| s)
        }),
        (PermissionKind::Clock, |l| {
            wit::clock::add_to_linker::<_, Me>(l, |s| s)
        }),
        (PermissionKind::Random, |l| {
            wit::random::add_to_linker::<_, Me>(l, |s| s)
        }),
    ];

    #[test]
    fn an_interface_is_linked_exactly_when_a_permission_of_its_kind_is_held() {
        let engine = wasmtime::Engine::default();
        for (held, _) in INTERFACES {
            for (kind, add) in INTERFACES {
                let mut linker = Linker::<CallState>::new(&engine);
                link(&mut linker, |asked| asked == *held).unwrap();
                // A second definition is refused, so this shows whether there was a first.
                let is_linked = add(&mut linker).is_err();
                assert_eq!(is_linked, kind == held, "{kind:?} with {held:?}");
            }
        }
    }
}
