use super::*;
use crate::fixture::{PluginFixture, TOOL, component, key};
use crate::signature::{SignatureError, sign};

fn error(bytes: Vec<u8>) -> PackageError {
    Package::parse(bytes).unwrap_err()
}

fn manifest_section() -> Vec<u8> {
    let mut bytes = Vec::new();
    append_custom(
        &mut bytes,
        MANIFEST_SECTION,
        &[PluginFixture::new("a", &["a"]).manifest().as_bytes()],
    );
    bytes
}

#[test]
fn a_package_is_taken_apart_into_component_manifest_and_signatures() {
    let plugin = PluginFixture {
        keys: &[1, 2],
        ..PluginFixture::new("text", &["acme"])
    };
    let package = Package::parse(plugin.package()).unwrap();
    assert_eq!(package.component(), component(plugin.imports, plugin.exports));
    assert_eq!(package.manifest_text(), plugin.manifest());
    assert_eq!(package.verify().unwrap(), [key(1).public(), key(2).public()]);
    let unsigned = embed_manifest(&component(plugin.imports, plugin.exports), &plugin.manifest()).unwrap();
    assert_eq!(&package.unsigned()[..], unsigned);
    assert_eq!(
        package.digest().to_string(),
        format!("blake3:{}", blake3::hash(&unsigned).to_hex())
    );
    assert_eq!(
        Digest::parse(&package.digest().to_string()),
        Some(package.digest())
    );
}

#[test]
fn the_signature_is_the_agreed_bytes() {
    let unsigned = embed_manifest(
        &component(&[], &[TOOL]),
        &PluginFixture::new("a", &["a"]).manifest(),
    )
    .unwrap();
    let signed = sign(unsigned.clone(), &key(1)).unwrap();
    let mut message = b"mizzen/plugin-signature/v1\0".to_vec();
    message.extend_from_slice(blake3::hash(&unsigned).as_bytes());
    let mut payload = vec![1];
    payload.extend_from_slice(key(1).public().as_bytes());
    payload.extend_from_slice(&key(1).sign(&message));
    let mut expected = unsigned;
    append_custom(&mut expected, "mizzen:signature", &[&payload]);
    assert_eq!(signed, expected);
    let mut id = b"mizzen/key-id/v1\0".to_vec();
    id.extend_from_slice(key(1).public().as_bytes());
    assert_eq!(
        key(1).id().as_str(),
        format!("mzk_{}", &blake3::hash(&id).to_hex()[..32])
    );
}

#[test]
fn a_flipped_bit_anywhere_is_noticed() {
    for keys in [&[1][..], &[1, 2]] {
        let package = PluginFixture {
            keys: Box::leak(keys.to_vec().into_boxed_slice()),
            ..PluginFixture::new("text", &["acme"])
        }
        .package();
        for at in 0..package.len() {
            for bit in 0..8 {
                let mut damaged = package.clone();
                damaged[at] ^= 1 << bit;
                let verified = Package::parse(damaged).map(|package| package.verify());
                assert!(
                    !matches!(verified, Ok(Ok(_))),
                    "byte {at}, bit {bit} of {}",
                    package.len()
                );
            }
        }
    }
}

#[test]
fn a_package_that_is_cut_off_anywhere_is_refused() {
    let package = PluginFixture::new("text", &["acme"]).package();
    for length in 0..package.len() {
        let verified = Package::parse(package[..length].to_vec()).map(|package| package.verify());
        assert!(!matches!(verified, Ok(Ok(_))), "{length} bytes");
    }
}

#[test]
fn bytes_after_the_end_are_refused() {
    let package = PluginFixture::new("text", &["acme"]).package();
    for more in [
        &b"\0"[..],
        b"x",
        b"\0\x01\0",
        &manifest_section(),
        &component(&[], &[]),
        &[0; 100],
    ] {
        let longer = [&package[..], more].concat();
        assert!(Package::parse(longer).is_err(), "{more:?}");
    }
}

#[test]
fn whatever_is_not_a_package_has_its_own_clear_error() {
    let plain = component(&[], &[TOOL]);
    let package = PluginFixture::new("a", &["a"]).package();
    let signature = &package[Package::parse(package.clone()).unwrap().unsigned().len()..];
    let with = |parts: &[&[u8]]| parts.concat();
    let mut reserved = plain.clone();
    append_custom(&mut reserved, "mizzen:extra", &[]);
    reserved.extend(manifest_section());
    let mut not_text = plain.clone();
    append_custom(&mut not_text, MANIFEST_SECTION, &[&[0xff, 0xfe]]);
    let mut too_large = plain.clone();
    append_custom(&mut too_large, MANIFEST_SECTION, &[&vec![b'#'; MAX_MANIFEST + 1]]);
    let mut other = plain.clone();
    other.extend(manifest_section());
    append_custom(&mut other, "producers", &[]);
    for (bytes, expected) in [
        (vec![], "empty"),
        (b"\x7fELF whatever".to_vec(), "precompiled"),
        (b"\0asm\x01\0\0\0".to_vec(), "core module"),
        (b"\0asm\x0e\0\x01\0".to_vec(), "unknown version"),
        (b"\0asm\x0d\0".to_vec(), "cut off"),
        (b"(component)".to_vec(), "not WebAssembly"),
        (b"#!/bin/sh".to_vec(), "not WebAssembly"),
        (plain.clone(), "no manifest"),
        (
            with(&[&plain, &manifest_section(), &manifest_section()]),
            "second manifest",
        ),
        (with(&[&package, &manifest_section()]), "second manifest"),
        (
            with(&[&plain, signature, &manifest_section()]),
            "before the manifest",
        ),
        (
            with(&[&plain[..8], signature, &plain[8..], &manifest_section()]),
            "before the manifest",
        ),
        (other, "follows the manifest"),
        (
            with(&[&plain, &manifest_section(), &plain[8..]]),
            "follows the manifest",
        ),
        (reserved, "reserved"),
        (not_text, "not UTF-8"),
        (too_large, "not UTF-8 text of at most"),
        (
            with(&[&plain, &[0, 0xff, 0xff, 0xff, 0xff, 0x0f]]),
            "does not fit",
        ),
        (
            with(&[&plain, &[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]]),
            "does not fit",
        ),
        (
            with(&[
                &plain,
                &manifest_section(),
                &signature[..1],
                &[0xf2, 0x80, 0x00],
                &signature[2..],
            ]),
            "canonical",
        ),
    ] {
        let shown = error(bytes).to_string();
        assert!(shown.contains(expected), "`{expected}` is not in: {shown}");
    }
}

#[test]
fn more_signatures_than_anybody_needs_are_refused() {
    let mut bytes = PluginFixture {
        keys: &[],
        ..PluginFixture::new("a", &["a"])
    }
    .package();
    for seed in 1..=16 {
        bytes = sign(bytes, &key(seed)).unwrap();
    }
    assert_eq!(Package::parse(bytes.clone()).unwrap().verify().unwrap().len(), 16);
    assert!(matches!(
        sign(bytes, &key(17)),
        Err(PackageError::TooManySignatures)
    ));
}

#[test]
fn unsigned_and_twice_signed_packages_do_not_verify() {
    let verify = |keys| {
        Package::parse(
            PluginFixture {
                keys,
                ..PluginFixture::new("a", &["a"])
            }
            .package(),
        )
        .unwrap()
        .verify()
    };
    assert_eq!(verify(&[]), Err(SignatureError::Unsigned));
    assert_eq!(
        verify(&[1, 2, 1]),
        Err(SignatureError::Twice { key: key(1).id() })
    );
}

#[test]
fn a_signature_for_other_bytes_does_not_fit() {
    let a = PluginFixture::new("a", &["a"]).package();
    let b = PluginFixture::new("b", &["b"]).package();
    let unsigned = |bytes: &[u8]| Package::parse(bytes.to_vec()).unwrap().unsigned().len();
    let swapped = [&a[..unsigned(&a)], &b[unsigned(&b)..]].concat();
    assert_eq!(
        Package::parse(swapped).unwrap().verify(),
        Err(SignatureError::Wrong {
            position: 1,
            key: key(1).id()
        })
    );
}

#[test]
fn a_manifest_is_embedded_once_and_only_in_a_component() {
    let plain = component(&[], &[TOOL]);
    let once = embed_manifest(&plain, "a").unwrap();
    assert!(matches!(
        embed_manifest(&once, "b"),
        Err(PackageError::TwoManifests { .. })
    ));
    assert!(matches!(
        embed_manifest(b"\0asm\x01\0\0\0", "a"),
        Err(PackageError::CoreModule)
    ));
    assert!(matches!(
        embed_manifest(&plain, &"x".repeat(MAX_MANIFEST + 1)),
        Err(PackageError::BadManifest)
    ));
    assert!(
        crate::component::validate(&once).is_ok(),
        "a package is still a component"
    );
    assert!(crate::component::validate(&PluginFixture::new("a", &["a"]).package()).is_ok());
}

#[test]
fn files_are_bounded_and_must_be_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = PluginFixture::new("a", &["a"]).write(folder.path());
    let size = std::fs::metadata(&path).unwrap().len();
    assert!(Package::read(&path, size).is_ok());
    assert!(matches!(
        Package::read(&path, size - 1),
        Err(PackageError::File(FileError::TooLarge { .. }))
    ));
    assert!(matches!(
        Package::read(folder.path(), size),
        Err(PackageError::File(FileError::NotAFile { .. }))
    ));
    assert!(
        matches!(Package::read(&folder.path().join("no"), size), Err(PackageError::File(error)) if error.is_missing())
    );
}

proptest::proptest! {
    #[test]
    fn random_files_are_an_error_and_nothing_else(bytes in proptest::collection::vec(0u8.., 0..300)) {
        proptest::prop_assert!(Package::parse(bytes.clone()).is_err());
        let with_header = [b"\0asm\x0d\0\x01\0", &bytes[..]].concat();
        proptest::prop_assert!(Package::parse(with_header).is_err());
    }
}
