//! `gradband compare`: several policies on the same instances and rewards.

use crate::policies::{self, Asked, Named};
use crate::{Client, Remark, fitted, measure, session, verdict};
use gradband::measure::{Against, Comparison, Verdict};
use gradband::policy::{Choice, PolicyKind, ready};
use gradband::problem::Ground;
use gradband::{Estimate, Place, Problem, Result, Step};
use gradband_files::{ProblemRecord, Target};
use gradband_lab::session::{Measured, Session};
use serde::Serialize;
use std::time::Instant;

/// Seconds that the preparation of a policy may take that nobody asked for.
const PATIENCE: f64 = 3.0;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Policies; a text may name several, with commas between them. By default all that apply and are quick to prepare.
    pub policies: Option<Vec<Named>>,
    /// Policies as well, of which the first is measured by the others.
    pub tuned: Vec<Named>,
    /// Simulated instances.
    pub instances: Option<usize>,
    /// The seed.
    pub seed: u64,
    /// Is there to be a report, which shows regret over rounds?
    pub report: bool,
}

/// What is answered.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// The problem.
    pub problem: ProblemRecord,
    /// The policies, the best first.
    pub rows: Vec<Row>,
    /// The first tuned policy, else the best on training instances, beside the others.
    pub verdict: Verdict,
    /// Its gain over Thompson sampling that was tuned to the same past.
    pub sharpened: Option<Against>,
    /// What the instances are.
    pub ground: Ground,
    /// Independent observations among them.
    pub observations: usize,
    /// Simulated instances.
    pub instances: usize,
    /// The seed.
    pub seed: u64,
    /// How long it took.
    pub seconds: f64,
    /// Of gradband.
    pub version: &'static str,
}

/// A policy, measured.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub policy: String,
    /// Does it have parameters to learn, none of which anyone gave?
    pub untuned: bool,
    /// Its parameters.
    pub params: Vec<f64>,
    /// Its Bayes regret.
    pub bayes_regret: Estimate,
    /// Its Bayes reward.
    pub bayes_reward: Estimate,
    /// Its regret minus that of the best, paired.
    pub difference: Estimate,
    /// Regret beyond that of `bayes-optimal`, where it plays too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<Estimate>,
    /// Its name for people.
    #[serde(skip)]
    pub short_name: String,
    /// Regret over rounds, if a report is to show it.
    #[serde(skip)]
    pub curve: Vec<(usize, Estimate)>,
}

impl Row {
    /// What was measured.
    pub fn estimates(&self) -> impl Iterator<Item = Estimate> {
        [self.bayes_regret, self.bayes_reward, self.difference].into_iter().chain(self.distance)
    }
}

/// What was asked for, checked.
pub struct Job {
    /// The problem.
    pub target: Target,
    policies: Vec<Asked>,
    /// The policy that is measured by the others, if one is said.
    subject: Option<usize>,
    instances: usize,
    seed: u64,
    report: bool,
}

/// What was found.
pub struct Outcome {
    /// The answer.
    pub document: Document,
    /// For people, who do not read sixteen digits.
    pub verdicts: Vec<Verdict>,
    /// How the policies played, in the order in which they were asked for.
    pub measured: Comparison,
    /// Their names in that order.
    pub names: Vec<String>,
}

impl Job {
    /// Checks what is asked for.
    pub fn new(request: &Request, target: Target, client: &dyn Client) -> Result<Self> {
        let mut policies = policies(request, &target, client)?;
        let subject = (!request.tuned.is_empty()).then_some(policies.len());
        for named in &request.tuned {
            policies.extend(asked(named, &target.problem, client)?);
        }
        let instances = target.instances(request.instances)?;
        Ok(Self { target, policies, subject, instances, seed: request.seed, report: request.report })
    }

    /// Measures the policies.
    pub fn run(&self, client: &dyn Client) -> Result<Outcome> {
        let (problem, seed, instances) = (&self.target.problem, self.seed, self.instances);
        let start = Instant::now();
        let policies = fitted(self.policies.clone(), problem, client)?;
        let choices: Vec<&Choice> = policies.iter().map(|policy| &policy.choice).collect();
        let marks = if self.report { session::rounds(problem) } else { Vec::new() };
        let measured = measure(&choices, problem, seed, instances, &marks, client).map_err(at_policies)?;
        let subject = self.subject;
        let mut rivals =
            verdict::rivals(&policies, problem, seed, instances, |i| Some(i) != subject, client)?;
        let subject = subject.unwrap_or_else(|| if rivals.is_empty() { 0 } else { rivals.remove(0) });
        let document = Document {
            problem: problem.into(),
            rows: rows(&policies, problem, &measured),
            verdict: measured.verdict_named(subject, &rivals, |i| policies[i].name()),
            sharpened: verdict::sharpened(&measured, subject, &rivals, &policies),
            ground: problem.ground(),
            observations: measured.observations(),
            instances,
            seed,
            seconds: start.elapsed().as_secs_f64(),
            version: env!("CARGO_PKG_VERSION"),
        };
        let verdicts = verdict::verdicts(&measured, subject, &rivals, &policies, problem);
        let names = policies.iter().map(Asked::name).collect();
        Ok(Outcome { document, verdicts, measured, names })
    }

    /// For the report: the rows as they are. `command` is what was typed.
    pub fn session(&self, outcome: &Outcome, command: &str) -> Result<Session> {
        let Outcome { document, verdicts, .. } = outcome;
        let measured = document.rows.iter().map(|row| Measured {
            name: if row.untuned { format!("{} (untuned)", row.short_name) } else { row.short_name.clone() },
            regret: row.bayes_regret,
            difference: row.difference,
            curve: row.curve.clone(),
        });
        let (problem, spec) = (&self.target.problem, self.target.problem_keys());
        let (seed, instances) = (document.seed, document.instances);
        let session = session::of("compare", problem, command, &spec, seed, instances, measured.collect())?;
        let lead = verdicts.iter().map(|verdict| format!("{verdict}.")).chain(verdict::cautions(problem));
        Ok(Session { lead: lead.collect(), ..session })
    }
}

/// The same error, if it is about a policy, at the list of them.
fn at_policies(error: gradband::Error) -> gradband::Error {
    let place = match error.place().steps() {
        [Step::Key(key), inner @ ..] if key == "policy" => {
            Place::key("policies").then(inner.iter().cloned().collect::<Place>())
        }
        _ => return error,
    };
    error.at(place)
}

fn asked(named: &Named, problem: &Problem, client: &dyn Client) -> Result<Vec<Asked>> {
    match named {
        Named::Text(text) => policies::parse_list(text, problem, "policies"),
        Named::File(path) => Ok(vec![Asked::in_full(policies::from_file(path, problem, client)?)]),
        Named::Choice(choice) => Ok(vec![Asked::in_full(choice.clone())]),
    }
}

/// Those that were asked for, else every one that applies.
fn policies(request: &Request, target: &Target, client: &dyn Client) -> Result<Vec<Asked>> {
    let problem = &target.problem;
    let [fitted, sharpened] = policies::INFORMED;
    let mut informed = vec![fitted, sharpened, policies::INFORMED_INDEX];
    // Without a table the optimum knows the prior anyway.
    informed.extend(
        matches!(problem.ground(), Ground::PastProblems { .. }).then_some(policies::INFORMED_OPTIMUM),
    );
    let informed = policies::informed(&informed, problem, PATIENCE);
    match &request.policies {
        Some(named) => {
            let asked = named.iter().map(|named| asked(named, problem, client));
            Ok(asked.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
        }
        None => ready(problem)
            .filter(|kind| is_cheap(kind, problem, client))
            .map(|kind| Choice::initial(kind, problem).map(Asked::untuned))
            .chain(informed.into_iter().map(Ok))
            .collect(),
    }
}

/// Policies that need a long preparation play only if they are asked for.
fn is_cheap(kind: &'static PolicyKind, problem: &Problem, client: &dyn Client) -> bool {
    let seconds = kind.preparation_seconds(problem);
    if seconds > PATIENCE {
        client.remark(&Remark::LeftOut(kind.name(), seconds));
    }
    seconds <= PATIENCE
}

/// Sorted by regret, equal ones in the order in which they were asked for.
fn rows(policies: &[Asked], problem: &Problem, measured: &Comparison) -> Vec<Row> {
    let mut order: Vec<usize> = (0..policies.len()).collect();
    order.sort_by(|&i, &j| measured.regret(i).mean.total_cmp(&measured.regret(j).mean));
    let optimal = policies.iter().position(Asked::is_bound);
    let row = |&i: &usize| Row {
        policy: policies[i].name(),
        untuned: policies[i].is_untuned(),
        params: policies[i].choice.params().to_vec(),
        bayes_regret: measured.regret(i),
        bayes_reward: measured.reward(i),
        difference: measured.difference(i, order[0]),
        distance: optimal.map(|optimal| measured.difference(i, optimal)),
        short_name: policies[i].short_name(problem),
        curve: measured.curve(i),
    };
    order.iter().map(row).collect()
}
