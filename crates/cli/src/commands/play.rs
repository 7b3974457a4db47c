//! `gradband play`: an agent behind a pipe. One JSON object per line in, one per line out.
//!
//! Whatever a line holds, it is answered and the agent lives on. With a state file the agent is saved every few seconds, at the
//! end of the input and on signals; a process that is killed loses what came after its last save, and the next one says so.

use crate::args::Play;
use crate::failure::{Failure, Result};
use crate::{interrupt, output};
use gradband::{Agent, Playable, Pull};
use gradband_files::{load_agent, load_playable, save_agent};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{BufRead, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The longest time between two saves.
const SAVE_EVERY: Duration = Duration::from_secs(5);
/// How soon a signal is answered.
const LOOK_UP: Duration = Duration::from_millis(100);
/// The longest line.
const LONGEST_LINE: u64 = 1 << 20;

/// What a line asks for.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Request {
    Pull(Pull),
    Update(Update),
    Withdraw(Id),
    Probabilities(Pull),
    Add(Arm),
    Retire(Arm),
    Stats(Nothing),
    Save(Nothing),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Update {
    id: String,
    reward: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Id {
    id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arm {
    arm: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

pub fn run(args: &Play, seed: Option<u64>) -> Result<()> {
    let policy = load_playable(&args.policy_file)?;
    let state = args.state.as_deref().map(StateFile::open);
    let agent = match &state {
        Some(file) if file.path.exists() => resumed(args, policy, file)?,
        _ => {
            let agent = Agent::new(&policy, names(args, &policy))?;
            seed.into_iter().fold(agent, Agent::seed)
        }
    };
    let agent = args.floor.into_iter().fold(agent, Agent::floor);
    let window = args.wait.zip(args.default_reward);
    let agent = window.into_iter().fold(agent, |agent, (wait, reward)| agent.window(wait, reward));
    agent.notes().iter().for_each(|note| output::note(&format!("note: {note}")));
    let _hold = interrupt::hold();
    Session { agent, state, saved: Instant::now(), changed: false }.run()
}

/// The arms that are asked for, or those of the problem.
fn names(args: &Play, policy: &Playable) -> Vec<String> {
    if args.arms.is_empty() { policy.arm_names() } else { args.arms.clone() }
}

/// The agent that was saved; another policy takes over, and arms that are new are added.
fn resumed(args: &Play, policy: Playable, file: &StateFile) -> Result<Agent> {
    let mut agent = load_agent(&file.path)?;
    let (path, decisions) = (file.path.display(), gradband_jobs::grouped(agent.stats().decisions as usize));
    output::note(&format!("goes on after {decisions} decisions, from {path}"));
    if file.was_killed() {
        output::note("the last process was killed: what came after its last save is lost");
    }
    if policy.version() != agent.policy().version() {
        let (old, new) = (agent.policy().version().to_string(), policy.version().to_string());
        agent.replace(policy)?;
        output::note(&format!("policy {new} takes over from {old}"));
    }
    let known: Vec<_> = agent.stats().arms.into_iter().map(|arm| arm.name).collect();
    for name in args.arms.iter().filter(|name| !known.iter().any(|known| **known == ***name)) {
        agent.add(name)?;
    }
    Ok(agent)
}

/// Where the agent is kept. A file beside it is there while a process plays.
struct StateFile {
    path: PathBuf,
    mark: PathBuf,
    killed: bool,
}

impl StateFile {
    fn open(path: &Path) -> Self {
        let mut mark = path.as_os_str().to_owned();
        mark.push(".running");
        let mark = PathBuf::from(mark);
        let killed = mark.exists();
        Self { path: path.into(), mark, killed }
    }

    fn was_killed(&self) -> bool {
        self.killed
    }

    fn start(&self) -> Result<()> {
        std::fs::write(&self.mark, "").map_err(|error| Failure::unwritable(&self.mark, &error))
    }

    fn end(&self) {
        // If it stays, the next process says too much; nothing is lost.
        let _ = std::fs::remove_file(&self.mark);
    }
}

struct Session {
    agent: Agent,
    state: Option<StateFile>,
    saved: Instant,
    changed: bool,
}

impl Session {
    fn run(mut self) -> Result<()> {
        if let Some(state) = &self.state {
            state.start()?;
        }
        self.save()?;
        let played = self.play();
        // What was learned is kept, whatever ended the session.
        self.save()?;
        if let Some(state) = &self.state {
            state.end();
        }
        played
    }

    fn play(&mut self) -> Result<()> {
        let lines = read_lines();
        loop {
            if interrupt::requested() {
                interrupt::answer();
                return Err(Failure::interrupted());
            }
            match lines.recv_timeout(LOOK_UP) {
                Ok(line) => {
                    let answer = self.answer(&line).unwrap_or_else(|error| error);
                    say(&answer)?;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if self.changed && self.saved.elapsed() > SAVE_EVERY {
                self.save()?;
            }
        }
    }

    fn save(&mut self) -> Result<()> {
        if let Some(state) = &self.state {
            save_agent(&state.path, &self.agent).map_err(|error| Failure::Other(error.to_string()))?;
        }
        (self.saved, self.changed) = (Instant::now(), false);
        Ok(())
    }

    /// What a line gets: a result, or why there is none.
    fn answer(&mut self, line: &[u8]) -> std::result::Result<Value, Value> {
        if line.len() as u64 >= LONGEST_LINE {
            return Err(refusal("", &format!("a line has at most {LONGEST_LINE} bytes")));
        }
        let text = std::str::from_utf8(line).map_err(|_| refusal("", "is not UTF-8"))?;
        let request: Request = serde_json::from_str(text).map_err(|error| unreadable(text, &error))?;
        let error = |error: gradband::Error| refusal(&error.place().to_string(), &error.kind().to_string());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        self.agent.advance(now).map_err(error)?;
        self.changed = true;
        let status = |status: gradband::agent::Status| json!({ "status": status });
        let applied = |()| json!({ "status": "applied" });
        match request {
            Request::Pull(pull) => {
                let pull = Pull { at: Some(pull.at.unwrap_or(now)), ..pull };
                self.agent.pull(pull).map(|decision| json!(decision)).map_err(error)
            }
            Request::Update(Update { id, reward }) => {
                self.agent.update(&id, reward).map(status).map_err(error)
            }
            Request::Withdraw(Id { id }) => self.agent.withdraw(&id).map(status).map_err(error),
            Request::Probabilities(pull) => {
                let probabilities = self.agent.probabilities(&pull).map_err(error)?;
                let named = probabilities.into_iter().map(|(arm, p)| (arm.to_string(), json!(p)));
                Ok(json!({ "probabilities": Value::Object(named.collect()) }))
            }
            Request::Add(Arm { arm }) => self.agent.add(&arm).map(applied).map_err(error),
            Request::Retire(Arm { arm }) => self.agent.retire(&arm).map(applied).map_err(error),
            Request::Stats(Nothing {}) => Ok(json!(self.agent.stats())),
            Request::Save(Nothing {}) if self.state.is_none() => {
                Err(refusal("save", "there is no --state to save to"))
            }
            Request::Save(Nothing {}) => match self.save() {
                Ok(()) => Ok(json!({ "status": "saved" })),
                Err(Failure::Other(message)) => Err(refusal("save", &message)),
                Err(_) => Err(refusal("save", "cannot be written")),
            },
        }
    }
}

fn refusal(place: &str, message: &str) -> Value {
    json!({ "error": { "place": place, "message": message } })
}

/// A line that is no request: at its command, if it has one.
fn unreadable(text: &str, error: &serde_json::Error) -> Value {
    let command = serde_json::from_str::<Value>(text).ok();
    let command = command.as_ref().and_then(Value::as_object).and_then(|object| object.keys().next());
    refusal(command.map_or("", String::as_str), &error.to_string())
}

fn say(answer: &Value) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{answer}").and_then(|()| stdout.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::NoReader,
        _ => Failure::Other(format!("cannot write to stdout: {error}")),
    })
}

/// The lines of stdin, read ahead a little: a thread waits for them, so that this one can save and listen to signals.
fn read_lines() -> Receiver<Vec<u8>> {
    let (sender, receiver) = sync_channel(64);
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let read = (&mut stdin).take(LONGEST_LINE).read_until(b'\n', &mut line);
            if line.last() == Some(&b'\n') {
                line.pop();
            } else if line.len() as u64 == LONGEST_LINE {
                // The rest of a line that is too long.
                if stdin.skip_until(b'\n').is_err() {
                    return;
                }
            }
            let ended = matches!(read, Err(_) | Ok(0));
            if ended || sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
