//! The arguments as typed. What they mean is decided by the library and its files.

use clap::{Parser, Subcommand, ValueEnum, value_parser};
use gradband::learn::LearningRate;
use gradband_files::TrainSpec;
use gradband_files::spec::{INSTANCES, PROBLEM, SEED};
use gradband_jobs::policies::{Named, Params, Wanted};
use std::path::{Path, PathBuf};

/// Bandit policies that learn how to explore from a sample of past problems.
#[derive(Parser, Debug)]
#[command(name = "gradband", version, arg_required_else_help = true, propagate_version = true)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

/// What every command takes.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Options of every command")]
pub struct Common {
    #[arg(
        long, global = true, value_name = "S", allow_negative_numbers = true,
        help = format!("The same seed gives the same numbers [default: {SEED}; play: another one each time]")
    )]
    pub seed: Option<u64>,
    /// Threads [default: all cores]; the numbers do not depend on it
    #[arg(
        long, global = true, value_name = "N", allow_negative_numbers = true,
        value_parser = value_parser!(u16).range(1..=1024)
    )]
    pub threads: Option<u16>,
    /// One JSON document on stdout instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Where Gittins tables and fetched data are kept, or none [default: $GRADBAND_CACHE, else gradband in the user's cache]
    #[arg(long, global = true, value_name = "DIR|none")]
    pub cache: Option<PathBuf>,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// What there is: problems, policies, baselines, optimizers, experiments, data sets
    List {
        /// One list alone
        kind: Option<Listed>,
    },
    /// Write a commented spec to start from
    Init {
        /// A new file [default: stdout]
        file: Option<PathBuf>,
    },
    /// Is a spec valid, and what does it mean?
    Check {
        /// A TOML file
        spec: PathBuf,
    },
    /// Learn a policy for a problem
    Train(Box<Train>),
    /// Measure the Bayes regret of a policy
    Evaluate(Evaluate),
    /// Measure several policies on the same instances
    Compare(Compare),
    /// Estimate the gradient of the Bayes reward
    Gradient(Gradient),
    /// Bayes regret and gradient without sampling error: Bernoulli rewards, few arms
    Exact(Exact),
    /// The finite-horizon Gittins indices of a Beta(1, 1) arm
    ///
    /// Prints the indices at the start of a run. With -o FILE, writes all of them: successes, failures, remaining
    /// rounds (this one included) and index, as FILE.csv or FILE.json. With --json, stdout has the keys horizon,
    /// entries, start (the index before the first pull), seconds and output.
    Gittins(Gittins),
    /// The data sets of classification problems
    #[command(subcommand)]
    Data(Data),
    /// The paper's figures and tables: run, recorded, compared with the paper and drawn
    ///
    /// Records go to DIR, a file per experiment and a line per finished unit, and are never computed twice: a run that was
    /// stopped goes on where it was. At the end DIR/report.html shows everything.
    Reproduce(Reproduce),
    /// Play a policy: decisions and rewards, line by line
    ///
    /// Reads a JSON object per line, such as {"pull": {}} or {"update": {"id": "...", "reward": 1}}, and answers each with one.
    /// Also withdraw, probabilities, add, retire, stats and save. See docs/deploy.md.
    Play(Play),
    /// Write DIR/report.html and DIR/figures anew from the records in DIR
    Report {
        /// Where `reproduce`, `train -o` or `compare -o` wrote
        dir: PathBuf,
    },
}

#[derive(clap::Args, Debug)]
pub struct Reproduce {
    /// Experiments (fig1 to fig11, tab1, theory; ours: world), or all; see --list
    #[arg(value_name = "ID", required_unless_present = "list")]
    pub ids: Vec<String>,
    /// Small sizes, for a first look: minutes, not hours
    #[arg(long)]
    pub quick: bool,
    /// Runs of every training [default: the paper's]
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = count())]
    pub runs: Option<u64>,
    /// What there is, and how much of it is recorded in DIR
    #[arg(long)]
    pub list: bool,
    /// Where records and report go [default: reproduction, or reproduction-quick]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

#[derive(Subcommand, Debug)]
pub enum Data {
    /// All data sets, and where they are
    List,
    /// Put a data set that is not built in (covertype) into the cache
    Fetch {
        /// Data sets; see `gradband data list`
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// A copy of UCI's covtype.data, plain, as .gz or in its .zip, instead of the network
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
    },
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    Problems,
    Policies,
    Baselines,
    Optimizers,
    Experiments,
    Data,
}

/// A policy by name.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct PolicyFlags {
    /// A policy, as `name` or `name(param=value,...)`; see `gradband list policies`
    #[arg(long, value_name = "NAME")]
    pub policy: Option<String>,
    /// Its parameters, comma-separated, or @FILE with a JSON array or object
    #[arg(long, value_name = "X,...", allow_hyphen_values = true)]
    pub params: Option<String>,
}

impl PolicyFlags {
    /// The policy file if there is one, else the policy of the flags.
    pub fn or_file(&self, file: Option<&Path>) -> Wanted {
        let named = self.policy.clone().map(Named::Text);
        Wanted {
            policy: file.map(|path| Named::File(path.into())).or(named),
            params: self.params.clone().map(Params::Text),
        }
    }
}

/// How a gradient is estimated.
#[derive(clap::Args, Clone, Debug)]
pub struct EstimatorFlags {
    /// What returns are compared with [default: loo]
    #[arg(long, value_name = "none|opt|self|loo")]
    pub baseline: Option<String>,
    /// Runs of each instance, with --baseline loo [default: 8]
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = count())]
    pub runs_per_instance: Option<u64>,
    /// What returns are made of [default: mean]
    #[arg(long, value_name = "realized|mean")]
    pub returns: Option<String>,
    /// Instances per gradient [default: 2000 / runs per instance; with contexts 320]
    #[arg(long, value_name = "m", allow_negative_numbers = true, value_parser = count())]
    pub batch_size: Option<u64>,
}

#[derive(clap::Args, Debug)]
pub struct Train {
    /// A built-in problem, or a TOML spec
    #[arg(default_value = PROBLEM)]
    pub problem: String,
    #[command(flatten)]
    pub policy: PolicyFlags,
    /// Where gradients come from: simulation, or dynamic programming [default: sampled]
    #[arg(long, value_name = "sampled|exact")]
    pub gradient: Option<String>,
    #[command(flatten)]
    pub estimator: EstimatorFlags,
    /// With contexts: start at what the history says, or at W = I as the paper does [default: history]
    #[arg(long, value_name = "history|identity")]
    pub start: Option<String>,
    /// How to climb; sgd moves parameters as the paper does [default: adam]
    #[arg(long, value_name = "sgd|adam|yogi")]
    pub optimizer: Option<String>,
    /// Step size [default: auto]
    #[arg(long, value_name = "auto|x", allow_hyphen_values = true, value_parser = learning_rate)]
    pub learning_rate: Option<LearningRate>,
    /// Steps [default: 100; with contexts 150]
    #[arg(long, value_name = "L", allow_negative_numbers = true, value_parser = count())]
    pub iterations: Option<u64>,
    /// Hand out the mean of the last half of the iterates, or the last [default: tail]
    #[arg(long, value_name = "tail|none")]
    pub average: Option<String>,
    #[arg(
        long, value_name = "N", allow_negative_numbers = true, value_parser = count(),
        help = format!("Instances of the evaluation at the end [default: {}]", INSTANCES)
    )]
    pub eval_instances: Option<u64>,
    /// Seconds after which training ends; --policy auto tries networks too if there are any
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub time_limit: Option<f64>,
    /// Neural policies: how to train them [default: default]
    #[arg(long, value_name = "default|paper")]
    pub recipe: Option<String>,
    /// Write policy.json, history.csv and report.html there
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Replace the policy that is there
    #[arg(long, requires = "output")]
    pub force: bool,
}

#[derive(clap::Args, Debug)]
pub struct Evaluate {
    /// A built-in problem, or a TOML spec
    pub problem: String,
    #[command(flatten)]
    pub policy: PolicyFlags,
    /// A policy.json that `train -o` wrote
    #[arg(long, value_name = "FILE", conflicts_with_all = ["policy", "params"])]
    pub policy_file: Option<PathBuf>,
    #[arg(
        long, value_name = "N", allow_negative_numbers = true, value_parser = count(),
        help = format!("Simulated instances [default: {}]", INSTANCES)
    )]
    pub instances: Option<u64>,
}

#[derive(clap::Args, Debug)]
pub struct Compare {
    /// A built-in problem, or a TOML spec
    pub problem: String,
    /// Policies, as `name` or `name(param=value,...)` [default: all that apply and need no long preparation, untuned]
    #[arg(long, value_name = "A,B,...")]
    pub policies: Option<String>,
    /// A policy.json as well; may be repeated
    #[arg(long, value_name = "FILE")]
    pub policy_file: Vec<PathBuf>,
    #[arg(
        long, value_name = "N", allow_negative_numbers = true, value_parser = count(),
        help = format!("Simulated instances [default: {}]", INSTANCES)
    )]
    pub instances: Option<u64>,
    /// Write compare.json, compare.csv and report.html there
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Replace the comparison that is there
    #[arg(long, requires = "output")]
    pub force: bool,
}

#[derive(clap::Args, Debug)]
pub struct Play {
    /// A policy.json that `train -o` wrote, or its directory
    #[arg(value_name = "POLICY.json")]
    pub policy_file: PathBuf,
    /// Names of the arms [default: those of the problem, else 1, 2, ...]; with a state, those that are new are added
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub arms: Vec<String>,
    /// The least probability of every arm [default: that of the training]
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub floor: Option<f64>,
    /// How long a reward is waited for, such as 90s, 30m, 24h or 7d
    #[arg(long, value_name = "TIME", requires = "default_reward", value_parser = duration)]
    pub wait: Option<f64>,
    /// The reward of a decision of which nothing is reported in that time
    #[arg(long, value_name = "X", requires = "wait", allow_negative_numbers = true)]
    pub default_reward: Option<f64>,
    /// Where the agent is kept: loaded if it is there, saved every few seconds and at the end
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
}

#[derive(clap::Args, Debug)]
pub struct Exact {
    /// A built-in problem, or a TOML spec
    pub problem: String,
    #[command(flatten)]
    pub policy: PolicyFlags,
    /// A policy.json that `train -o` wrote
    #[arg(long, value_name = "FILE", conflicts_with_all = ["policy", "params"])]
    pub policy_file: Option<PathBuf>,
}

#[derive(clap::Args, Debug)]
pub struct Gittins {
    /// Rounds of a run
    #[arg(long, value_name = "n", allow_negative_numbers = true, value_parser = count())]
    pub horizon: u64,
    /// Write all indices there, as .csv or .json
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(clap::Args, Debug)]
pub struct Gradient {
    /// A built-in problem, or a TOML spec
    pub problem: String,
    /// A policy, as `name` or `name(param=value,...)`; see `gradband list policies`
    #[arg(long, value_name = "NAME")]
    pub policy: String,
    /// Its parameters, comma-separated, or @FILE with a JSON array or object
    #[arg(long, value_name = "X,...", allow_hyphen_values = true)]
    pub params: String,
    #[command(flatten)]
    pub estimator: EstimatorFlags,
}

/// Any count that TOML could hold too; the library knows the limits.
fn count() -> clap::builder::RangedU64ValueParser {
    value_parser!(u64).range(0..=i64::MAX as u64)
}

fn learning_rate(text: &str) -> Result<LearningRate, &'static str> {
    match text {
        "auto" => Ok(LearningRate::Auto),
        other => other.parse().map(LearningRate::Fixed).map_err(|_| "expected auto or a number"),
    }
}

/// Seconds, or a number with its unit.
fn duration(text: &str) -> Result<f64, &'static str> {
    const UNITS: [(char, f64); 4] = [('s', 1.0), ('m', 60.0), ('h', 3600.0), ('d', 86400.0)];
    let unit = UNITS.iter().find_map(|&(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
    let (number, seconds) = unit.unwrap_or((text, 1.0));
    let found: Option<f64> = number.parse().ok().map(|number: f64| number * seconds);
    found.filter(|&x| x > 0.0 && x <= 1e12).ok_or("expected a time such as 90s, 30m, 24h or 7d")
}

impl From<&EstimatorFlags> for TrainSpec {
    fn from(flags: &EstimatorFlags) -> Self {
        Self {
            baseline: flags.baseline.clone(),
            runs_per_instance: flags.runs_per_instance.map(whole),
            returns: flags.returns.clone(),
            batch_size: flags.batch_size.map(whole),
            ..Self::default()
        }
    }
}

impl From<&Train> for TrainSpec {
    fn from(flags: &Train) -> Self {
        Self {
            gradient: flags.gradient.clone(),
            start: flags.start.clone(),
            optimizer: flags.optimizer.clone(),
            learning_rate: flags.learning_rate,
            iterations: flags.iterations.map(whole),
            average: flags.average.clone(),
            eval_instances: flags.eval_instances.map(whole),
            recipe: flags.recipe.clone(),
            time_limit: flags.time_limit,
            ..Self::from(&flags.estimator)
        }
    }
}

/// Saturates on machines with short pointers: the limits are far below.
pub fn whole(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use gradband::Problem;
    use gradband::learn::Options;
    use gradband::policy::Choice;
    use gradband_files::spec::default_policy;

    /// What holds if nothing is said, in words.
    fn defaults(problem: &str) -> (TrainSpec, usize) {
        let problem = Problem::named(problem).unwrap();
        let choice = Choice::parse(default_policy(&problem), &problem).unwrap();
        (TrainSpec::default().resolve(&problem, &choice).unwrap().spec, Options::default_runs(&problem))
    }

    #[test]
    fn the_help_names_the_defaults() {
        let mut command = Args::command();
        let train = command.find_subcommand_mut("train").unwrap();
        let help = |flag: &str| {
            let arg = train.get_arguments().find(|arg| arg.get_long() == Some(flag)).unwrap();
            arg.get_help().unwrap().to_string()
        };
        let ((plain, runs), (contextual, _)) = (defaults("bernoulli-2"), defaults("linear-1"));
        let contextual_runs = contextual.batch_size.unwrap() * contextual.runs_per_instance.unwrap();
        let (steps, contextual_steps) = (plain.iterations.unwrap(), contextual.iterations.unwrap());
        let of = |spec: TrainSpec| [spec.gradient, spec.baseline, spec.returns, spec.average, spec.optimizer];
        let [plain_words, contextual_words] = [plain.clone(), contextual].map(of);
        for (i, flag) in ["gradient", "baseline", "returns", "average", "optimizer"].into_iter().enumerate() {
            let default = plain_words[i].as_deref().unwrap();
            assert!(help(flag).ends_with(&format!("[default: {default}]")), "{flag}");
            assert_eq!(plain_words[i], contextual_words[i]);
        }
        assert!(
            help("iterations").ends_with(&format!("[default: {steps}; with contexts {contextual_steps}]"))
        );
        let batch = format!("[default: {runs} / runs per instance; with contexts {contextual_runs}]");
        assert!(help("batch-size").ends_with(&batch));
    }
}
