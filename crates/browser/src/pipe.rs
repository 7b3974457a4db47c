//! A Chromium of our own and the pipe to it: JSON messages, each ended by a zero byte.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::tab::{Tab, View};

/// What can go wrong with a browser.
#[derive(thiserror::Error)]
pub enum Error {
    /// There is none.
    #[error("no Chromium found: run `make browser`, or set GRADBAND_CHROMIUM to one")]
    Missing,
    /// It did not start, or a file cannot be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// It did not answer.
    #[error("Chromium did not answer {0} within {TIMEOUT:?}")]
    Silent(String),
    /// It ended.
    #[error("Chromium ended before it answered {0}")]
    Gone(String),
    /// It answered with an error.
    #[error("Chromium refused {0}: {1}")]
    Refused(String, String),
    /// A script in the page failed.
    #[error("the script failed: {0}")]
    Script(String),
    /// An answer is not what we asked for.
    #[error("unexpected answer: {0}")]
    Answer(String),
}

/// Failed tests print errors with `Debug`: people should be able to read that.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

const TIMEOUT: Duration = Duration::from_secs(60);

/// Quiet, offline and without GPU; the sandbox does not work for root in containers.
const FLAGS: [&str; 12] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
];

/// A running Chromium with an empty profile; it ends when this is dropped.
#[derive(Debug)]
pub struct Browser {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    last_id: u64,
    /// What it told without being asked.
    pub(crate) events: Vec<Value>,
    /// Removed last.
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts `GRADBAND_CHROMIUM`, or the first Chromium on PATH.
    pub fn launch() -> Result<Self, Error> {
        let program = find().ok_or(Error::Missing)?;
        let profile = tempfile::tempdir()?;
        // Chromium reads from descriptor 3 and writes to 4; a shell can say so, `Command` cannot.
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#])
            .arg(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (sender, messages) = channel();
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                for message in BufReader::new(output).split(0).map_while(Result::ok) {
                    let Ok(message) = serde_json::from_slice(&message) else { continue };
                    if sender.send(message).is_err() {
                        break;
                    }
                }
            });
        }
        let input = child.stdin.take();
        Ok(Self { child, input, messages, last_id: 0, events: Vec::new(), _profile: profile })
    }

    /// Opens a file in a tab of its own and waits until it has been loaded.
    pub fn open(&mut self, page: &Path, view: View) -> Result<Tab<'_>, Error> {
        Tab::open(self, page, view)
    }

    /// Calls a method of the protocol and waits for its answer.
    pub(crate) fn call(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<Value, Error> {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        if let Some(input) = &mut self.input {
            let written = input.write_all(&bytes).and_then(|()| input.flush());
            written.map_err(|_| Error::Gone(method.to_owned()))?;
        }
        loop {
            let mut answer = self.next(method)?;
            if answer["id"] != json!(self.last_id) {
                self.events.push(answer);
                continue;
            }
            if let Some(error) = answer.get("error") {
                return Err(Error::Refused(method.to_owned(), error.to_string()));
            }
            return Ok(answer["result"].take());
        }
    }

    /// Waits for an event, which may have come already.
    pub(crate) fn wait_for(&mut self, session: &str, event: &str) -> Result<(), Error> {
        let is_it = |message: &Value| message["method"] == event && message["sessionId"] == session;
        while !self.events.iter().any(is_it) {
            let message = self.next(event)?;
            self.events.push(message);
        }
        Ok(())
    }

    fn next(&self, waiting_for: &str) -> Result<Value, Error> {
        self.messages.recv_timeout(TIMEOUT).map_err(|error| match error {
            RecvTimeoutError::Timeout => Error::Silent(waiting_for.to_owned()),
            RecvTimeoutError::Disconnected => Error::Gone(waiting_for.to_owned()),
        })
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.call(None, "Browser.close", json!({}));
        self.input = None;
        for _ in 0..100 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The Chromium to use.
pub(crate) fn find() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("GRADBAND_CHROMIUM").filter(|given| !given.is_empty()) {
        return Some(PathBuf::from(given)).filter(|file| file.is_file());
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names.iter().find_map(|name| {
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
    })
}
