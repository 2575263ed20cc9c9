//! `$ref: https://…` prompts (D10): one GET, a small text, public addresses only.

use super::Outgoing;
use crate::prompts::FetchPrompt;
use mizzen_engine::WebUrl;
use mizzen_sandbox::{HostNamed, Http, HttpRequest};
use std::future::Future;
use std::pin::Pin;

impl FetchPrompt for Outgoing {
    fn fetch<'a>(
        &'a self,
        url: &'a str,
        limit: u64,
    ) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>> {
        Box::pin(async move {
            let request = HttpRequest {
                method: "GET".to_owned(),
                url: WebUrl::parse(url).map_err(|error| error.to_string())?,
                headers: vec![("accept".to_owned(), "text/plain, */*;q=0.1".to_owned())],
                body: Vec::new(),
                timeout: None,
                // That the operator allows a host for prompts is no reason to read from inside of the fence.
                host_named: HostNamed::ByPattern,
            };
            let response = Http::fetch(self, request)
                .await
                .map_err(|error| error.to_string())?;
            if response.status != 200 {
                return Err(format!(
                    "the host answered with status {}; redirects are not followed",
                    response.status
                ));
            }
            if response.body.len() as u64 > limit {
                return Err(format!("the text is larger than {limit} bytes"));
            }
            String::from_utf8(response.body).map_err(|_| "the text is not UTF-8".to_owned())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outgoing::{Connect, Connection, OutgoingLimits, Purpose, Resolve};
    use mizzen_sandbox::Pending;
    use std::io;
    use std::net::{IpAddr, SocketAddr};
    use std::sync::{Arc, Mutex};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// Answers with a fixed text and keeps the addresses that were asked for. No packet is sent.
    struct Recorded {
        address: IpAddr,
        answer: &'static str,
        connected: Mutex<Vec<(SocketAddr, Option<String>)>>,
    }

    impl Resolve for Recorded {
        fn resolve<'a>(&'a self, _: &'a str) -> Pending<'a, io::Result<Vec<IpAddr>>> {
            Box::pin(async move { Ok(vec![self.address]) })
        }
    }

    impl Connect for Recorded {
        fn connect(
            &self,
            address: SocketAddr,
            tls: Option<String>,
        ) -> Pending<'_, io::Result<Box<dyn Connection>>> {
            self.connected.lock().unwrap().push((address, tls));
            let (ours, mut theirs) = tokio::io::duplex(4096);
            let answer = self.answer;
            tokio::spawn(async move {
                let mut request = [0; 1024];
                let _ = theirs.read(&mut request).await;
                let _ = theirs.write_all(answer.as_bytes()).await;
            });
            Box::pin(async move { Ok(Box::new(ours) as Box<dyn Connection>) })
        }
    }

    async fn fetched(address: &str, answer: &'static str) -> (Result<String, String>, usize) {
        let network = Arc::new(Recorded {
            address: address.parse().unwrap(),
            answer,
            connected: Mutex::default(),
        });
        let outgoing = Outgoing::new(
            Arc::clone(&network) as _,
            Arc::clone(&network) as _,
            OutgoingLimits::default(),
        )
        .serving(Purpose::Prompts);
        let result = FetchPrompt::fetch(&outgoing, "https://prompts.example.com/a.txt", 10).await;
        let connected = network.connected.lock().unwrap().len();
        (result, connected)
    }

    #[tokio::test]
    async fn a_small_text_from_a_public_address_is_read_and_nothing_else_is() {
        let ok = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
        assert_eq!(fetched("1.1.1.1", ok).await, (Ok("hello".to_owned()), 1));
        let (refused, connected) = fetched("169.254.169.254", ok).await;
        let refused = refused.unwrap_err();
        assert!(
            refused.contains("not a public address; prompts are read"),
            "{refused}"
        );
        assert_eq!(connected, 0, "a refused address is not connected to");
        for (answer, said) in [
            (
                "HTTP/1.1 302 Found\r\nlocation: https://other/\r\ncontent-length: 0\r\n\r\n",
                "302",
            ),
            (
                "HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\nhello world",
                "larger than 10",
            ),
            ("nonsense\r\n\r\n", "cannot be reached"),
        ] {
            let error = fetched("1.1.1.1", answer).await.0.unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
