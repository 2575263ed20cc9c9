//! Per plugin: compiled once, then loaded from a cache on disk.
//!
//! An artifact is native code that runs unchecked, so one is loaded only when this host wrote it: every entry ends in a
//! BLAKE3 code keyed by a secret that stays in the cache folder, over the artifact and the name it is stored under. A
//! corrupt, foreign or renamed entry fails that check and is rebuilt. The folder must belong to this user alone. An entry is
//! read within a bound, and only if it is a regular file: a pipe in the place of an entry would block the start of a host.

use crate::effort;
use mizzen_catalog::files::{self, FileError};
use std::hash::{Hash, Hasher};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use wasmtime::Engine;
use wasmtime::component::Component;

const KEY_FILE: &str = "artifact.key";
const MAC_LENGTH: usize = 32;
/// A compiled artifact of the largest component stays far below this; a larger entry is not ours.
const MAX_ARTIFACT: u64 = 1 << 30;

/// Where a compiled component came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compiled {
    /// Compiled now.
    Now,
    /// Loaded from the cache.
    FromCache,
}

/// The component does not compile.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct CompileError(pub(crate) String);

/// Compiled artifacts on disk.
pub(crate) struct Artifacts {
    place: Option<CacheFolder>,
    /// Compilation uses every core by itself: one at a time.
    compiling: Mutex<()>,
}

struct CacheFolder {
    folder: PathBuf,
    key: [u8; 32],
}

impl Artifacts {
    /// Opens the cache. A folder that others can write to is not used, and a warning logged: the host works without it.
    pub(crate) fn open(folder: Option<&Path>) -> Self {
        let place = folder.and_then(|folder| match CacheFolder::open(folder) {
            Ok(place) => Some(place),
            Err(error) => {
                tracing::warn!(folder = %folder.display(), %error, "the artifact cache is not used; every start compiles every plugin");
                None
            }
        });
        Self {
            place,
            compiling: Mutex::new(()),
        }
    }

    /// The compiled component, from the cache if there is a valid entry.
    pub(crate) fn component(
        &self,
        engine: &Engine,
        wasm: &[u8],
    ) -> Result<(Component, Compiled), CompileError> {
        if Engine::detect_precompiled(wasm).is_some() {
            return Err(CompileError(
                "this is native code, not a component; only components are accepted".into(),
            ));
        }
        let name = entry_name(engine, wasm);
        if let Some(component) = self.cached(engine, &name) {
            return Ok((component, Compiled::FromCache));
        }
        // A poisoned lock means a compilation panicked; the unit inside cannot be broken by that.
        let _one_at_a_time = self
            .compiling
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(component) = self.cached(engine, &name) {
            return Ok((component, Compiled::FromCache));
        }
        effort::check(wasm).map_err(|problem| CompileError(problem.to_string()))?;
        let artifact = engine
            .precompile_component(wasm)
            .map_err(|e| CompileError(format!("{e:#}")))?;
        if let Some(place) = &self.place
            && let Err(error) = place.write(&name, &artifact)
        {
            tracing::warn!(%error, "a compiled artifact could not be stored; the next start compiles it again");
        }
        let component = load(engine, &artifact).map_err(|e| CompileError(format!("{e:#}")))?;
        Ok((component, Compiled::Now))
    }

    fn cached(&self, engine: &Engine, name: &str) -> Option<Component> {
        let place = self.place.as_ref()?;
        let artifact = match place.read(name) {
            Ok(artifact) => artifact?,
            Err(error) => {
                tracing::warn!(entry = name, %error, "a cached artifact is damaged; it is rebuilt");
                return None;
            }
        };
        match load(engine, &artifact) {
            Ok(component) => Some(component),
            Err(error) => {
                tracing::warn!(entry = name, %error, "a cached artifact does not fit this host; it is rebuilt");
                None
            }
        }
    }
}

impl CacheFolder {
    fn open(folder: &Path) -> std::io::Result<Self> {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let meta = std::fs::symlink_metadata(folder)?;
        let ours =
            meta.is_dir() && meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o022 == 0;
        if !ours {
            return Err(std::io::Error::other(
                "the folder must be a directory of this user that no other user can write to (chmod 700)",
            ));
        }
        Ok(Self {
            folder: folder.to_owned(),
            key: key(folder)?,
        })
    }

    fn mac(&self, name: &str, artifact: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(name.as_bytes()).update(&[0]).update(artifact);
        hasher.finalize()
    }

    /// `Ok(None)` when there is no entry; an error when there is one that this host did not write.
    fn read(&self, name: &str) -> std::io::Result<Option<Vec<u8>>> {
        let mut bytes = match files::read_bounded(&self.folder.join(name), MAX_ARTIFACT) {
            Ok(bytes) => bytes,
            Err(error) if error.is_missing() => return Ok(None),
            Err(error) => return Err(std::io::Error::other(error)),
        };
        let body = bytes
            .len()
            .checked_sub(MAC_LENGTH)
            .ok_or_else(|| std::io::Error::other("truncated"))?;
        let mac: [u8; MAC_LENGTH] = bytes
            .split_off(body)
            .try_into()
            .map_err(|_| std::io::Error::other("truncated"))?;
        // `Hash` compares in constant time.
        if self.mac(name, &bytes) != mac {
            return Err(std::io::Error::other("its authentication code does not match"));
        }
        Ok(Some(bytes))
    }

    fn write(&self, name: &str, artifact: &[u8]) -> Result<(), FileError> {
        let entry = [artifact, self.mac(name, artifact).as_bytes()].concat();
        files::replace(&self.folder.join(name), &entry, 0o600)
    }
}

/// The folder's secret, made at first use.
fn key(folder: &Path) -> std::io::Result<[u8; 32]> {
    let path = folder.join(KEY_FILE);
    let mut fresh = [0u8; 32];
    getrandom::fill(&mut fresh).map_err(std::io::Error::other)?;
    // It appears whole or not at all: two hosts that start together agree on the first one.
    match files::create_new(&path, &fresh, 0o600) {
        Ok(()) => return Ok(fresh),
        Err(FileError::Io { source, .. }) if source.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(std::io::Error::other(error)),
    }
    let meta = std::fs::symlink_metadata(&path)?;
    if !meta.is_file() || meta.mode() & 0o077 != 0 {
        return Err(std::io::Error::other(
            "artifact.key must be a file that only its owner can read (chmod 600)",
        ));
    }
    let wrong = || std::io::Error::other("artifact.key must have 32 bytes; remove the cache folder");
    let kept = files::read_bounded(&path, fresh.len() as u64).map_err(|_| wrong())?;
    kept.try_into().map_err(|_| wrong())
}

/// Keyed by what is compiled and by everything of the engine that decides how.
fn entry_name(engine: &Engine, wasm: &[u8]) -> String {
    let mut compatibility = Blake3Hasher(blake3::Hasher::new());
    engine.precompile_compatibility_hash().hash(&mut compatibility);
    let component = blake3::hash(wasm).to_hex();
    let engine = compatibility.0.finalize().to_hex();
    format!(
        "{component}-{}.cwasm",
        &engine.as_str().get(..16).unwrap_or_default()
    )
}

/// `std`'s hashers are not stable from one release to the next; file names must be.
struct Blake3Hasher(blake3::Hasher);

impl Hasher for Blake3Hasher {
    fn finish(&self) -> u64 {
        self.0
            .finalize()
            .as_bytes()
            .first_chunk()
            .map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}

/// The only `unsafe` of the host.
#[allow(unsafe_code)]
fn load(engine: &Engine, artifact: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` demands bytes that `precompile_component` produced. They come either straight from it, or
    // from a cache entry whose keyed authentication code proves that this host wrote exactly these bytes after that
    // same call (the key never leaves a folder that only this user can write to). The bytes are checked and loaded
    // from the same buffer, so the file cannot change in between.
    unsafe { Component::deserialize(engine, artifact) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest component: no imports, no exports.
    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    fn engine() -> Engine {
        crate::machine::engine(&crate::Settings {
            slots: 2,
            ..Default::default()
        })
        .unwrap()
        .0
    }

    fn entry(folder: &Path) -> PathBuf {
        let mut entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
        entries
            .find(|p| p.extension().is_some_and(|x| x == "cwasm"))
            .unwrap()
    }

    fn compiled(folder: &Path) -> Compiled {
        Artifacts::open(Some(folder))
            .component(&engine(), EMPTY)
            .unwrap()
            .1
    }

    /// Cranelift takes minutes for it, and cannot be stopped.
    #[test]
    fn what_would_take_too_long_is_not_compiled() {
        let slow = effort::tests::component(1, 0, |sink| effort::tests::blocks(sink, 200_000));
        let refused = Artifacts::open(None).component(&engine(), &slow).err().unwrap();
        assert!(refused.0.contains("too long to compile"), "{refused}");
    }

    #[test]
    fn the_second_load_comes_from_the_cache() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        assert_eq!(compiled(&cache), Compiled::Now);
        assert_eq!(compiled(&cache), Compiled::FromCache);
    }

    #[test]
    fn a_corrupt_truncated_or_foreign_entry_is_rebuilt_and_never_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        compiled(&cache);
        let path = entry(&cache);
        let sound = std::fs::read(&path).unwrap();
        for position in (0..sound.len())
            .step_by(sound.len() / 97 + 1)
            .chain([sound.len() - 1])
        {
            let mut flipped = sound.clone();
            flipped[position] ^= 1;
            std::fs::write(&path, &flipped).unwrap();
            assert_eq!(compiled(&cache), Compiled::Now, "bit flipped at {position}");
        }
        for length in [0, 1, 31, 32, sound.len() / 2] {
            std::fs::write(&path, &sound[..length]).unwrap();
            assert_eq!(compiled(&cache), Compiled::Now, "truncated to {length}");
        }
        // Written by another host: valid there, foreign here.
        let other = folder.path().join("other");
        compiled(&other);
        std::fs::copy(entry(&other), &path).unwrap();
        assert_eq!(compiled(&cache), Compiled::Now, "foreign entry");
        assert_eq!(compiled(&cache), Compiled::FromCache, "rebuilt entry");
    }

    /// Opening a pipe waits for a process at its other end, so a host that opened one would hang this test.
    #[test]
    fn pipes_and_folders_in_the_place_of_entries_are_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        let engine = engine();
        let compiled = || Artifacts::open(Some(&cache)).component(&engine, EMPTY).unwrap().1;
        compiled();
        let path = entry(&cache);
        let pipe = |path: &Path| {
            let _ = std::fs::remove_file(path);
            rustix::fs::mkfifoat(
                rustix::fs::CWD,
                path,
                rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            )
            .unwrap();
        };
        pipe(&path);
        assert_eq!(compiled(), Compiled::Now, "a pipe");
        assert_eq!(compiled(), Compiled::FromCache, "it was replaced");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert_eq!(compiled(), Compiled::Now, "a folder");
        std::fs::remove_dir(&path).unwrap();
        // Without its key the cache is not used, and the host starts.
        pipe(&cache.join(KEY_FILE));
        assert_eq!(compiled(), Compiled::Now, "a pipe for a key");
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        std::fs::create_dir(&cache).unwrap();
        std::fs::set_permissions(&cache, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(compiled(&cache), Compiled::Now);
        assert_eq!(compiled(&cache), Compiled::Now);
        assert_eq!(std::fs::read_dir(&cache).unwrap().count(), 0);
    }

    #[test]
    fn native_code_is_refused_as_input() {
        let artifact = engine().precompile_component(EMPTY).unwrap();
        let error = Artifacts::open(None)
            .component(&engine(), &artifact)
            .map(|_| ())
            .unwrap_err();
        assert!(error.to_string().contains("native code"), "{error}");
    }
}
