//! The plugins of a running host: what it starts with, installs and calls.

mod plugin_calls;
mod running_plugins;
mod starting;
