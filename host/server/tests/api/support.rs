//! A host without plugins, in this process: its router, and where a test needs bytes on a wire, its listener on loopback.
//!
//! `answer.rs` and `documents.rs` are also used by the tests of `host/cli`.

pub(crate) mod answer;
pub(crate) mod documents;

use answer::Answer;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response};
use mizzen_catalog::key::SecretKey;
use mizzen_ops::{ApiKeyRequest, Caller, Clock, Host, HostKey, SystemClock};
use mizzen_server::{Config, Server, routes};
use mizzen_store_sqlite::{Options, SqliteStore};
use serde_json::Value;
use std::future::Future;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tower::ServiceExt;

/// The media type of most bodies.
pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");

/// A host on a folder that is gone with the test.
pub(crate) struct TestHost {
    pub(crate) host: Arc<Host>,
    router: Router,
    config: Config,
    _folder: tempfile::TempDir,
    // Last: what it runs holds the others.
    runtime: Runtime,
}

impl TestHost {
    /// A host with the usual settings.
    pub(crate) fn new() -> Self {
        Self::with(Config::default())
    }

    /// A host with other settings.
    pub(crate) fn with(config: Config) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (host, router) = runtime.block_on(async {
            let options = Options {
                now: SystemClock.now_ms(),
                ..Options::default()
            };
            let host = Host::new(SqliteStore::open(folder.path(), &options).unwrap().store());
            host.sign_with(HostKey::new(SecretKey::from_seed(
                b"a key for tests of the HTTP API!",
            )));
            let host = Arc::new(host);
            let router = Server::router(Arc::clone(&host), config.clone(), routes::all());
            (host, router)
        });
        Self {
            host,
            router,
            config,
            _folder: folder,
            runtime,
        }
    }

    /// Waits for something of the host.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// A new API key with these grants: its id and the key.
    pub(crate) fn new_key(&self, grants: &[&str]) -> (String, String) {
        let request = ApiKeyRequest {
            name: String::new(),
            grants: grants.iter().map(|grant| grant.parse().unwrap()).collect(),
            lifetime_ms: None,
        };
        let made = self.wait(self.host.create_api_key(&self.operator(), request));
        let made = made.unwrap();
        (made.id, made.token)
    }

    /// A new API key with these grants, as the header `authorization` has it.
    pub(crate) fn bearer(&self, grants: &[&str]) -> String {
        format!("Bearer {}", self.new_key(grants).1)
    }

    /// The operator's own authority, as the command line has it.
    pub(crate) fn operator(&self) -> Caller {
        Caller::local(self.host.new_request_id())
    }

    /// GET, DELETE: without a body.
    pub(crate) fn call(&self, method: &str, path: &str) -> Answer {
        self.send(method, path, &[], b"")
    }

    /// POST, PUT: with a JSON body.
    pub(crate) fn call_json(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.send(method, path, &[JSON], body.to_string().as_bytes())
    }

    /// Registers a sprite; its id.
    pub(crate) fn register(&self, sprite: &Value) -> String {
        let body = self.call_json("POST", "/v1/sprites", sprite).expect(201, "");
        body["id"].as_str().unwrap().to_owned()
    }

    /// Anything.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", "localhost");
        }
        if !body.is_empty() || ["POST", "PUT"].contains(&method) {
            request = request.header("content-length", body.len());
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_vec())).unwrap();
        self.wait(async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            read(response).await
        })
    }

    /// Listens on loopback until the test ends.
    pub(crate) fn listen(self) -> Listening {
        let (host, config) = (Arc::clone(&self.host), self.config.clone());
        let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = self.wait(Server::bind(any_port, host, config, routes::all()));
        let server = server.unwrap();
        let (address, url) = (server.address().to_string(), server.url());
        self.runtime.spawn(server.serve(std::future::pending()));
        Listening {
            host: self,
            address,
            url,
        }
    }
}

async fn read(response: Response<Body>) -> Answer {
    let (parts, body) = response.into_parts();
    let headers = parts.headers.iter();
    Answer {
        status: parts.status.as_u16(),
        headers: headers
            .map(|(name, value)| (name.as_str().to_owned(), value.to_str().unwrap().to_owned()))
            .collect(),
        body: to_bytes(body, usize::MAX).await.unwrap().to_vec(),
    }
}

/// A host that listens.
pub(crate) struct Listening {
    pub(crate) host: TestHost,
    pub(crate) address: String,
    pub(crate) url: String,
}

impl Listening {
    /// A connection that waits a minute for an answer.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends bytes that need not be HTTP, and reads until the connection ends.
    pub(crate) fn bytes(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        read_answer(&mut stream)
    }

    /// Sends a request whose whole head is the test's.
    pub(crate) fn head(&self, head: &str) -> Answer {
        self.bytes(format!("{head}connection: close\r\n\r\n").as_bytes())
    }
}

/// Reads an answer until the connection ends.
pub(crate) fn read_answer(stream: &mut impl Read) -> Answer {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    Answer::parse(&bytes).unwrap_or_else(|| panic!("{:?} is not an answer", String::from_utf8_lossy(&bytes)))
}
