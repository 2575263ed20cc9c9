//! The real `mizzen serve` on a free loopback port, and a small HTTP client.

use super::artifacts;
pub(crate) use answer::Answer;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

#[path = "../../../../server/tests/api/support/answer.rs"]
mod answer;

/// The binary under test.
pub(crate) fn mizzen() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mizzen"));
    command.env_remove("MIZZEN_DATA").env("MIZZEN_LOG", "warn");
    command
}

/// A server process; killed when dropped.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) address: String,
    pub(crate) url: String,
    pub(crate) data: PathBuf,
}

impl Served {
    /// Starts a server on a data folder that is gone with the test.
    pub(crate) fn fresh() -> (tempfile::TempDir, Self) {
        let folder = tempfile::tempdir().unwrap();
        let server = Self::start(&folder.path().join("data"));
        (folder, server)
    }

    /// Starts a server on a data folder.
    pub(crate) fn start(data: &Path) -> Self {
        Self::start_with(data, &[], |command| command)
    }

    /// Starts a server with more arguments, in a changed environment.
    pub(crate) fn start_with(
        data: &Path,
        arguments: &[&str],
        change: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Self {
        let mut command = mizzen();
        // A folder without a mizzen.toml.
        command.current_dir(data.parent().unwrap());
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(arguments);
        change(&mut command);
        Self::spawn(command, data)
    }

    /// Starts a server with a command; its log is the test's.
    pub(crate) fn spawn(mut command: Command, data: &Path) -> Self {
        command.stderr(Stdio::piped());
        let mut server = Self::spawn_quietly(command, data);
        // The log must be read, or a full pipe would stop the server.
        let log = server.child.stderr.take().unwrap();
        std::thread::spawn(move || {
            for line in BufReader::new(log).lines().map_while(Result::ok) {
                eprintln!("server: {line}");
            }
        });
        server
    }

    /// Starts a server with a command, whose log goes where the command says.
    pub(crate) fn spawn_quietly(mut command: Command, data: &Path) -> Self {
        artifacts::lend(data);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let Some(url) = line.trim_end().strip_prefix("listening on ").map(str::to_owned) else {
            let mut log = String::new();
            if let Some(mut errors) = child.stderr.take() {
                errors.read_to_string(&mut log).unwrap();
            }
            panic!("the first line on stdout is {line:?}; stderr: {log}");
        };
        artifacts::take_back(data);
        let address = url.split_once("://").unwrap().1.to_owned();
        Self {
            child,
            address,
            url,
            data: data.to_owned(),
        }
    }

    /// GET, DELETE: without a body.
    pub(crate) fn call(&self, method: &str, path: &str) -> Answer {
        self.send(method, path, &[], b"")
    }

    /// POST, PUT: with a JSON body.
    pub(crate) fn call_json(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.send(
            method,
            path,
            &[("content-type", "application/json")],
            body.to_string().as_bytes(),
        )
    }

    /// Anything.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        try_send(&self.address, method, path, headers, body).unwrap()
    }

    /// Asks it to stop, and says how it ended.
    pub(crate) fn terminate(mut self) -> std::process::ExitStatus {
        signal(self.child.id(), "TERM");
        self.child.wait().unwrap()
    }

    /// Waits for the end after a signal was sent already.
    pub(crate) fn terminate_quietly(mut self) -> std::process::ExitStatus {
        self.child.wait().unwrap()
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal by its name.
pub(crate) fn signal(process: u32, name: &str) {
    let status = Command::new("kill")
        .args([&format!("-{name}"), &process.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

/// One request on its own connection.
pub(crate) fn try_send(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> std::io::Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() || method == "POST" || method == "PUT" {
        head.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    read_answer(&mut stream, method)
}

/// Reads an answer until the connection closes; an error when it is not complete.
pub(crate) fn read_answer(stream: &mut impl Read, method: &str) -> std::io::Result<Answer> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let complete = |answer: &Answer| {
        let length = answer.header("content-length");
        method == "HEAD" || length.is_none_or(|length| length.parse() == Ok(answer.body.len()))
    };
    Answer::parse(&bytes)
        .filter(complete)
        .ok_or_else(|| std::io::Error::other("the answer is not complete"))
}
