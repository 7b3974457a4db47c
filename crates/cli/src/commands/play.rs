//! `gradband play`: an agent behind a pipe. One JSON object per line in, one per line out.
//!
//! Whatever a line holds, it is answered and the agent lives on. With a state file the agent is saved every few seconds, at the
//! end of the input and on signals; a process that is killed loses what came after its last save, and the next one says so.

use crate::args::Play;
use crate::failure::{Failure, Result};
use crate::{interrupt, output};
use gradband::{Agent, Playable};
use gradband_files::protocol::{LONGEST_LINE, Reply, refusal, reply};
use gradband_files::{Lock, load_agent, load_playable, save_agent};
use serde_json::{Value, json};
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The longest time between two saves.
const SAVE_EVERY: Duration = Duration::from_secs(5);
/// How soon a signal is answered.
const LOOK_UP: Duration = Duration::from_millis(100);

pub fn run(args: &Play, seed: Option<u64>) -> Result<()> {
    let policy = load_playable(&args.policy_file)?;
    let state = args.state.as_deref().map(StateFile::open).transpose()?;
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
    _lock: Lock,
}

impl StateFile {
    fn open(path: &Path) -> Result<Self> {
        let lock = Lock::file(path).map_err(|error| Failure::unwritable_dir(path, &error))?;
        let mut mark = path.as_os_str().to_owned();
        mark.push(".running");
        let mark = PathBuf::from(mark);
        let killed = mark.exists();
        Ok(Self { path: path.into(), mark, killed, _lock: lock })
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
                    output::print(&output::harmless_json(&self.answer(&line).to_string()))?;
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

    fn answer(&mut self, line: &[u8]) -> Value {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        self.changed = true;
        match reply(&mut self.agent, line, now) {
            Reply::Line(line) => line,
            Reply::Save if self.state.is_none() => refusal("save", "there is no --state to save to"),
            Reply::Save => match self.save() {
                Ok(()) => json!({ "status": "saved" }),
                Err(Failure::Other(message)) => refusal("save", &message),
                Err(_) => refusal("save", "cannot be written"),
            },
        }
    }
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
