//! Every route, by resource. To add a resource: a file here with its `routes()`, and a line in [`all`].

pub mod audit;
pub mod councils;
pub mod examples;
pub mod executions;
pub mod operations;
pub mod parameters;
pub mod plugins;
pub mod sprites;
pub mod tools;

use crate::route::Route;

/// Every route of the API.
pub fn all() -> Vec<Route> {
    let mut routes = sprites::routes();
    routes.extend(councils::routes());
    routes.extend(executions::routes());
    routes.extend(plugins::routes());
    routes.extend(tools::routes());
    routes.extend(audit::routes());
    routes.extend(operations::routes());
    routes
}
