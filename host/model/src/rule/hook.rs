//! Who hears of a rule's match: `webhook:https://…` or `notify:slack:#alerts`.

use std::fmt;

/// A URL of visible ASCII, or a channel's name and anything without control characters for it.
pub const HOOK_PATTERN: &str =
    r"^(?:webhook:https?://[!-~]+|notify:[a-z][a-z0-9_-]*:[^\u0000-\u001f\u007f]+)$";
/// The longest hook, in characters.
pub const HOOK_MAX: usize = 2048;

/// A text that is not a hook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a hook: expected webhook:URL with an http or https URL, or notify:CHANNEL:TARGET such as notify:slack:#alerts"
)]
pub struct NotAHook;

/// A notification that a rule's match causes. It is delivered after the decision and never changes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Hook {
    /// A POST to a URL.
    Webhook {
        /// The URL, http or https.
        url: String,
    },
    /// A message through a channel that the operator has configured.
    Notify {
        /// The channel's name, such as `slack`.
        channel: String,
        /// What the channel is told to reach, such as `#alerts`.
        target: String,
    },
}

fn split(text: &str) -> Option<Hook> {
    if let Some(url) = text.strip_prefix("webhook:") {
        let rest = url
            .strip_prefix("https://")
            .or_else(|| url.strip_prefix("http://"))?;
        let fits = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic());
        return fits.then(|| Hook::Webhook { url: url.to_owned() });
    }
    let (channel, target) = text.strip_prefix("notify:")?.split_once(':')?;
    let channel_fits = channel.starts_with(|first: char| first.is_ascii_lowercase())
        && channel
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'));
    let target_fits = !target.is_empty() && !target.contains(|character: char| character.is_ascii_control());
    (channel_fits && target_fits).then(|| Hook::Notify {
        channel: channel.to_owned(),
        target: target.to_owned(),
    })
}

/// Whether a text follows [`HOOK_PATTERN`]; the length is judged separately.
pub(crate) fn is_hook(text: &str) -> bool {
    split(text).is_some()
}

impl Hook {
    /// Reads a hook.
    ///
    /// # Errors
    /// [`NotAHook`] when the text does not follow the pattern or is longer than [`HOOK_MAX`].
    pub fn parse(text: &str) -> Result<Self, NotAHook> {
        if text.chars().count() > HOOK_MAX {
            return Err(NotAHook);
        }
        split(text).ok_or(NotAHook)
    }
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hook::Webhook { url } => write!(f, "webhook:{url}"),
            Hook::Notify { channel, target } => write!(f, "notify:{channel}:{target}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hooks_of_the_seed_are_read() {
        let slack = Hook::parse("notify:slack:#iris-alerts").unwrap();
        assert_eq!(
            slack,
            Hook::Notify {
                channel: "slack".to_owned(),
                target: "#iris-alerts".to_owned()
            }
        );
        let webhook = Hook::parse("webhook:https://ops.iris.dev/escalate").unwrap();
        assert_eq!(
            webhook,
            Hook::Webhook {
                url: "https://ops.iris.dev/escalate".to_owned()
            }
        );
        for text in [
            "notify:slack:#a",
            "notify:pager:team:blue é",
            "webhook:http://127.0.0.1:9/x?y=1",
        ] {
            assert_eq!(Hook::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_not_a_hook_is_refused() {
        for bad in [
            "",
            "slack:#a",
            "webhook:",
            "webhook:ftp://a",
            "webhook:https://",
            "webhook:https://a b",
            "webhook:https://é",
            "notify:",
            "notify:slack",
            "notify:slack:",
            "notify::a",
            "notify:Slack:a",
            "notify:slack:a\nb",
            "WEBHOOK:https://a",
            "log:warn",
        ] {
            assert_eq!(Hook::parse(bad), Err(NotAHook), "{bad:?}");
        }
    }
}
