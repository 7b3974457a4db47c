//! `gradband init`: a commented spec to start from.

use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::output::{self, Printer};
use gradband::learn::Options;
use gradband::policy::Choice;
use gradband::{Error, Place, Problem};
use gradband_files::spec::{HOLDOUT, INSTANCES, default_policy};
use gradband_files::{TrainSpec, io};
use serde::Serialize;
use std::io::ErrorKind;
use std::path::Path;

#[derive(Serialize)]
struct Document<'a> {
    file: Option<&'a Path>,
    spec: &'a str,
}

pub fn run(file: Option<&Path>, printer: Printer) -> Result<()> {
    let spec = template()?;
    let document = Document { file, spec: &spec };
    let Some(path) = file else { return printer.result(&document, || spec.clone()) };
    write(path, &spec)?;
    if printer.json {
        return printer.result(&document, String::new);
    }
    output::note(&format!("wrote {0}; next: gradband check {0}, gradband train {0}", path.display()));
    Ok(())
}

/// A file that must not exist yet.
fn write(path: &Path, spec: &str) -> Result<()> {
    let _hold = interrupt::hold();
    io::write_new(path, spec).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            let place = Place::file(path.display().to_string());
            Error::new(place, "exists already; it is left as it is").into()
        }
        _ => Failure::unwritable(path, &error),
    })
}

/// What holds on a problem if nothing is said.
struct Defaults {
    policy: &'static str,
    runs: usize,
    train: TrainSpec,
}

impl Defaults {
    fn of(problem: &str) -> gradband::Result<Self> {
        let problem = Problem::named(problem)?;
        let policy = default_policy(&problem);
        let train = TrainSpec::default().resolve(&problem, &Choice::parse(policy, &problem)?)?.spec;
        Ok(Self { policy, runs: Options::default_runs(&problem), train })
    }
}

/// Every key, with what holds if it is left out.
fn template() -> Result<String> {
    let (plain, contextual) = (Defaults::of("bernoulli-2")?, Defaults::of("linear-1")?);
    let word = |word: &Option<String>| word.clone().unwrap_or_default();
    let Defaults { policy, runs: cost, train } = plain;
    let count = |count: Option<usize>| count.unwrap_or_default();
    let text = format!(
        r#"# A gradband spec. Lines that start with '# ' and a key show other choices or defaults.
# What there is: gradband list. What this file means: gradband check FILE.

[problem]
kind = "bernoulli"              # rewards: bernoulli | beta | gaussian; with contexts, see the end of this file:
                                # linear | classification | discrete-context
horizon = 200                   # rounds of one run; if nobody knows the end:
# horizon = {{ kind = "geometric", mean = 500 }}           # or {{ kind = "uniform", from = 100, to = 1000 }}
# delay = 20                    # rounds until a reward is known, or {{ mean = 20 }} (geometric)
# batch = 500                   # rewards become known at the end of each batch of rounds
# floor = 0.01                  # the least probability of every arm
# concentration = 4.0           # kind beta: rewards are Beta(v mean, v (1 - mean)); larger is less noise
# noise_sd = 0.5                # kind gaussian: standard deviation of rewards

# The prior says which instances (means of the arms) are to be expected. Four kinds:
[problem.prior]
kind = "points"                 # a few known instances, with their weights
instances = [[0.6, 0.4], [0.4, 0.6]]
weights = [0.5, 0.5]
# kind = "beta"                 # independent Beta means
# arms = 10
# alpha = 1.0                   # a number for all arms, or a list
# beta = 1.0
# kind = "normal"               # independent normal means, for kind gaussian
# mean = [0.0, 0.5]
# sd = 1.0
# kind = "table"                # your own past: CSV, a row per problem and a column per arm, or long form with
# path = "past.csv"             # columns problem,arm and mean, or successes,trials, or mean,variance,count
# columns = {{ problem = "campaign", arm = "creative", successes = "clicks", trials = "views" }} # other names
# arms = 5                      # problems have other arms each: an instance is five of them, in random order
# fit = "beta"                  # beta | normal: counts are redrawn with a prior fitted to them | flat: with none
# holdout = {holdout}                 # this part is kept for evaluation

[policy]                        # what plays; training starts from these parameters
kind = "{policy}"
# w = 1.0

[train]
baseline = "{baseline}"                # none | opt | self | loo
# gradient = "sampled"          # sampled | exact (two Bernoulli arms: dynamic programming, no noise)
# runs_per_instance = {runs}         # with loo
# returns = "{returns}"              # realized | mean
# optimizer = "{optimizer}"            # sgd | adam | yogi
# learning_rate = "auto"        # or a number
iterations = {iterations}
# batch_size = {batch}              # instances per iteration; default: {cost} runs per iteration
# average = "{average}"              # tail: hand out the mean of the last half of the iterates | none: the last
# eval_instances = {instances}        # default: as in [evaluate]
# clip = 10.0                   # longest gradient
# decay = {decay:?}                   # factor of the learning rate after each iteration
# time_limit = 60.0             # seconds

[evaluate]
instances = {instances}

# Contexts: instead of the [problem] and [problem.prior] above, one of these. Policies: gradband list policies;
# defaults there: policy "{contextual_policy}", optimizer "{contextual_optimizer}", {contextual_cost} runs per iteration.
#
# [problem]
# kind = "classification"       # a labelled table: an arm is a class
# horizon = 500
# data = "table.csv"            # CSV, CSV.gz or LIBSVM; or the name of a data set (gradband data list)
# label = "class"               # column, by name or number
# scale = "minmax"              # minmax: [-1, 1] | unit: [0, 1] | standard | none
# holdout = 0.25
# split = 1                     # which part that is: another number, another split
#
# [problem]
# kind = "linear"               # reward = context . theta of the arm + noise
# horizon = 200
# arms = 4
# context_dim = 8
# context_mean = 1.0            # a number or a list
# context_cov = 1.0             # a number, a list of variances, or a matrix
# theta_mean = 0.0              # a number, a list, or a list for each arm
# theta_cov = [1, 1, 1, 1, 0, 0, 0, 0]
# noise_sd = 0.5
#
# [problem]
# kind = "discrete-context"     # a bandit for each of finitely many contexts
# horizon = 200
# means = [[0.5, 0.2], [0.1, 0.6]] # for each arm the mean in each context
# mean_sd = 0.1                 # normal prior around the table
# noise_sd = 1.0
# context_weights = [0.5, 0.5]
# context_order = "random"      # random | cyclic
#
# [policy]
# kind = "{contextual_policy}"
# ridge = 1.0
# alpha = 1.0                   # width of the bounds
# temperature = 0.25
# rank = 2                      # rows of W; as many as the history needs if it is left out
# intercept = true              # a constant feature; labelled rows have one unless you say false
#
# [train]
# start = "history"             # W starts where the past says; identity: at W = I, as in the paper
"#,
        holdout = HOLDOUT,
        baseline = word(&train.baseline),
        runs = count(train.runs_per_instance),
        returns = word(&train.returns),
        optimizer = word(&train.optimizer),
        iterations = count(train.iterations),
        batch = count(train.batch_size),
        average = word(&train.average),
        instances = INSTANCES,
        decay = train.decay.unwrap_or_default(),
        contextual_policy = contextual.policy,
        contextual_optimizer = word(&contextual.train.optimizer),
        contextual_cost = count(contextual.train.batch_size) * count(contextual.train.runs_per_instance),
    );
    Ok(text)
}
