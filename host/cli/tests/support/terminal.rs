//! A pseudo-terminal with a program on it.

use nix::pty::{Winsize, openpty};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long to wait for something that must come: far longer than it can take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

type Screen = Arc<(Mutex<String>, Condvar)>;

/// A terminal that a program runs on.
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    screen: Screen,
    reader: JoinHandle<()>,
}

impl Terminal {
    /// Starts a program on a new terminal.
    pub(crate) fn run(mut command: Command) -> Self {
        let size = Winsize {
            ws_row: 50,
            ws_col: 120,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let ends = openpty(Some(&size), None).unwrap();
        command
            .stdin(ends.slave.try_clone().unwrap())
            .stdout(ends.slave.try_clone().unwrap())
            .stderr(ends.slave);
        let child = command.spawn().unwrap();
        // Our ends of the program's side: as long as one is open the terminal does not hang up.
        drop(command);
        let keyboard = File::from(ends.master);
        let mut output = keyboard.try_clone().unwrap();
        let screen: Screen = Arc::default();
        let seen = Arc::clone(&screen);
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // An error is how Linux says that the program's side is closed.
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                seen.0.lock().unwrap().push_str(&text);
                seen.1.notify_all();
            }
        });
        Self {
            child,
            keyboard,
            screen,
            reader,
        }
    }

    /// The process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
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
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Waits for the end: how it ended, and everything that was written.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        self.reader.join().unwrap();
        let seen = self.screen.0.lock().unwrap().clone();
        (status, seen)
    }
}
