//! `http`: outgoing requests to the hosts that the permit names.

use super::{absent, guest_error};
use crate::bindings::mizzen::plugin::{http, types};
use crate::services::{HostNamed, HttpRequest};
use crate::state::CallState;
use mizzen_engine::WebUrl;
use mizzen_model::permission::Use;
use std::time::Duration;

/// A longer URL carries data that belongs in a body.
const MAX_URL: usize = 8192;
const MAX_HEADERS: usize = 64;

impl http::Host for CallState {
    async fn fetch(
        &mut self,
        request: http::Request,
    ) -> wasmtime::Result<Result<http::Response, types::Error>> {
        let url = match web_url(&request) {
            Ok(url) => url,
            Err(message) => {
                self.count_host_call()?;
                let path = "/url".to_owned();
                return Ok(Err(types::Error::InvalidInput(types::InvalidInput {
                    path,
                    message,
                })));
            }
        };
        if let Err(denied) = self.check(&Use::Net {
            method: &request.method,
            target: url.target(),
        })? {
            return Ok(Err(denied));
        }
        let host_named = if self.permit.names_host(&request.method, url.target()) {
            HostNamed::Exactly
        } else {
            HostNamed::ByPattern
        };
        let Some(service) = self.services().http.clone() else {
            return Ok(Err(absent("outgoing HTTP")));
        };
        let request = HttpRequest {
            method: request.method,
            url,
            headers: request
                .headers
                .into_iter()
                .map(|field| (field.name, field.value))
                .collect(),
            body: request.body,
            timeout: request.timeout_ms.map(|ms| Duration::from_millis(u64::from(ms))),
            host_named,
        };
        let fields = |(name, value)| types::Field { name, value };
        Ok(service
            .fetch(request)
            .await
            .map_err(guest_error)
            .map(|response| http::Response {
                status: response.status,
                headers: response.headers.into_iter().map(fields).collect(),
                body: response.body,
            }))
    }
}

/// Where a request goes, as the permission check sees it and as the connection is made: one reading of the URL.
fn web_url(request: &http::Request) -> Result<WebUrl, String> {
    if request.url.len() > MAX_URL || request.headers.len() > MAX_HEADERS {
        return Err(format!(
            "a URL has at most {MAX_URL} bytes and a request {MAX_HEADERS} headers"
        ));
    }
    WebUrl::parse(&request.url).map_err(|e| e.to_string())
}
