//! A program on a terminal, as a person has it before them. `script` makes the terminal: it is its controlling one, so that
//! Ctrl-C is a key and not a signal that the test sends.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long to wait for something that must come: far longer than it can take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// The key.
pub(crate) const CTRL_C: &str = "\u{3}";
/// The end of what is typed.
pub(crate) const CTRL_D: &str = "\u{4}";

type Screen = Arc<(Mutex<String>, Condvar)>;

/// A terminal that a program runs on.
pub(crate) struct Terminal {
    child: Child,
    screen: Screen,
    reader: JoinHandle<()>,
}

impl Terminal {
    /// Runs a program on a new terminal of 120 columns: its environment and folder, its arguments as one shell word each.
    pub(crate) fn run(program: &Command) -> Self {
        Self::run_sized(program, "cols 120 rows 50")
    }

    /// The same on a terminal of another size, as `stty` takes it.
    pub(crate) fn run_sized(program: &Command, size: &str) -> Self {
        let quoted = |word: &std::ffi::OsStr| format!("'{}'", word.to_str().unwrap().replace('\'', r"'\''"));
        let words: Vec<String> = std::iter::once(program.get_program())
            .chain(program.get_args())
            .map(quoted)
            .collect();
        let line = format!("stty {size} && exec {}", words.join(" "));
        let mut command = Command::new("script");
        // -e: the exit code of the program; -f: everything at once; the log goes nowhere.
        command.args(["-q", "-e", "-f", "-c", &line, "/dev/null"]);
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let mut child = command
            .current_dir(program.get_current_dir().unwrap())
            .env("SHELL", "/bin/sh")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`script` is missing: it makes the terminal of this test, and comes with util-linux");
        let mut output = child.stdout.take().unwrap();
        let screen: Screen = Arc::default();
        let seen = Arc::clone(&screen);
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                seen.0.lock().unwrap().push_str(&text);
                seen.1.notify_all();
            }
        });
        Self {
            child,
            screen,
            reader,
        }
    }

    /// Waits until a text has been written so many times.
    pub(crate) fn wait_for(&self, text: &str, times: usize) {
        let (seen, changed) = &*self.screen;
        let seen = seen.lock().unwrap();
        let missing = |seen: &mut String| seen.matches(text).count() < times;
        let (seen, waited) = changed.wait_timeout_while(seen, PATIENCE, missing).unwrap();
        assert!(!waited.timed_out(), "{text:?} did not come: {seen}");
    }

    /// Types.
    pub(crate) fn type_in(&mut self, text: &str) {
        let keyboard = self.child.stdin.as_mut().unwrap();
        keyboard.write_all(text.as_bytes()).unwrap();
        keyboard.flush().unwrap();
    }

    /// Waits for the end: the exit code, and everything that was written. The keyboard stays until then.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let keyboard = self.child.stdin.take();
        let status = self.child.wait().unwrap();
        drop(keyboard);
        self.reader.join().unwrap();
        let seen = self.screen.0.lock().unwrap().clone();
        (status.code(), seen)
    }
}
