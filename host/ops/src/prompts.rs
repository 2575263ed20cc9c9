//! Where `$ref:` prompts may come from (D10): files below one folder, and named hosts. Both are off until configured.

use mizzen_catalog::files;
use mizzen_model::sprite::{PROMPT_MAX, PromptReference};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

/// Bytes of a prompt file: the longest prompt in the widest encoding.
const MAX_BYTES: u64 = PROMPT_MAX as u64 * 4;

/// Fetches a prompt over HTTPS. The host's own client implements it, with its limits on time, redirects and addresses.
pub trait FetchPrompt: Send + Sync + std::fmt::Debug {
    /// The text at `url`, at most `limit` bytes; an error in words for the caller.
    fn fetch<'a>(
        &'a self,
        url: &'a str,
        limit: u64,
    ) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>>;
}

/// What is allowed.
#[derive(Debug, Clone, Default)]
pub struct Prompts {
    /// The folder below which `file:` references may point.
    pub root: Option<PathBuf>,
    /// The hosts that `https:` references may name.
    pub hosts: Vec<String>,
    /// What fetches from them.
    pub fetch: Option<Arc<dyn FetchPrompt>>,
}

impl Prompts {
    /// The text that a reference stands for, or why it is refused.
    pub(crate) async fn read(&self, reference: PromptReference) -> Result<String, String> {
        match reference {
            PromptReference::File(path) => self.read_file(path).await,
            PromptReference::Https(url) => self.read_url(&url).await,
            PromptReference::Unsupported(uri) => {
                let shown: String = uri.chars().take(64).collect();
                Err(format!(
                    "{shown:?} cannot be read: only file:///… and https://… references are"
                ))
            }
        }
    }

    async fn read_file(&self, encoded: String) -> Result<String, String> {
        let Some(root) = self.root.clone() else {
            return Err(
                "file references are off; the operator can set prompts.root in mizzen.toml".to_owned(),
            );
        };
        let reading = tokio::task::spawn_blocking(move || read_below(&root, &encoded));
        reading
            .await
            .unwrap_or_else(|_| Err("the file cannot be read".to_owned()))
    }

    async fn read_url(&self, url: &str) -> Result<String, String> {
        let host = host_of(url);
        if !self
            .hosts
            .iter()
            .any(|allowed| Some(allowed.as_str()) == host.as_deref())
        {
            return Err(format!(
                "https references to {} are off; the operator can add the host to prompts.hosts in mizzen.toml",
                host.as_deref().unwrap_or("this host")
            ));
        }
        match &self.fetch {
            Some(fetch) => fetch.fetch(url, MAX_BYTES).await,
            None => Err("https references cannot be fetched by this host".to_owned()),
        }
    }
}

/// The host of a URL without user, port and trailing dot; none when there is anything odd about it.
fn host_of(url: &str) -> Option<String> {
    let rest = url.strip_prefix("https://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    if authority.contains('@') {
        return None;
    }
    let host = authority.strip_suffix(":443").unwrap_or(authority);
    let plain = host
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
    (plain && !host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// Reads a file that really lies below the root: symbolic links and `..` are resolved before the comparison. Every refusal
/// sounds the same, so that a caller cannot feel for files outside.
fn read_below(root: &Path, encoded: &str) -> Result<String, String> {
    let refused =
        || "the file does not exist below the folder for prompts, or is not a text that fits".to_owned();
    let decoded = mizzen_json::percent::decode_strict(encoded)
        .filter(|path| !path.contains('\0'))
        .ok_or_else(refused)?;
    let root = root.canonicalize().map_err(|_| refused())?;
    let path = Path::new(&decoded).canonicalize().map_err(|_| refused())?;
    if !path.starts_with(&root) {
        return Err(refused());
    }
    let text = files::read_text(&path, MAX_BYTES).map_err(|_| refused())?;
    if text.chars().count() > PROMPT_MAX {
        Err(refused())
    } else {
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn references_are_off_until_they_are_configured() {
        let prompts = Prompts::default();
        let file = prompts.read(PromptReference::File("/etc/hostname".into())).await;
        assert!(file.unwrap_err().contains("prompts.root"));
        let https = prompts
            .read(PromptReference::Https("https://a.example/p".into()))
            .await;
        assert!(https.unwrap_err().contains("prompts.hosts"));
        assert!(
            prompts
                .read(PromptReference::Unsupported("ftp://x".into()))
                .await
                .is_err()
        );
    }

    #[tokio::test]
    async fn a_file_is_read_only_when_it_really_lies_below_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("prompts");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("a b.md"), "be kind").unwrap();
        std::fs::write(folder.path().join("secret"), "no").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), root.join("link")).unwrap();
        std::fs::write(root.join("long"), "x".repeat(PROMPT_MAX + 1)).unwrap();
        let prompts = Prompts {
            root: Some(root.clone()),
            ..Prompts::default()
        };
        let read = |name: &str| prompts.read(PromptReference::File(format!("{}/{name}", root.display())));
        assert_eq!(read("a%20b.md").await.as_deref(), Ok("be kind"));
        for outside in [
            "../secret",
            "%2e%2e/secret",
            "link",
            "missing",
            "long",
            ".",
            "%00",
            "%zz",
        ] {
            assert!(read(outside).await.is_err(), "{outside}");
        }
    }

    #[tokio::test]
    async fn only_listed_hosts_are_fetched_from() {
        #[derive(Debug)]
        struct Recorded;
        impl FetchPrompt for Recorded {
            fn fetch<'a>(
                &'a self,
                url: &'a str,
                _: u64,
            ) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>> {
                Box::pin(async move { Ok(format!("fetched {url}")) })
            }
        }
        let prompts = Prompts {
            hosts: vec!["a.example".into()],
            fetch: Some(Arc::new(Recorded)),
            ..Prompts::default()
        };
        for url in ["https://a.example/p", "https://A.example:443/p"] {
            assert!(
                prompts.read(PromptReference::Https(url.into())).await.is_ok(),
                "{url}"
            );
        }
        for url in [
            "https://b.example/p",
            "https://a.example.evil.example/p",
            "https://a.example@evil.example/p",
            "https://evil.example\\@a.example/p",
            "https://a.example:8443/p",
            "https://",
        ] {
            assert!(
                prompts.read(PromptReference::Https(url.into())).await.is_err(),
                "{url}"
            );
        }
    }
}
