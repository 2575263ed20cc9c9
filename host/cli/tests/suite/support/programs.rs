//! Programs and packages that tests need beside cargo. A test never passes because one is missing: it is installed (by root, from Debian),
//! or the test fails with the command that installs it. What is installed is listed in CONTRIBUTING.md.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// One installation at a time in a test binary; between binaries apt and the folders' lock files wait.
static INSTALLING: Mutex<()> = Mutex::new(());

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Makes sure that a command works; it is in this package of Debian.
#[track_caller]
pub(crate) fn need(command: &[&str], package: &str) {
    let works = || succeeds(Command::new(command[0]).args(&command[1..]));
    let guard = INSTALLING
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if works() {
        return;
    }
    let install = format!("apt-get install -y {package}");
    if is_root() {
        // The lists of a fresh image are empty.
        let script = format!("apt-get update && {install} -o DPkg::Lock::Timeout=600");
        let installed = Command::new("sh")
            .args(["-c", &script])
            .env("DEBIAN_FRONTEND", "noninteractive")
            .output();
        if works() {
            return;
        }
        drop(guard);
        panic!(
            "`{}` does not work, and `{install}` did not help: {installed:?}",
            command.join(" ")
        );
    }
    drop(guard);
    panic!(
        "`{}` does not work, and this test needs it; install it with `sudo {install}`",
        command.join(" ")
    );
}

/// Below the target folder, with a lock that other test binaries respect; `make` fills it unless the same `wanted` has filled it before.
fn kept(name: &str, wanted: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let lock = std::fs::File::create(folder.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let stamp = folder.join("made-of");
    if std::fs::read_to_string(&stamp).ok().as_deref() != Some(wanted) {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        make(&folder);
        std::fs::write(&stamp, wanted).unwrap();
    }
    folder
}

#[track_caller]
fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?} failed; it needs a package index (a mirror is set with PIP_INDEX_URL or npm's registry): {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A Python environment with exactly what a requirements file pins. Returns its folder of programs.
#[track_caller]
pub(crate) fn python(name: &str, requirements: &Path) -> PathBuf {
    need(&["python3", "-c", "import ensurepip, venv"], "python3-venv");
    let wanted = std::fs::read_to_string(requirements).unwrap();
    let folder = kept(name, &wanted, |folder| {
        run(Command::new("python3").args(["-m", "venv"]).arg(folder));
        // Without a package index this ends after seconds, not after minutes.
        run(Command::new(folder.join("bin/pip"))
            .args(["install", "--quiet", "--disable-pip-version-check", "--no-deps"])
            .args(["--retries", "2", "--timeout", "20", "--requirement"])
            .arg(requirements));
    });
    folder.join("bin")
}

/// A folder with exactly what a package-lock.json pins, beside its package.json.
#[track_caller]
pub(crate) fn node(name: &str, source: &Path) -> PathBuf {
    need(&["npm", "--version"], "npm");
    let wanted = std::fs::read_to_string(source.join("package-lock.json")).unwrap();
    kept(name, &wanted, |folder| {
        for file in ["package.json", "package-lock.json"] {
            std::fs::copy(source.join(file), folder.join(file)).unwrap();
        }
        run(Command::new("npm").current_dir(folder).args([
            "ci",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--fetch-retries=2",
        ]));
    })
}
