//! Documents that verbs take: JSON or YAML, from a file or from standard input as `-`.

use anyhow::Context as _;
use mizzen_json::{Json, ReadLimits, parse, position_of, yaml};
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

/// A sprite is a prompt of 64 Ki characters and some schemas, a council some hundred of them; this is far more.
const MAX_BYTES: u64 = 16 << 20;

/// Opens a file, or standard input for `-`.
pub(crate) fn open(path: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    if path == Path::new("-") {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    Ok(Box::new(BufReader::new(file)))
}

/// A JSON value that is handed to a chain, a tool or a condition, read as strictly as a body: a key that stands twice is refused, and so is
/// a number that no float can hold, or a whole number that would be rounded.
pub(crate) fn value(text: &str) -> anyhow::Result<serde_json::Value> {
    let tape = parse(text, ReadLimits::default())?;
    Ok(tape.root().to_json_unique()?.to_serde_exact()?)
}

/// A value that is JSON, or else the text itself. JSON that cannot be used as it stands is refused, and not taken for a text.
pub(crate) fn value_or_text(text: &str) -> anyhow::Result<serde_json::Value> {
    match parse(text, ReadLimits::default()) {
        Ok(_) => value(text),
        Err(_) => Ok(text.into()),
    }
}

/// The value of an option such as `--input`: JSON, `@FILE`, or `-` for standard input. Read as strictly as [`value`] does.
pub(crate) fn argument(option: &str, text: &str) -> anyhow::Result<Json> {
    let file = match text.strip_prefix('@') {
        Some(path) => Some(path),
        None => (text == "-").then_some(text),
    };
    let text = match file {
        Some(path) => Cow::Owned(self::text(Path::new(path))?),
        None => Cow::Borrowed(text),
    };
    let value = parse(&text, ReadLimits::default())
        .map_err(anyhow::Error::from)
        .and_then(|tape| Ok(tape.root().to_json_unique()?))
        .with_context(|| {
            format!(
                "{option} is not JSON; write an object such as '{{\"name\": \"Ada\"}}', @FILE, or - for standard input"
            )
        })?;
    value
        .to_serde_exact()
        .with_context(|| format!("{option} cannot be used"))?;
    Ok(value)
}

/// The text of a file or a pipe, which may have no end.
pub(crate) fn text(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let read = open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text);
    read.with_context(|| format!("cannot read {}", path.display()))?;
    anyhow::ensure!(
        text.len() as u64 <= MAX_BYTES,
        "{} is larger than {MAX_BYTES} bytes",
        path.display()
    );
    Ok(text)
}

/// Reads one document, as strictly as the server reads a body: a key that stands twice is refused. A name that ends in `.yaml`
/// or `.yml` is YAML; otherwise the first character tells.
pub(crate) fn read(path: &Path) -> anyhow::Result<Json> {
    let text = text(path)?;
    let named_yaml = path
        .extension()
        .is_some_and(|extension| extension == "yaml" || extension == "yml");
    let limits = ReadLimits::default();
    let tape = if named_yaml || !text.trim_start().starts_with(['{', '[']) {
        yaml::parse(&text, limits)
    } else {
        parse(&text, limits)
    };
    match tape {
        Ok(tape) => tape
            .root()
            .to_json_unique()
            .map_err(|error| anyhow::anyhow!("{}: {error}", path.display())),
        Err(error) => {
            let position = position_of(&text, error.span.start);
            anyhow::bail!(
                "{}:{}:{}: {}",
                path.display(),
                position.line,
                position.column,
                error.message
            )
        }
    }
}
