//! The plugin file: a component, one manifest section, one or more signature sections, and nothing after them.
//!
//! Reading takes the file apart and refuses every other shape; it decides nothing about trust. What is signed is every
//! byte before the signature, so the digest of a package is the BLAKE3 hash of all bytes before its first signature.

pub(crate) mod section;

use crate::files::{self, FileError};
use crate::key::PublicKey;
use crate::signature::{self, MAX_SIGNATURES, SignatureBlock};
use mizzen_json::shorten;
use mizzen_model::manifest::MAX_MANIFEST;
use section::{append_custom, sections};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The name of the section that holds `plugin.toml`.
pub const MANIFEST_SECTION: &str = "mizzen:manifest";
/// The name of the sections that hold signatures.
pub const SIGNATURE_SECTION: &str = "mizzen:signature";
/// The largest package that is read by default: 64 MiB.
pub const MAX_PACKAGE: u64 = 64 << 20;

const RESERVED: &str = "mizzen:";
const MAGIC: &[u8] = b"\0asm";
const COMPONENT: &[u8] = &[0x0d, 0, 1, 0];
const CORE_MODULE: &[u8] = &[1, 0, 0, 0];

/// Why a file is not a plugin package.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// It does not begin like WebAssembly.
    #[error(
        "the file is not WebAssembly: it does not begin with `\\0asm`; build one with `mizzen plugin build`"
    )]
    NotWasm,
    /// It is native code.
    #[error("the file is precompiled native code, which is never loaded; use the component it was made from")]
    Precompiled,
    /// It is a core module.
    #[error(
        "the file is a core module, not a component; build for wasm32-wasip2, or with `mizzen plugin build`"
    )]
    CoreModule,
    /// It is WebAssembly of a version that is not known.
    #[error(
        "the file is WebAssembly of an unknown version; only components (version 13, layer 1) are plugins"
    )]
    UnknownVersion,
    /// It ends in the middle of a section, or a section declares that it is larger than the file.
    #[error(
        "the section at byte {offset} does not fit in the file of {size} bytes: the file is cut off or damaged"
    )]
    Truncated {
        /// Where the section begins.
        offset: usize,
        /// How many bytes the file has.
        size: usize,
    },
    /// It is a component, but not a package.
    #[error("the component carries no manifest; make a package with `mizzen plugin build`")]
    NoManifest,
    /// It has more than one manifest.
    #[error("the package has a second manifest at byte {offset}; exactly one is allowed")]
    TwoManifests {
        /// Where the second one begins.
        offset: usize,
    },
    /// The manifest section is too large or is not text.
    #[error("the manifest section is not UTF-8 text of at most {MAX_MANIFEST} bytes")]
    BadManifest,
    /// A signature comes before the manifest.
    #[error("there is a signature at byte {offset}, before the manifest; signatures come last")]
    SignatureInTheMiddle {
        /// Where the signature begins.
        offset: usize,
    },
    /// Something follows the manifest that is not a signature.
    #[error(
        "something follows the manifest at byte {offset} that is not a signature; only signatures may follow it"
    )]
    Trailing {
        /// Where it begins.
        offset: usize,
    },
    /// A section name that belongs to Mizzen and means nothing.
    #[error("the section `{name}` at byte {offset} is unknown; names with `mizzen:` are reserved")]
    ReservedName {
        /// The name.
        name: String,
        /// Where the section begins.
        offset: usize,
    },
    /// A signature section that is not in its one canonical form.
    #[error("the signature section at byte {offset} is damaged: {reason}")]
    BadSignatureSection {
        /// Where it begins.
        offset: usize,
        /// What does not fit.
        reason: &'static str,
    },
    /// Too many signatures.
    #[error("the package has more than {MAX_SIGNATURES} signatures")]
    TooManySignatures,
}

/// The BLAKE3 hash of a package without its signatures: `blake3:` and 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(blake3::Hash);

impl Digest {
    /// Reads `blake3:` and 64 lowercase hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = mizzen_model::hex::decode(text.strip_prefix("blake3:")?)?;
        Some(Self(blake3::Hash::from_bytes(bytes)))
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }
}

impl Ord for Digest {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl PartialOrd for Digest {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "blake3:{}", self.0.to_hex())
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A file that has the shape of a package. Nothing in it has been verified.
#[derive(Debug, Clone)]
pub struct Package {
    unsigned: Arc<[u8]>,
    component_len: usize,
    manifest: String,
    digest: Digest,
    signatures: Vec<SignatureBlock>,
}

impl Package {
    /// Reads a package of at most `max` bytes from a file.
    ///
    /// # Errors
    /// See [`PackageError`].
    pub fn read(path: &Path, max: u64) -> Result<Self, PackageError> {
        Self::parse(files::read_bounded(path, max)?)
    }

    /// Takes the bytes of a file apart.
    ///
    /// # Errors
    /// See [`PackageError`].
    pub fn parse(mut bytes: Vec<u8>) -> Result<Self, PackageError> {
        check_header(&bytes)?;
        let layout = Layout::of(&bytes)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(bytes.get(..layout.unsigned_len).unwrap_or_default());
        let digest = Digest(hasher.finalize());
        let mut signatures = Vec::with_capacity(layout.signatures.len());
        for (start, end) in layout.signatures {
            let covered = hasher.finalize();
            let whole = bytes.get(start..end).unwrap_or_default();
            let block = SignatureBlock::parse(whole, covered).map_err(|reason| {
                PackageError::BadSignatureSection {
                    offset: start,
                    reason,
                }
            })?;
            hasher.update(whole);
            signatures.push(block);
        }
        bytes.truncate(layout.unsigned_len);
        Ok(Self {
            unsigned: bytes.into(),
            component_len: layout.component_len,
            manifest: layout.manifest,
            digest,
            signatures,
        })
    }

    /// The bytes that the first signature covers: a component which carries its manifest. This is what is compiled.
    pub const fn unsigned(&self) -> &Arc<[u8]> {
        &self.unsigned
    }

    /// The component alone, without the manifest section.
    pub fn component(&self) -> &[u8] {
        self.unsigned.get(..self.component_len).unwrap_or_default()
    }

    /// The text of `plugin.toml`.
    pub fn manifest_text(&self) -> &str {
        &self.manifest
    }

    /// The digest of [`Self::unsigned`].
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// The signatures, in the order of the file, not verified.
    pub fn signatures(&self) -> &[SignatureBlock] {
        &self.signatures
    }

    /// Checks every signature. One that does not hold invalidates the package, however many others do.
    ///
    /// # Errors
    /// When there is none, one does not hold, or a key signed twice.
    pub fn verify(&self) -> Result<Vec<PublicKey>, signature::SignatureError> {
        signature::verify_all(&self.signatures)
    }
}

/// Appends a manifest to a component that has none. The result is a package without signatures.
///
/// # Errors
/// When the bytes are not a component, carry a manifest already, or the manifest is too large.
pub fn embed_manifest(component: &[u8], manifest: &str) -> Result<Vec<u8>, PackageError> {
    check_header(component)?;
    if manifest.len() > MAX_MANIFEST {
        return Err(PackageError::BadManifest);
    }
    match Layout::of(component) {
        Err(PackageError::NoManifest) => {}
        Ok(layout) => {
            return Err(PackageError::TwoManifests {
                offset: layout.component_len,
            });
        }
        Err(error) => return Err(error),
    }
    let mut bytes = component.to_vec();
    append_custom(&mut bytes, MANIFEST_SECTION, &[manifest.as_bytes()]);
    Ok(bytes)
}

fn check_header(bytes: &[u8]) -> Result<(), PackageError> {
    if bytes.is_empty() {
        return Err(PackageError::Empty);
    }
    if bytes.starts_with(b"\x7fELF") {
        return Err(PackageError::Precompiled);
    }
    let Some(version) = bytes.strip_prefix(MAGIC) else {
        return Err(PackageError::NotWasm);
    };
    match version.get(..4) {
        Some(COMPONENT) => Ok(()),
        Some(CORE_MODULE) => Err(PackageError::CoreModule),
        Some(_) => Err(PackageError::UnknownVersion),
        None => Err(PackageError::Truncated {
            offset: 0,
            size: bytes.len(),
        }),
    }
}

/// Where the parts of a package are.
struct Layout {
    component_len: usize,
    unsigned_len: usize,
    manifest: String,
    signatures: Vec<(usize, usize)>,
}

impl Layout {
    fn of(bytes: &[u8]) -> Result<Self, PackageError> {
        let mut manifest: Option<(usize, usize, String)> = None;
        let mut signatures = Vec::new();
        for section in sections(bytes) {
            let section = section.map_err(|broken| PackageError::Truncated {
                offset: broken.offset,
                size: bytes.len(),
            })?;
            let offset = section.start;
            match (section.custom(), &manifest) {
                (Some((MANIFEST_SECTION, contents)), None) => {
                    let text = std::str::from_utf8(contents)
                        .ok()
                        .filter(|text| text.len() <= MAX_MANIFEST);
                    let text = text.ok_or(PackageError::BadManifest)?.to_owned();
                    manifest = Some((offset, section.end(), text));
                }
                (Some((MANIFEST_SECTION, _)), Some(_)) => return Err(PackageError::TwoManifests { offset }),
                (Some((SIGNATURE_SECTION, _)), None) => {
                    return Err(PackageError::SignatureInTheMiddle { offset });
                }
                (Some((SIGNATURE_SECTION, _)), Some(_)) => {
                    if signatures.len() == MAX_SIGNATURES {
                        return Err(PackageError::TooManySignatures);
                    }
                    signatures.push((offset, section.end()));
                }
                (_, Some(_)) => return Err(PackageError::Trailing { offset }),
                (Some((name, _)), None) if name.starts_with(RESERVED) => {
                    return Err(PackageError::ReservedName {
                        name: shorten(name),
                        offset,
                    });
                }
                (_, None) => {}
            }
        }
        let (component_len, unsigned_len, manifest) = manifest.ok_or(PackageError::NoManifest)?;
        Ok(Self {
            component_len,
            unsigned_len,
            manifest,
            signatures,
        })
    }
}

#[cfg(test)]
mod tests;
