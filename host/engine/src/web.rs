//! Where a URL leads. The permission check and the connection use this one reading of it.

use mizzen_model::permission::HostPort;
use url::Url;

/// A URL that outgoing HTTP does not take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UrlError(String);

/// A checked URL: `http` or `https`, a host, no user information, no fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebUrl {
    url: Url,
    target: HostPort,
}

impl WebUrl {
    /// Reads a URL. Odd spellings of addresses (`0x7f.1`, `2130706433`) become the address that they mean.
    ///
    /// # Errors
    /// For another scheme, for user information, and for what is not a URL.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let wrong = |reason: &str| UrlError(format!("{reason}: write https://HOST[:PORT]/PATH"));
        let mut url = Url::parse(text).map_err(|e| wrong(&format!("not a URL ({e})")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("only http and https are allowed"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("user information in a URL is not allowed"));
        }
        url.set_fragment(None);
        let port = url.port_or_known_default().ok_or_else(|| wrong("no port"))?;
        let host = url.host_str().ok_or_else(|| wrong("no host"))?;
        let target =
            HostPort::new(host, port).ok_or_else(|| wrong("the host's name has characters out of place"))?;
        Ok(Self { url, target })
    }

    /// Where it leads.
    pub fn target(&self) -> &HostPort {
        &self.target
    }

    /// The normal form of the URL.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// Whether the connection is encrypted.
    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The host and, where it is not the scheme's own, the port, as a `Host` header has them.
    pub fn authority(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        match self.url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// The path and the query, as a request line has them.
    pub fn path_and_query(&self) -> String {
        match self.url.query() {
            Some(query) => format!("{}?{query}", self.url.path()),
            None => self.url.path().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_spellings_lead_to_the_address_that_they_mean() {
        for (text, target) in [
            ("https://API.Example.com/x", "api.example.com:443"),
            ("http://127.1/", "127.0.0.1:80"),
            ("http://0x7f000001/", "127.0.0.1:80"),
            ("http://2130706433:81/", "127.0.0.1:81"),
            ("http://[::ffff:127.0.0.1]/", "[::ffff:127.0.0.1]:80"),
            ("http://example.com.:8080/", "example.com:8080"),
            ("http://ｅxample.com/", "example.com:80"),
        ] {
            assert_eq!(
                WebUrl::parse(text).unwrap().target().to_string(),
                target,
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_not_a_plain_web_address_is_refused() {
        for text in [
            "",
            "example.com",
            "ftp://a/",
            "file:///etc/passwd",
            "http://u@a/",
            "http://u:p@a/",
            "http://",
            "http://a b/",
        ] {
            assert!(WebUrl::parse(text).is_err(), "{text}");
        }
    }
}
