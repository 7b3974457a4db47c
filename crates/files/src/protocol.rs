//! The line protocol of an agent: one JSON object per line in, one per line out.
//!
//! Whatever a line holds, it is answered and the agent lives on.

use gradband::{Agent, Pull};
use serde::Deserialize;
use serde_json::{Value, json};

/// The longest line, in bytes.
pub const LONGEST_LINE: u64 = 1 << 20;

/// What a line gets.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// This object: a result, or why there is none.
    Line(Value),
    /// The agent is to be saved, and whoever knows where answers.
    Save,
}

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

/// Does what a line asks for, at a time in seconds from any beginning.
///
/// ```
/// use gradband::{Agent, Playable, Problem, policy::Choice};
/// use gradband_files::protocol::{Reply, reply};
/// let problem = Problem::named("bernoulli-2")?;
/// let policy = Playable::new(&Choice::parse("softelim(w=0.5)", &problem)?, &problem)?;
/// let mut agent = Agent::new(policy, ["old", "new"])?.seed(1);
/// let Reply::Line(decision) = reply(&mut agent, br#"{"pull": {"id": "x"}}"#, 0.0) else { panic!() };
/// assert_eq!(decision["id"], "x");
/// let Reply::Line(error) = reply(&mut agent, b"what?", 0.0) else { panic!() };
/// assert!(error["error"]["message"].is_string());
/// # Ok::<(), gradband::Error>(())
/// ```
pub fn reply(agent: &mut Agent, line: &[u8], now: f64) -> Reply {
    answer(agent, line, now).unwrap_or_else(Reply::Line)
}

fn answer(agent: &mut Agent, line: &[u8], now: f64) -> Result<Reply, Value> {
    if line.len() as u64 >= LONGEST_LINE {
        return Err(refusal("", &format!("a line has at most {LONGEST_LINE} bytes")));
    }
    let text = std::str::from_utf8(line).map_err(|_| refusal("", "is not UTF-8"))?;
    let request: Request = serde_json::from_str(text).map_err(|error| unreadable(text, &error))?;
    let error = |error: gradband::Error| refusal(&error.place().to_string(), &error.kind().to_string());
    agent.advance(now).map_err(error)?;
    let done = match request {
        Request::Pull(pull) => {
            let pull = Pull { at: Some(pull.at.unwrap_or(now)), ..pull };
            agent.pull(pull).map(|decision| json!(decision))
        }
        Request::Update(Update { id, reward }) => agent.update(&id, reward).map(status),
        Request::Withdraw(Id { id }) => agent.withdraw(&id).map(status),
        Request::Probabilities(pull) => agent.probabilities(&pull).map(|probabilities| {
            let named = probabilities.into_iter().map(|(arm, p)| (arm.to_string(), json!(p)));
            json!({ "probabilities": Value::Object(named.collect()) })
        }),
        Request::Add(Arm { arm }) => agent.add(&arm).map(|()| applied()),
        Request::Retire(Arm { arm }) => agent.retire(&arm).map(|()| applied()),
        Request::Stats(Nothing {}) => Ok(json!(agent.stats())),
        Request::Save(Nothing {}) => return Ok(Reply::Save),
    };
    done.map(Reply::Line).map_err(error)
}

fn status(status: gradband::agent::Status) -> Value {
    json!({ "status": status })
}

fn applied() -> Value {
    json!({ "status": "applied" })
}

/// Why there is no result.
pub fn refusal(place: &str, message: &str) -> Value {
    json!({ "error": { "place": place, "message": message } })
}

/// A line that is no request: at its command, if it has one.
fn unreadable(text: &str, error: &serde_json::Error) -> Value {
    let command = serde_json::from_str::<Value>(text).ok();
    let command = command.as_ref().and_then(Value::as_object).and_then(|object| object.keys().next());
    refusal(command.map_or("", String::as_str), &error.to_string())
}
