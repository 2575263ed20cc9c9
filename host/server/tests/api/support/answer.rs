//! An answer of the HTTP API, and what every one of them has.

use serde_json::Value;

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The answer that a closed connection has brought; none when the head is not complete.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..end]).ok()?;
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        Some(Self {
            status,
            headers,
            body: bytes[end + 4..].to_vec(),
        })
    }

    /// A header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// Checks the status and, for an error, the whole envelope. Returns the body.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16, code: &str) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status, status, "{text}");
        let id = self
            .header("x-request-id")
            .expect("every answer has a request id")
            .to_owned();
        let uuid = id.strip_prefix("req-").expect("req-<uuid>");
        assert_eq!(uuid.len(), 36, "{id}");
        if status < 400 {
            return if self.body.is_empty() {
                Value::Null
            } else {
                self.json()
            };
        }
        let body = self.json();
        let mut members: Vec<&String> = body.as_object().unwrap().keys().collect();
        members.sort();
        assert_eq!(members, ["code", "details", "message", "request_id"], "{text}");
        assert_eq!(body["code"], code, "{text}");
        assert!(
            body["details"].is_object() && !body["message"].as_str().unwrap().is_empty(),
            "{text}"
        );
        assert_eq!(body["request_id"], id.as_str());
        body
    }
}
