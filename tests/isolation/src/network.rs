//! A network that is not there: names and addresses are answered from a table, connections are recorded and served
//! from memory. No test sends a packet.

use mizzen_ops::outgoing::{Connect, Connection, Resolve};
use mizzen_sandbox::Pending;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::Semaphore;

/// Names and what they lead to.
const NAMES: &[(&str, &[&str])] = &[
    ("public.example.com", &["93.184.216.34"]),
    ("redirect.example.com", &["93.184.216.34"]),
    ("silent.example.com", &["93.184.216.35"]),
    ("endless.example.com", &["93.184.216.36"]),
    ("gate.example.com", &["93.184.216.37"]),
    ("localhost", &["127.0.0.1", "::1"]),
    ("localhost.", &["127.0.0.1", "::1"]),
    ("inside.example.com", &["10.1.2.3"]),
    ("metadata.internal", &["169.254.169.254"]),
    ("mixed.example.com", &["93.184.216.34", "127.0.0.1"]),
    ("mixed-the-other-way.example.com", &["127.0.0.1", "93.184.216.34"]),
    ("six.example.com", &["fd00::1"]),
];

/// Records where plugins go.
pub struct Network {
    connects: Mutex<Vec<String>>,
    looked_up: AtomicUsize,
    gate: Arc<Semaphore>,
}

impl Network {
    /// The gate (`gate.example.com`) responds at once.
    pub fn open() -> Arc<Self> {
        Self::with_gate(Semaphore::MAX_PERMITS)
    }

    /// The gate responds only when it is opened.
    pub fn gated() -> Arc<Self> {
        Self::with_gate(0)
    }

    fn with_gate(permits: usize) -> Arc<Self> {
        Arc::new(Self {
            connects: Mutex::default(),
            looked_up: AtomicUsize::new(0),
            gate: Arc::new(Semaphore::new(permits)),
        })
    }

    /// Lets everybody who waits at the gate through, and everybody who comes.
    pub fn open_gate(&self) {
        self.gate.add_permits(Semaphore::MAX_PERMITS / 2);
    }

    /// The addresses that were connected to since the last time, in order.
    pub fn take_connects(&self) -> Vec<String> {
        std::mem::take(&mut self.connects.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many connections there were since they were last taken.
    pub fn connected(&self) -> usize {
        self.connects.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Resolve for Network {
    fn resolve<'a>(&'a self, host: &'a str) -> Pending<'a, io::Result<Vec<IpAddr>>> {
        let addresses = match host {
            // Leads outside when it is looked at, and inside when it is used: if anybody looks twice.
            "changing.example.com" if self.looked_up.fetch_add(1, Ordering::SeqCst) == 0 => {
                Some(&["93.184.216.34"][..])
            }
            "changing.example.com" => Some(&["127.0.0.1"][..]),
            _ => NAMES
                .iter()
                .find(|(name, _)| *name == host)
                .map(|(_, addresses)| *addresses),
        };
        Box::pin(async move {
            let addresses = addresses.ok_or_else(|| io::Error::other("no such name"))?;
            addresses
                .iter()
                .map(|text| text.parse().map_err(io::Error::other))
                .collect()
        })
    }
}

impl Connect for Network {
    fn connect(
        &self,
        address: SocketAddr,
        _tls: Option<String>,
    ) -> Pending<'_, io::Result<Box<dyn Connection>>> {
        self.connects
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(address.to_string());
        let gate = Arc::clone(&self.gate);
        Box::pin(async move {
            let (ours, theirs) = tokio::io::duplex(64 << 10);
            tokio::spawn(serve(theirs, address.ip().to_string(), gate));
            Ok(Box::new(ours) as Box<dyn Connection>)
        })
    }
}

async fn serve(mut stream: DuplexStream, address: String, gate: Arc<Semaphore>) -> io::Result<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|window| window == b"\r\n\r\n") && request.len() < 64 << 10 {
        let mut part = [0; 1024];
        let count = stream.read(&mut part).await?;
        if count == 0 {
            return Ok(());
        }
        request.extend(part.into_iter().take(count));
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    match address.as_str() {
        "93.184.216.35" => std::future::pending().await,
        "93.184.216.36" => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
            loop {
                stream.write_all(&[b'x'; 4096]).await?;
            }
        }
        "93.184.216.37" => {
            let _through = gate.acquire().await.map_err(io::Error::other)?;
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
                .await
        }
        _ if request.contains("host: redirect.example.com") => {
            stream
                .write_all(b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\ncontent-length: 0\r\n\r\n")
                .await
        }
        _ => {
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nahoy")
                .await
        }
    }
}
