//! Text to tokens, in one pass, with the bounds that must hold before any parser recurses: the number of operators and
//! the depth of brackets are counted here, so that a hostile text never reaches the parser.

use super::error::{ConditionError, Position};
use super::limits::ConditionLimits;
use super::literal;
use super::token::{Sign, Token, TokenKind};

/// What the expressions of one rule have used up together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Count {
    /// Operators so far.
    pub(crate) operators: usize,
    /// Levels around the text that comes next.
    pub(crate) nesting: usize,
}

/// Reads all tokens of `text`, which starts at `start` of the whole; the last token is [`TokenKind::End`].
pub(crate) fn tokens(
    text: &str,
    start: Position,
    limits: ConditionLimits,
    count: &mut Count,
) -> Result<Vec<Token>, ConditionError> {
    let mut lexer = Lexer {
        rest: text,
        position: start,
    };
    let mut tokens = Vec::new();
    let mut nesting = count.nesting;
    loop {
        let token = lexer.next()?;
        match &token.kind {
            TokenKind::Sign(Sign::OpenParen | Sign::OpenBracket | Sign::OpenBrace) => {
                nesting += 1;
                if nesting > limits.nesting {
                    return Err(ConditionError::new(
                        token.position,
                        format!("brackets are nested deeper than {}", limits.nesting),
                    )
                    .hint("split the condition into several gates or rules"));
                }
            }
            TokenKind::Sign(Sign::CloseParen | Sign::CloseBracket | Sign::CloseBrace) => {
                nesting = nesting.saturating_sub(1);
            }
            TokenKind::Sign(sign) if sign.is_operator() => count.operators += 1,
            TokenKind::Identifier(name) if &**name == "in" => count.operators += 1,
            _ => {}
        }
        if count.operators > limits.operators {
            return Err(ConditionError::new(
                token.position,
                format!("the condition has more than {} operators", limits.operators),
            )
            .hint("test membership with `in [...]` instead of long chains of `||`"));
        }
        let end = token.kind == TokenKind::End;
        tokens.push(token);
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    position: Position,
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Result<Token, ConditionError> {
        self.skip_blank();
        let position = self.position;
        let Some(first) = self.rest.chars().next() else {
            return Ok(Token {
                kind: TokenKind::End,
                position,
            });
        };
        let kind = match first {
            '0'..='9' => self.number()?,
            '.' if self.rest.chars().nth(1).is_some_and(|c| c.is_ascii_digit()) => self.number()?,
            '"' | '\'' => self.string()?,
            'a'..='z' | 'A'..='Z' | '_' if literal::starts_string(self.rest) => self.string()?,
            'a'..='z' | 'A'..='Z' | '_' => {
                let length = self
                    .rest
                    .bytes()
                    .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                    .count();
                TokenKind::Identifier(self.take(length).into())
            }
            '`' => self.quoted()?,
            _ => self.sign(first)?,
        };
        Ok(Token { kind, position })
    }

    fn skip_blank(&mut self) {
        loop {
            let blank = self.rest.len()
                - self
                    .rest
                    .trim_start_matches([' ', '\t', '\n', '\r', '\u{c}'])
                    .len();
            self.take(blank);
            if !self.rest.starts_with("//") {
                return;
            }
            let comment = self.rest.find('\n').unwrap_or(self.rest.len());
            self.take(comment);
        }
    }

    /// Moves on by `bytes`, which always ends at a character boundary, and gives back what was passed.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.position = Position::of_offset(taken, taken.len()).shifted(self.position);
        self.rest = rest;
        taken
    }

    fn number(&mut self) -> Result<TokenKind, ConditionError> {
        let position = self.position;
        let (kind, length) =
            literal::number(self.rest).map_err(|message| ConditionError::new(position, message))?;
        self.take(length);
        if self.rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            return Err(ConditionError::new(
                self.position,
                "a number ends in a letter or digit that it cannot have",
            )
            .hint("suffix `u` marks unsigned integers; anything else needs a space or an operator"));
        }
        Ok(kind)
    }

    fn string(&mut self) -> Result<TokenKind, ConditionError> {
        let position = self.position;
        let (kind, length) = literal::string(self.rest).map_err(|(offset, message)| {
            ConditionError::new(Position::of_offset(self.rest, offset).shifted(position), message)
        })?;
        self.take(length);
        Ok(kind)
    }

    fn quoted(&mut self) -> Result<TokenKind, ConditionError> {
        let position = self.position;
        let name = self
            .rest
            .get(1..)
            .and_then(|rest| rest.split_once('`'))
            .map(|(name, _)| name);
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ' ');
        match name {
            Some(name) if !name.is_empty() && name.chars().all(allowed) => {
                self.take(name.len() + 2);
                Ok(TokenKind::Quoted(name.into()))
            }
            _ => Err(ConditionError::new(
                position,
                "a quoted field name is not closed or has other characters",
            )
            .hint("write the field as an index: value[\"odd name\"]")),
        }
    }

    fn sign(&mut self, first: char) -> Result<TokenKind, ConditionError> {
        let position = self.position;
        if let Some((text, sign)) = Sign::SPELLINGS
            .iter()
            .find(|(text, _)| self.rest.starts_with(text))
        {
            self.take(text.len());
            return Ok(TokenKind::Sign(*sign));
        }
        let error = ConditionError::new(position, format!("{first:?} means nothing in a condition"));
        Err(match first {
            '=' => error.hint("compare with `==`"),
            '&' => error.hint("combine with `&&`"),
            '|' => error.hint("combine with `||`"),
            '$' => error.hint("name the variable itself, such as `input.x`; `$` belongs to maps"),
            '“' | '”' | '‘' | '’' => error.hint("use straight quotes"),
            _ => error,
        })
    }
}
