//! A disk that fails: `fsync` and `fdatasync` answer EIO for as long as a file exists.

use std::path::Path;
use std::process::Command;

const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
static int broken(void) { const char *f = getenv("FAIL_SYNC_WHILE"); return f && access(f, F_OK) == 0; }
int fdatasync(int fd) {
    if (broken()) { errno = EIO; return -1; }
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    return real(fd);
}
int fsync(int fd) {
    if (broken()) { errno = EIO; return -1; }
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    return real(fd);
}
"#;

/// Builds `shim.so` in a folder; the environment variable `FAIL_SYNC_WHILE` names the file.
pub(crate) fn build(folder: &Path) -> bool {
    std::fs::write(folder.join("shim.c"), SHIM).unwrap();
    let built = Command::new("cc")
        .current_dir(folder)
        .args(["-shared", "-fPIC", "-o", "shim.so", "shim.c", "-ldl"])
        .output();
    built.is_ok_and(|output| output.status.success())
}
