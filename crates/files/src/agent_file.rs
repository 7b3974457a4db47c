//! Agents in files: a policy file as an agent plays it, and the state of an agent, written whole or not at all.

use crate::io;
use crate::policy_file::{POLICY_FILE, PolicyFile};
use gradband::{Agent, Catalogue, Error, Place, Playable, Result};
use std::path::Path;

/// Loads the policy that was saved in a directory, or in the policy file at a path, for an agent to play.
///
/// ```
/// use gradband::{Agent, Problem, Pull, policy::Choice};
/// let problem = Problem::named("bernoulli-2")?;
/// let dir = tempfile::tempdir().unwrap();
/// gradband_files::save_policy(dir.path(), &Choice::parse("softelim(w=0.53)", &problem)?, &problem)?;
///
/// let policy = gradband_files::load_playable(dir.path())?;
/// let mut agent = Agent::new(policy, ["old", "new"])?;
/// let decision = agent.pull(Pull::default())?;
/// agent.update(&decision.id, 1.0)?;
///
/// let file = dir.path().join("agent.json");
/// gradband_files::save_agent(&file, &agent)?;
/// assert_eq!(gradband_files::load_agent(&file)?.stats(), agent.stats());
/// # Ok::<(), gradband::Error>(())
/// ```
pub fn load_playable(path: impl AsRef<Path>) -> Result<Playable> {
    load_playable_from(path, &Catalogue::default())
}

/// The same where the catalogue has rules of one's own.
pub fn load_playable_from(path: impl AsRef<Path>, catalogue: &Catalogue) -> Result<Playable> {
    let path = path.as_ref();
    let path = if path.is_dir() { path.join(POLICY_FILE) } else { path.into() };
    let PolicyFile { policy, problem, .. } = PolicyFile::load(&path)?;
    let place = || Place::file(path.display().to_string());
    Playable::from_records(policy, problem, catalogue).map_err(|error| error.within(place()))
}

/// Writes an agent: policy, statistics and pending decisions. An older file is replaced once the new one is complete.
pub fn save_agent(path: impl AsRef<Path>, agent: &Agent) -> Result<()> {
    let path = path.as_ref();
    let place = || Place::file(path.display().to_string());
    let text = agent.save().map_err(|error| error.within(place()))?;
    let written = io::write(path, |file| file.write_all(text.as_bytes()));
    written.map_err(|error| Error::new(place(), format!("cannot be written: {error}")))
}

/// Reads an agent that [`save_agent`] wrote. What is damaged, cut off or something else is refused.
pub fn load_agent(path: impl AsRef<Path>) -> Result<Agent> {
    load_agent_from(path, &Catalogue::default())
}

/// The same where the catalogue has rules of one's own.
pub fn load_agent_from(path: impl AsRef<Path>, catalogue: &Catalogue) -> Result<Agent> {
    let path = path.as_ref();
    let text = io::read_text(path)?;
    io::check_values(path, &text)?;
    Agent::load_from(&text, catalogue).map_err(|error| error.within(Place::file(path.display().to_string())))
}
