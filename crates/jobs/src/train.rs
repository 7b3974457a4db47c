//! `gradband train`: learns a policy, and shows what the learning was worth.

use crate::policies::{self, Asked, Named, Unnamed, Wanted};
use crate::watch::Watch;
use crate::{Client, Iterate, Remark, Work, fitted, measure, session, verdict};
use gradband::learn::{self, Trained, Tried, Trouble};
use gradband::measure::{Against, Comparison, Interval, Verdict};
use gradband::policy::Choice;
use gradband::problem::Ground;
use gradband::{Error, Estimate, Iteration, Problem, Result, StopReason};
use gradband_files::{
    AUTO, PolicyFile, PolicyRecord, ProblemRecord, Target, TrainSpec, Training, TrainingRecord,
    has_weights_file,
};
use gradband_lab::plot::TUNED;
use gradband_lab::session::{Measured, Session};
use serde::Serialize;
use std::time::Instant;

/// What a tuned policy is shown beside, where they apply.
const COMPARATORS: [&str; 6] =
    ["thompson", "ucb1", "bayes-optimal", "lin-thompson", "linucb", "linucb(width=tuned)"];
/// Seconds that the preparation of a comparator may take.
const PATIENCE: f64 = 0.5;
/// Iterates whose regret the report shows.
const ITERATES: usize = 20;
/// Nanoseconds to which the evaluation is cut after an interruption, about.
const HURRY: f64 = 5e7;
/// Where the policies stand in the evaluation; comparators follow.
const INITIAL: usize = 0;
const FINAL: usize = 1;
const LAST: usize = 2;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Where training starts.
    pub policy: Wanted,
    /// How to train, as far as it is said.
    pub train: TrainSpec,
    /// The seed.
    pub seed: u64,
    /// Is there to be a report, which shows iterates and regret over rounds?
    pub report: bool,
}

/// What is answered.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// The problem.
    pub problem: ProblemRecord,
    /// The policy that was learned.
    pub policy: PolicyRecord,
    /// Where training started.
    pub initial: Point,
    /// What is handed out.
    pub r#final: Point,
    /// The last iterate.
    pub last: Point,
    /// Untuned minus tuned regret, paired.
    pub gain: Estimate,
    /// Its 95 % interval.
    pub gain_interval: Interval,
    /// The policy beside its rivals.
    pub verdict: Verdict,
    /// The gain over Thompson sampling that was tuned to the same past.
    pub sharpened: Option<Against>,
    /// What the instances of the evaluation are.
    pub ground: Ground,
    /// Independent observations among them.
    pub observations: usize,
    /// What went wrong on the way.
    pub troubles: Vec<Trouble>,
    /// The classes among which the policy was chosen, if it was not named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tried: Option<Vec<Tried>>,
    /// The step size.
    pub learning_rate: Option<f64>,
    /// The iterations.
    pub history: Vec<Iteration>,
    /// The policies of the evaluation: untuned, tuned, then comparators.
    pub comparison: Vec<Compared>,
    /// Why training ended.
    pub stop_reason: StopReason,
    /// The seed.
    pub seed: u64,
    /// How long training took.
    pub seconds: f64,
    /// Of gradband.
    pub version: &'static str,
}

/// A policy of the training, measured.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// Its parameters; weights of networks are for files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<f64>,
    /// Its Bayes regret.
    pub bayes_regret: Estimate,
    /// Its Bayes reward.
    pub bayes_reward: Estimate,
    /// Simulated instances.
    pub instances: usize,
}

/// A policy of the evaluation.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// Its name.
    pub policy: String,
    /// Its Bayes regret.
    pub bayes_regret: Estimate,
    /// Its name for people.
    #[serde(skip)]
    pub short_name: String,
}

/// What was asked for, checked.
pub struct Job {
    /// The problem.
    pub target: Target,
    /// Where training starts.
    pub initial: Choice,
    /// What training will do.
    pub training: Training,
    /// How the policy was chosen, if it was not named.
    pub chosen: Option<Chosen>,
    /// Is the evaluation to be short, whatever was asked for? It is after an interrupted training.
    pub hurry: bool,
    seed: u64,
    report: bool,
}

/// A policy that was not named but found.
pub struct Chosen {
    initial: Choice,
    /// What was tried.
    pub choice: learn::Chosen,
    /// How long it took.
    pub seconds: f64,
}

/// What training left.
pub struct Learned {
    /// The policy, and how it came about.
    pub trained: Trained,
    /// Some iterates, for the report.
    pub iterates: Vec<Iterate>,
    /// How long it took.
    pub seconds: f64,
}

/// What it was worth.
pub struct Outcome {
    /// What training left.
    pub learned: Learned,
    /// How it played.
    pub played: Played,
}

/// How what was learned played, beside others.
pub struct Played {
    /// The untuned and the tuned policy, the last iterate, and comparators.
    pub policies: Vec<Asked>,
    /// How they played.
    pub measured: Comparison,
    /// The comparators that a policy can be used instead of, the best on training instances first.
    rivals: Vec<usize>,
}

/// Tries every class that applies.
fn choose(target: &Target, said: &TrainSpec, seed: u64, client: &dyn Client) -> Result<Chosen> {
    // What is wrong for the usual policy is wrong for all.
    let usual = Choice::parse(target.default_policy(), &target.problem)?;
    target.training(said, &usual)?;
    let (options, limit) = target.choosing(said)?;
    let start = Instant::now();
    let mut watch = Watch::new(client.watch(&Work::Choosing), 0, limit);
    let choice = learn::choose(&target.problem, &options, seed, limit.is_some(), &mut watch)?;
    Ok(Chosen { initial: choice.initial.clone(), choice, seconds: start.elapsed().as_secs_f64() })
}

impl Request {
    /// Whether the policy has to be chosen first, which is work.
    pub fn is_auto(&self, target: &Target) -> Result<bool> {
        let open = self.policy.policy.is_none() && target.leaves_open();
        let auto = open || matches!(&self.policy.policy, Some(Named::Text(text)) if text == AUTO);
        if auto && self.policy.params.is_some() {
            return Err(Error::new("params", "needs a policy: name one with --policy"));
        }
        Ok(auto)
    }
}

impl Job {
    /// Checks what is asked for, and chooses the policy if nobody names one.
    pub fn new(request: &Request, target: Target, client: &dyn Client) -> Result<Self> {
        let Request { policy, train, seed, report } = request;
        let chosen = match request.is_auto(&target)? {
            true => Some(choose(&target, train, *seed, client)?),
            false => None,
        };
        let initial = match &chosen {
            Some(chosen) => Asked::in_full(chosen.initial.clone()),
            None => policies::asked(&target, policy, Unnamed::Default, client)?,
        };
        let blame = |error| policies::blame(error, &target, policy);
        let training = target.training(train, &initial.choice).map_err(blame)?;
        initial.choice.check_start(&target.problem).map_err(blame)?;
        let initial = initial.fitted(&target.problem, &mut *client.watch(&Work::Measuring))?.choice;
        Ok(Self { target, initial, training, chosen, hurry: false, seed: *seed, report: *report })
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.target.problem
    }

    /// Learns.
    pub fn train(&mut self, client: &dyn Client) -> Result<Learned> {
        // What was trained on the whole problem to be chosen need not be trained again.
        if let Some(chosen) = &mut self.chosen
            && let Some(trained) = chosen.choice.trained.take()
        {
            return Ok(Learned { trained, iterates: Vec::new(), seconds: chosen.seconds });
        }
        let plan = &self.training.plan;
        let every = if self.report { plan.iterations().div_ceil(ITERATES) } else { 0 };
        let start = Instant::now();
        let client = client.watch(&Work::Training(plan, self.problem()));
        let mut watch = Watch::new(client, every, self.training.time_limit);
        let trained = plan.train(self.problem(), &self.initial, self.seed, &mut watch)?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Learned { trained, iterates: watch.into_iterates(), seconds })
    }

    /// Measures what was learned beside what there was, and beside comparators.
    pub fn evaluate(&self, learned: Learned, client: &dyn Client) -> Result<Outcome> {
        let played = self.play(&learned, client)?;
        Ok(Outcome { learned, played })
    }

    /// The same for those who keep what was learned, whatever happens.
    pub fn play(&self, learned: &Learned, client: &dyn Client) -> Result<Played> {
        let (problem, trained) = (self.problem(), &learned.trained);
        let mut policies = [trained.initial(), trained.choice(), trained.last()]
            .map(|choice| Asked::in_full(choice.clone()))
            .to_vec();
        let comparators = COMPARATORS.iter().filter_map(|text| policies::parse(text, problem, "").ok());
        let quick = |policy: &Asked| policy.choice.kind().preparation_seconds(problem) <= PATIENCE;
        let informed = policies::informed(&policies::INFORMED, problem, PATIENCE);
        // Whoever is in a hurry does not wait for searches.
        let waits = |policy: &Asked| !self.in_hurry(trained) || policy.choice.is_known();
        policies.extend(comparators.filter(quick).chain(informed).filter(waits));
        let policies = fitted(policies, problem, client)?;
        let choices: Vec<&Choice> = policies.iter().map(|policy| &policy.choice).collect();
        let marks = if self.report { session::rounds(problem) } else { Vec::new() };
        let instances = self.instances(trained, policies.len(), client);
        let rivals = verdict::rivals(&policies, problem, self.seed, instances, |i| i > LAST, client)?;
        let measured = measure(&choices, problem, self.seed, instances, &marks, client)?;
        Ok(Played { policies, measured, rivals })
    }

    fn in_hurry(&self, trained: &Trained) -> bool {
        self.hurry || trained.stop_reason() == StopReason::Interrupted
    }

    /// Instances of the evaluation: fewer if the user is in a hurry.
    fn instances(&self, trained: &Trained, policies: usize, client: &dyn Client) -> usize {
        let instances = self.training.eval_instances;
        if !self.in_hurry(trained) {
            return instances;
        }
        let affordable =
            (HURRY / trained.choice().kind().run_cost(self.problem()) / policies as f64) as usize;
        let instances = instances.min(affordable.max(2));
        client.remark(&Remark::Short(instances));
        instances
    }

    /// What a policy file says of what was learned.
    pub fn policy_file(&self, trained: &Trained) -> Result<PolicyFile> {
        let record = TrainingRecord {
            spec: self.target.effective(&self.initial, &self.training),
            seed: self.seed,
            version: env!("CARGO_PKG_VERSION").into(),
            iterations: trained.history().len(),
            stop_reason: trained.stop_reason(),
        };
        let file = PolicyFile::new(trained.choice(), self.problem())?;
        Ok(PolicyFile { training: Some(record), ..file })
    }

    /// The answer.
    pub fn document(&self, outcome: &Outcome) -> Document {
        let Learned { trained, seconds, .. } = &outcome.learned;
        let Played { policies, measured, rivals } = &outcome.played;
        let gain = measured.difference(INITIAL, FINAL);
        Document {
            problem: self.problem().into(),
            policy: PolicyRecord { params: document_params(trained.choice()), ..trained.choice().into() },
            initial: outcome.played.point(INITIAL),
            r#final: outcome.played.point(FINAL),
            last: outcome.played.point(LAST),
            gain,
            gain_interval: measured.interval(&gain),
            verdict: measured.verdict_named(FINAL, rivals, |i| policies[i].name()),
            sharpened: verdict::sharpened(measured, FINAL, rivals, policies),
            ground: self.problem().ground(),
            observations: measured.observations(),
            troubles: trained.troubles().to_vec(),
            tried: self.chosen.as_ref().map(|chosen| chosen.choice.tried.clone()),
            learning_rate: trained.learning_rate(),
            history: trained.history().to_vec(),
            comparison: outcome.played.compared(self.problem()),
            stop_reason: trained.stop_reason(),
            seed: self.seed,
            seconds: *seconds,
            version: env!("CARGO_PKG_VERSION"),
        }
    }

    /// For the report: the document's policies with their roles, and how training went. `command` is what was typed.
    pub fn session(
        &self,
        document: &Document,
        outcome: &Outcome,
        command: &str,
        client: &dyn Client,
    ) -> Result<Session> {
        let Learned { trained, iterates, .. } = &outcome.learned;
        let measured = &outcome.played.measured;
        let (problem, seed, instances) = (self.problem(), self.seed, measured.instances());
        let spec = self.target.effective(&self.initial, &self.training);
        let shown = outcome.played.shown(document);
        let session = session::of("train", problem, command, &spec, seed, instances, shown)?;
        let training = session::history(problem, trained, iterates, seed, instances, client)?;
        let lead =
            verdict::lead(&outcome.played.verdicts(problem), problem, document.gain, document.gain_interval);
        Ok(Session { lead, gain: Some(document.gain), training: Some(training), ..session })
    }
}

impl Played {
    fn point(&self, i: usize) -> Point {
        Point {
            params: document_params(&self.policies[i].choice),
            bayes_regret: self.measured.regret(i),
            bayes_reward: self.measured.reward(i),
            instances: self.measured.instances(),
        }
    }

    fn compared(&self, problem: &Problem) -> Vec<Compared> {
        let shown = self.policies.iter().enumerate().filter(|&(i, _)| i != LAST);
        let compared = shown.map(|(i, policy)| Compared {
            policy: policy.name(),
            bayes_regret: self.measured.regret(i),
            short_name: policy.short_name(problem),
        });
        compared.collect()
    }

    /// For people, who do not read sixteen digits.
    pub fn verdicts(&self, problem: &Problem) -> Vec<Verdict> {
        verdict::verdicts(&self.measured, FINAL, &self.rivals, &self.policies, problem)
    }

    fn shown(&self, document: &Document) -> Vec<Measured> {
        let measured = &self.measured;
        let roles = ["untuned: ", TUNED].into_iter().chain(std::iter::repeat(""));
        let shown = || (0..self.policies.len()).filter(|&i| i != LAST);
        let regret = |i: usize| measured.regret(i).mean;
        let best = shown().min_by(|&i, &j| regret(i).total_cmp(&regret(j))).unwrap_or(FINAL);
        let policies = shown().zip(&document.comparison).zip(roles).map(|((i, row), role)| Measured {
            name: format!("{role}{}", row.short_name),
            regret: row.bayes_regret,
            difference: measured.difference(i, best),
            curve: measured.curve(i),
        });
        policies.collect()
    }
}

/// Weights of neural policies are for files.
fn document_params(choice: &Choice) -> Vec<f64> {
    if has_weights_file(choice) { Vec::new() } else { choice.params().to_vec() }
}
