//! The public documents: made once, compressed once, shared by all responses.

use crate::call::{JSON, Reply};
use crate::openapi;
use crate::route::Route;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use std::sync::OnceLock;

/// A trade-off between size and time at the start.
const LEVEL: u8 = 8;

/// The documents.
#[derive(Debug)]
pub(crate) struct PublicDocuments {
    pub(crate) openapi: SharedDocument,
    pub(crate) docs: SharedDocument,
    pub(crate) iris_schema: SharedDocument,
}

impl PublicDocuments {
    pub(crate) fn new(routes: &[Route]) -> Self {
        let docs = include_str!("routes/docs.html");
        let schema = mizzen_model::document::iris_schema().to_compact();
        Self {
            openapi: SharedDocument::new(JSON, openapi::document(routes)),
            docs: SharedDocument::new("text/html; charset=utf-8", docs),
            iris_schema: SharedDocument::new("application/schema+json", schema),
        }
    }
}

/// One of them.
#[derive(Debug)]
pub(crate) struct SharedDocument {
    media_type: &'static str,
    plain: Bytes,
    gzip: OnceLock<Bytes>,
}

impl SharedDocument {
    pub(crate) fn new(media_type: &'static str, text: impl Into<Bytes>) -> Self {
        Self {
            media_type,
            plain: text.into(),
            gzip: OnceLock::new(),
        }
    }

    /// The response to a request: the same bytes for every client, compressed if the client accepts that.
    pub(crate) fn reply(&self, headers: &HeaderMap) -> Reply {
        let (body, encoding) = if accepts_gzip(headers) {
            let gzip = self.gzip.get_or_init(|| gzip(&self.plain));
            (gzip.clone(), Some("gzip"))
        } else {
            (self.plain.clone(), None)
        };
        let mut reply = Reply::new(StatusCode::OK, self.media_type, body).shared();
        if let Some(encoding) = encoding {
            reply
                .headers
                .insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        reply
            .headers
            .insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        reply
    }
}

/// RFC 9110, 12.5.3: gzip is acceptable when it is named, or `*` is, and not with a weight of zero.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let fields = headers.get_all(header::ACCEPT_ENCODING).iter();
    let codings = fields.flat_map(|value| value.to_str().unwrap_or_default().split(','));
    let (mut named, mut any) = (None, None);
    for coding in codings {
        let mut parts = coding.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let taken = weight.is_none_or(|weight| weight.trim().parse().is_ok_and(|weight: f32| weight > 0.0));
        match name {
            "*" => any = Some(taken),
            name if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") => {
                named = Some(taken);
            }
            _ => {}
        }
    }
    named.or(any).unwrap_or(false)
}

/// RFC 1952: no name and no time, so that the same text gives the same bytes.
fn gzip(plain: &[u8]) -> Bytes {
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255];
    bytes.extend_from_slice(&miniz_oxide::deflate::compress_to_vec(plain, LEVEL));
    bytes.extend_from_slice(&crc32(plain).to_le_bytes());
    // The length modulo 2^32, as the format has it.
    bytes.extend_from_slice(&(plain.len() as u32).to_le_bytes());
    bytes.into()
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    };
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_what_other_programs_read() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        let plain = "mizzen ".repeat(5_000);
        let packed = gzip(plain.as_bytes());
        assert!(packed.len() < 500, "{}", packed.len());
        let deflated = packed.get(10..packed.len() - 8).unwrap();
        let unpacked = miniz_oxide::inflate::decompress_to_vec(deflated).unwrap();
        assert_eq!(unpacked, plain.as_bytes());
    }

    #[test]
    fn gzip_is_sent_to_clients_that_accept_it() {
        let check = |fields: &[&'static str], expected: bool| {
            let mut headers = HeaderMap::new();
            for field in fields {
                headers.append(header::ACCEPT_ENCODING, HeaderValue::from_static(field));
            }
            assert_eq!(accepts_gzip(&headers), expected, "{fields:?}");
        };
        check(&["gzip"], true);
        check(&["br;q=1.0, GZIP;q=0.2"], true);
        check(&["deflate", "x-gzip"], true);
        check(&["*"], true);
        check(&["gzip;q=0, *"], false);
        check(&["gzip; q=0.000"], false);
        check(&["gzip;q=much"], false);
        check(&["identity, br"], false);
        check(&[""], false);
        check(&[], false);
    }
}
