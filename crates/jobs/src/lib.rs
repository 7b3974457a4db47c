//! A job in, a document out: what the `gradband` command and the Python package compute, once.
//!
//! A request has what a user can ask for, a document what is answered, in the keys of the command's JSON. Nothing is
//! printed, typed or interrupted here: whoever asks is a [`Client`], who watches the work and hears remarks.

pub mod check;
pub mod compare;
pub mod evaluate;
pub mod exact;
pub mod gittins;
pub mod gradient;
pub mod list;
pub mod policies;
pub mod session;
pub mod train;
pub mod verdict;
mod watch;

pub use watch::Iterate;

use gradband::learn::Plan;
use gradband::measure::Comparison;
use gradband::policy::Choice;
use gradband::problem::Ground;
use gradband::{Error, ErrorKind, Observer, Problem, Result};
use gradband_files::Target;
use policies::Asked;
use std::fmt::{self, Display, Formatter};

/// Whoever asked for a job: watches the work, and hears remarks about it.
pub trait Client {
    /// The observer of a piece of work. All work of a job is watched by one that is made here.
    fn watch(&self, work: &Work) -> Box<dyn Observer>;

    /// Something that whoever asked should know.
    fn remark(&self, _remark: &Remark) {}
}

/// Watches nothing.
impl Client for () {
    fn watch(&self, _: &Work) -> Box<dyn Observer> {
        Box::new(())
    }
}

/// A piece of work.
#[derive(Clone, Copy, Debug)]
pub enum Work<'a> {
    /// A simulation or a dynamic programme.
    Measuring,
    /// The choice of a policy, which trains many.
    Choosing,
    /// A training.
    Training(&'a Plan, &'a Problem),
}

/// Something that whoever asked should know.
#[derive(Clone, Debug, PartialEq)]
pub enum Remark {
    /// In words.
    Note(String),
    /// A policy that nobody named does not play, because its preparation takes so many seconds.
    LeftOut(&'static str, f64),
    /// The training was interrupted; the evaluation has so many instances.
    Short(usize),
}

/// In the words of the command.
impl Display for Remark {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Self::Note(text) => write!(f, "note: {text}"),
            Self::LeftOut(policy, seconds) => write!(
                f,
                "note: {policy} is left out, because its preparation takes about {seconds:.0} s; to have it, name it: --policies {policy},..."
            ),
            Self::Short(instances) => {
                write!(f, "stopping; a short evaluation on {} instances follows", grouped(*instances))
            }
        }
    }
}

/// The built-in problem of that name, or the spec at that path; tells what there is to know about it.
pub fn open(name: &str, client: &dyn Client) -> Result<Target> {
    let target = gradband_files::open(name).map_err(|error| match error.kind() {
        ErrorKind::Unknown { found, .. } if found == name => {
            Error::new(error.place().clone(), format!("{}; nor is it a file", error.kind()))
        }
        _ => error,
    })?;
    tell_notes(&target, client);
    Ok(target)
}

/// Remarks about a problem, such as features that are constant.
pub fn tell_notes(target: &Target, client: &dyn Client) {
    for note in &target.notes {
        client.remark(&Remark::Note(note.clone()));
    }
}

/// Policies with the parameters that a setting leaves to a search.
fn fitted(policies: Vec<Asked>, problem: &Problem, client: &dyn Client) -> Result<Vec<Asked>> {
    let mut watch = client.watch(&Work::Measuring);
    policies.into_iter().map(|policy| policy.fitted(problem, &mut *watch)).collect()
}

/// What an evaluation of so many instances stands on.
pub fn stands_on(problem: &Problem, instances: usize) -> String {
    match problem.ground() {
        Ground::Fresh => format!("{} instances drawn anew", grouped(instances)),
        ground => format!("{ground}, {} simulations", grouped(instances)),
    }
}

/// Plays policies on common instances, and notes their regret after each of `marks` rounds.
fn measure(
    choices: &[&Choice],
    problem: &Problem,
    seed: u64,
    instances: usize,
    marks: &[usize],
    client: &dyn Client,
) -> Result<Comparison> {
    let mut watch = client.watch(&Work::Measuring);
    gradband::measure::evaluate(choices, problem, seed, instances, marks, &mut *watch)
}

/// 12345678 as `12,345,678`.
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
