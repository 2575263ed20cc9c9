//! A host starts, or says why it does not, or stops when it is told to: it never waits for what somebody put into its folders.

use crate::support::http::{Served, mizzen, signal};
use crate::support::packages;
use mizzen_catalog::key::SecretKey;
use mizzen_catalog::package::{Package, embed_manifest};
use mizzen_catalog::signature::sign;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Far more than a host needs that does not wait for anything, and far less than it would wait.
const PATIENCE: Duration = Duration::from_secs(20);

fn key() -> SecretKey {
    SecretKey::from_seed(b"a key for tests of hosts' starts")
}

/// A plugin of the repository, signed with the tests' key.
fn package(folder: &str) -> Vec<u8> {
    let package = Package::parse(packages::plugin(folder).bytes).unwrap();
    let unsigned = embed_manifest(package.component(), package.manifest_text());
    sign(unsigned.unwrap(), &key()).unwrap()
}

/// A host's folder that trusts the tests' key.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("plugins")).unwrap();
    let trusted = format!(
        "[[keys]]\nid = \"{}\"\npublic_key = \"{}\"\nnamespaces = [\"*\"]\n",
        key().id(),
        key().public()
    );
    fs::write(place.path().join("trust.toml"), trusted).unwrap();
    fs::write(
        place.path().join("mizzen.toml"),
        "[plugins]\nfolders = [\"plugins\"]\n",
    )
    .unwrap();
    place
}

fn serve(place: &Path) -> Command {
    let mut command = mizzen();
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data", "data"])
        .current_dir(place)
        .env("MIZZEN_HOME", place.join("home"))
        .env("MIZZEN_LOG", "info")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn pipe(path: &Path) {
    let _ = fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// R17. Each of these plugins spins for two seconds when it is asked what it provides; all of them together for half a minute.
#[test]
fn a_host_that_is_stopped_while_its_plugins_load_ends_at_once() {
    let place = place();
    let spins = Package::parse(package("tests/guests/spins-in-describe")).unwrap();
    for number in 0..15 {
        let manifest = format!(
            "[plugin]\nname = \"spins-{number}\"\nversion = \"0.1.0\"\napi_version = \"1\"\nnamespaces = [\"spins-{number}\"]\nprovides = [\"tool\"]\n\
             [limits]\ncpu = \"30s\"\nwall_clock = \"60s\"\n"
        );
        let package = sign(embed_manifest(spins.component(), &manifest).unwrap(), &key()).unwrap();
        fs::write(place.path().join(format!("plugins/{number}.wasm")), package).unwrap();
    }
    for name in ["TERM", "INT"] {
        let mut child = serve(place.path()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let loads = log
            .by_ref()
            .map_while(Result::ok)
            .any(|line| line.contains("loading plugins"));
        assert!(loads);
        signal(child.id(), name);
        let stopped = Instant::now();
        let status = child.wait().unwrap();
        assert!(stopped.elapsed() < PATIENCE, "SIG{name}: {:?}", stopped.elapsed());
        // It did as it was told. A set that is refused would be 1.
        assert_eq!(status.code(), Some(0), "SIG{name}");
        let rest: Vec<String> = log.map_while(Result::ok).collect();
        assert!(rest.iter().any(|line| line.contains("stopping")), "{rest:?}");
    }
}

/// R17. Opening a pipe waits for somebody at its other end.
#[test]
fn pipes_in_the_place_of_files_do_not_keep_a_host_from_starting() {
    let place = place();
    fs::write(place.path().join("plugins/text.wasm"), package("plugins/text")).unwrap();
    // A cache of its own: a host is not lent what others have compiled when it has one.
    let artifacts = place.path().join("data/artifacts");
    let mut private = fs::DirBuilder::new();
    private.recursive(true).mode(0o700).create(&artifacts).unwrap();
    let start = || {
        Served::start_with(
            &place.path().join("data"),
            &["--config", "mizzen.toml"],
            |command| command.env("MIZZEN_HOME", place.path().join("home")),
        )
    };
    assert!(start().terminate().success());
    let entries: Vec<PathBuf> = fs::read_dir(&artifacts)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cwasm"))
        .collect();
    assert!(!entries.is_empty());
    for entry in &entries {
        pipe(entry);
    }
    start().call("GET", "/v1/tools").expect(200, "");
    assert!(entries[0].is_file(), "the entry was rebuilt");
    pipe(&artifacts.join("artifact.key"));
    start().call("GET", "/v1/tools").expect(200, "");

    // What a host cannot do without is refused.
    let refused = |file: &str| {
        let kept = fs::read(place.path().join(file)).ok();
        pipe(&place.path().join(file));
        let mut child = serve(place.path()).spawn().unwrap();
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > PATIENCE {
                child.kill().unwrap();
                panic!("{file}: the host neither starts nor ends");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(status.code(), Some(1), "{file}: {said}");
        assert!(said.contains("not a regular file"), "{file}: {said}");
        fs::remove_file(place.path().join(file)).unwrap();
        if let Some(kept) = kept {
            fs::write(place.path().join(file), kept).unwrap();
        }
    };
    for file in ["plugins/pipe.wasm", "trust.toml", "mizzen.toml", "data/lock"] {
        refused(file);
    }
    fs::write(
        place.path().join("mizzen.toml"),
        "[plugins]\nfolders = [\"plugins\"]\n[server]\ntls_certificate = \"tls.pem\"\ntls_key = \"tls.key\"\n",
    )
    .unwrap();
    refused("tls.pem");
}
