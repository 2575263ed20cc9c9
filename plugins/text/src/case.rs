//! `text.case`.

use mizzen_sdk::prelude::*;

/// A text and the case it should have.
#[input]
pub struct Recase {
    /// Any text.
    text: String,
    /// The case to give it.
    to: Case,
}

/// A way of writing words.
#[input]
#[derive(Debug, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub enum Case {
    /// `EVERY LETTER`
    Upper,
    /// `every letter`
    Lower,
    /// `Every Word`, the rest as it is
    Title,
    /// `Only the first letter`, the rest as it is
    Sentence,
    /// `words_joined_so`
    Snake,
    /// `words-joined-so`
    Kebab,
    /// `wordsJoinedSo`
    Camel,
    /// `WordsJoinedSo`
    Pascal,
    /// `WORDS_JOINED_SO`
    Constant,
}

/// The text in its new case.
#[output]
#[derive(Debug, PartialEq, Eq)]
pub struct Recased {
    /// The text in its new case.
    text: String,
}

/// Changes the case of a text: upper, lower, title or sentence case for prose; snake, kebab, camel, pascal or constant case for identifiers.
#[tool(
    side_effects = "none",
    tags = ["case", "identifier"],
    example(name = "shouts", input = { "text": "straße", "to": "upper" }, output = { "text": "STRASSE" }),
    example(name = "titles", input = { "text": "the old man", "to": "title" }, output = { "text": "The Old Man" }),
    example(name = "camel to snake", input = { "text": "parseHTTPResponse", "to": "snake" }, output = { "text": "parse_http_response" }),
    example(name = "words to pascal", input = { "text": "max retry-count 2", "to": "pascal" }, output = { "text": "MaxRetryCount2" })
)]
pub fn case(input: Recase) -> Recased {
    let text = &input.text;
    Recased {
        text: match input.to {
            Case::Upper => text.to_uppercase(),
            Case::Lower => text.to_lowercase(),
            Case::Title => capitalise(text, Capitals::EveryWord),
            Case::Sentence => capitalise(text, Capitals::FirstWord),
            Case::Snake => join(text, "_", |_, word| word.to_lowercase()),
            Case::Kebab => join(text, "-", |_, word| word.to_lowercase()),
            Case::Constant => join(text, "_", |_, word| word.to_uppercase()),
            Case::Pascal => join(text, "", |_, word| capital(&word.to_lowercase())),
            Case::Camel => join(text, "", |index, word| {
                if index == 0 {
                    word.to_lowercase()
                } else {
                    capital(&word.to_lowercase())
                }
            }),
        },
    }
}

#[derive(PartialEq, Eq)]
enum Capitals {
    EveryWord,
    FirstWord,
}

fn capitalise(text: &str, which: Capitals) -> String {
    let mut result = String::with_capacity(text.len());
    let mut due = true;
    for character in text.chars() {
        if character.is_alphanumeric() && due {
            result.extend(character.to_uppercase());
            due = false;
        } else {
            due |= which == Capitals::EveryWord && character.is_whitespace();
            result.push(character);
        }
    }
    result
}

fn capital(word: &str) -> String {
    let mut characters = word.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

fn join(text: &str, separator: &str, write: impl Fn(usize, &str) -> String) -> String {
    words(text)
        .iter()
        .enumerate()
        .map(|(index, word)| write(index, word))
        .collect::<Vec<_>>()
        .join(separator)
}

/// Splits at what is not a letter or digit, before a capital that follows a small letter or digit, and before the last
/// capital of a run that goes on in small letters (`HTTPResponse` is `HTTP`, `Response`).
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut characters = text.chars().peekable();
    let mut previous: Option<char> = None;
    while let Some(character) = characters.next() {
        let next_is_small = characters.peek().is_some_and(|next| next.is_lowercase());
        let begins = character.is_uppercase()
            && previous.is_some_and(|before| !before.is_uppercase() || next_is_small);
        if (begins || !character.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.push(character);
        }
        previous = Some(character);
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, to: Case, expected: &str) {
        let recased = case(Recase {
            text: text.to_owned(),
            to,
        });
        assert_eq!(recased.text, expected, "{text} to {to:?}");
    }

    #[test]
    fn identifiers_are_split_where_a_reader_would() {
        check("HTTPServer", Case::Snake, "http_server");
        check("already_snake", Case::Camel, "alreadySnake");
        check("Utf8String", Case::Kebab, "utf8-string");
        check("  spaced   out ", Case::Constant, "SPACED_OUT");
        check("", Case::Pascal, "");
        check("---", Case::Snake, "");
    }

    #[test]
    fn prose_keeps_its_white_space() {
        check("two  spaces\tand a tab", Case::Title, "Two  Spaces\tAnd A Tab");
        check("\"quoted words\"", Case::Sentence, "\"Quoted words\"");
        check("don't", Case::Title, "Don't");
    }
}
