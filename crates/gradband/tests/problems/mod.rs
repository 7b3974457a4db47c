//! Problems of every kind, short enough to play every policy on all of them; and what plays them.
#![allow(dead_code, clippy::unwrap_used)]

use gradband::policy::{Choice, Learns, PolicyKind};
use gradband::problem::{
    Cell, Delay, Discrete, Horizon, Order, Points, Prior, Problem, Row, Split, Table, World,
};
use gradband::simulate::{Baseline, Job, Outcome, Output, Player, Returns, Task};

/// A built-in problem over another number of rounds.
pub fn shorten(name: &str, horizon: usize) -> Problem {
    Problem::named(name).unwrap().with_horizon(horizon).unwrap()
}

/// Four past instances of three arms, half of them held out.
pub fn table() -> Table {
    let rows = [[0.1, 0.2, 0.3], [0.5, 0.4, 0.1], [0.9, 0.8, 0.7], [0.2, 0.2, 0.6]];
    let rows = rows.map(|means| Row::new(means.map(Cell::Mean).to_vec()));
    Table::new(["a", "b", "c"].map(String::from).to_vec(), rows.to_vec(), 0.5).unwrap()
}

/// Every reward model and every prior without contexts.
pub fn armed() -> Vec<Problem> {
    let normal = Prior::normals(vec![0.0, 1.0, 0.3], vec![1.0; 3]).unwrap();
    vec![
        shorten("bernoulli-2", 60),
        shorten("bernoulli-2-uniform", 61),
        shorten("beta-2", 30),
        shorten("bernoulli-10", 40),
        shorten("distractors-7", 40),
        Problem::bernoulli(Prior::table(table())).name("table").horizon(30).build().unwrap(),
        Problem::gaussian(normal, 0.5).name("normal").horizon(30).build().unwrap(),
    ]
    .into_iter()
    .chain(in_worlds(&shorten("bernoulli-2", 33)).into_iter().skip(1))
    .chain(in_worlds(&shorten("bernoulli-10", 40)).pop())
    .collect()
}

/// A problem in every kind of world, its own first: late rewards, batches, least shares, unknown ends, and all of them.
pub fn in_worlds(problem: &Problem) -> Vec<Problem> {
    let own = *problem.world();
    let floor = 0.5 / problem.arms() as f64;
    let uniform = Horizon::Uniform { from: problem.horizon() / 2, to: problem.horizon() };
    let worlds = [
        own,
        World { delay: Delay::Rounds(4), ..own },
        World { delay: Delay::Geometric { mean: 3.0 }, ..own },
        World { batch: 7, ..own },
        World { floor, ..own },
        World { horizon: uniform, ..own },
        World { delay: Delay::Geometric { mean: 2.0 }, batch: 3, floor, horizon: uniform },
    ];
    worlds.iter().map(|&world| problem.with_world(world).unwrap()).collect()
}

/// Two contexts of two arms each, at random.
pub fn discrete() -> Problem {
    let tables = Points::new(vec![vec![0.1, 0.5, 0.3, 0.2], vec![0.4, 0.0, 0.9, 0.2]], None).unwrap();
    let discrete = Discrete::new(tables, 2, 0.1, 1.0, Some(vec![1.0, 2.0]), Order::Random).unwrap();
    Problem::discrete(discrete).name("discrete").horizon(30).build().unwrap()
}

/// Six classes in 44 dimensions, which take the engine's other kernel than linear-3's eight.
pub fn classes() -> Problem {
    use gradband::problem::{ExamplesBuilder, Scale};
    let mut builder = ExamplesBuilder::new(Scale::MinMax, 0.3).unwrap();
    for example in 0..60_u32 {
        let class = example % 6;
        let feature =
            |j: u32| f64::from((example * 37 + j * 11) % 17) + if j % 6 == class { 9.0 } else { 0.0 };
        builder.push(&(0..44).map(feature).collect::<Vec<_>>(), &class.to_string()).unwrap();
    }
    Problem::classification(builder.finish(None).unwrap().0).name("classes").horizon(30).build().unwrap()
}

/// Every contextual kind.
pub fn contextual() -> Vec<Problem> {
    vec![shorten("linear-3", 25), classes(), discrete()]
}

/// All of them.
pub fn problems() -> Vec<Problem> {
    armed().into_iter().chain(contextual()).collect()
}

/// The policy as it starts; a network is small, of sizes that fill no register, and gets weights that look random, the
/// same ones always.
pub fn choice(kind: &PolicyKind, problem: &Problem) -> Choice {
    let initial = Choice::initial(kind, problem).unwrap();
    let sizes: &[(&str, &str)] = match kind.learns() {
        Learns::Score => return initial,
        Learns::Recurrent => &[("hidden", "13"), ("embedding", "7")],
        Learns::QLearning => &[("hidden", "21")],
    };
    let set = |choice: Choice, (key, value): &(&str, &str)| choice.with(problem, key, value).unwrap();
    let initial = sizes.iter().fold(initial, set);
    let mut z = 1_u64;
    let weight = |_: &f64| {
        z = z.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((z >> 33) as f64 / (1_u64 << 31) as f64 - 0.5) * 0.6
    };
    let params: Vec<f64> = initial.params().iter().map(weight).collect();
    initial.with_params(problem, &params).unwrap()
}

/// Evaluation, and every estimate of the gradient if the policy has a score.
pub fn tasks(choice: &Choice, player: &dyn Player) -> Vec<Task> {
    let mut tasks = vec![Task::Evaluate];
    if !choice.params().is_empty() && player.unscored().is_none() {
        for returns in [Returns::Realized, Returns::Mean] {
            let baselines = [Baseline::None, Baseline::Opt, Baseline::SelfPlay, Baseline::LeaveOneOut(3)];
            tasks.extend(baselines.map(|baseline| Task::Gradient(baseline, returns)));
        }
    }
    tasks
}

/// What instances `first..first + count` told: outcomes, gradients, regrets at the marks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    pub outcomes: Vec<Outcome>,
    pub gradients: Vec<f64>,
    pub curves: Vec<f64>,
}

/// One call of the player.
pub fn play(player: &dyn Player, job: &Job, first: u64, count: usize) -> Told {
    let dim = if job.task == Task::Evaluate { 0 } else { player.dim() };
    // What is there before is not to matter.
    let mut told = Told {
        outcomes: vec![Outcome { reward: f64::NAN, regret: f64::NAN, cluster: 0 }; count],
        gradients: vec![f64::NAN; count * dim],
        curves: vec![f64::NAN; count * job.marks.len()],
    };
    let out =
        Output { outcomes: &mut told.outcomes, gradients: &mut told.gradients, curves: &mut told.curves };
    player.rollout(job, first, out).unwrap();
    told
}

/// Both parts of a table, or of examples.
pub const SPLITS: [Split; 2] = [Split::Train, Split::HeldOut];
