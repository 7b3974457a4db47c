//! The functions. Each does what the program does with such an input, as far as that is quick.

use crate::folder;
use flate2::{Compression, write::GzEncoder};
use gradband::agent::FORMAT;
use gradband::policy::Choice;
use gradband::problem::{Fit, Keys, Scale};
use gradband::{Agent, Catalogue, Observer, Playable, Problem, Pull};
use gradband_files::protocol::{self, Reply};
use gradband_files::spec::{DataFile, HOLDOUT};
use gradband_files::{
    CHECKPOINT_FILE, Checkpoint, Columns, POLICY_FILE, SpecFile, TableOptions, WEIGHTS_FILE, cache,
};
use gradband_files::{load_playable, load_policy, read_examples, read_table_with};
use gradband_lab::session::{self, Session};
use gradband_lab::{Results, record, report};
use gradband_report::{Block, Page};
use sha2::{Digest, Sha256};
use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::OnceLock;

/// One of so many, by the content: the same input is always read in the same way.
fn pick(bytes: &[u8], count: usize) -> usize {
    bytes.iter().map(|&byte| usize::from(byte)).sum::<usize>() % count
}

/// A directory for those that read files, one per process.
fn dir() -> &'static Path {
    static DIR: OnceLock<tempfile::TempDir> = OnceLock::new();
    DIR.get_or_init(|| tempfile::tempdir().unwrap()).path()
}

/// TOML specs, up to what would be trained.
pub fn spec(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Ok(file) = SpecFile::parse(&text, "s.toml") else { return false };
    let table = "arm,problem,mean,y\n0,1,0.5,p\n1,1,0.25,q\n0,2,0.125,p\n1,2,0.5,q\n";
    let open = |_: &str| {
        let reader = Box::new(Cursor::new(table.as_bytes()));
        Ok(DataFile { name: "t.csv".into(), reader, holdout: HOLDOUT })
    };
    let Ok((problem, _)) = file.problem(open) else { return false };
    let Ok(choice) = file.policy(&problem, &Catalogue::default()) else { return false };
    match choice {
        Some(choice) => file.spec.train.resolve(&problem, &choice).is_ok(),
        None => true,
    }
}

/// Tables of past problems, in all dialects.
pub fn table(bytes: &[u8]) -> bool {
    let columns = || {
        let names =
            [("problem", "campaign"), ("arm", "creative"), ("successes", "clicks"), ("trials", "views")];
        let keys = names.into_iter().fold(Keys::default(), |keys, (name, header)| keys.with(name, header));
        Columns::from_keys(&keys).unwrap()
    };
    let plain = TableOptions::default();
    let dialects = [
        TableOptions { holdout: 0.3, ..plain.clone() },
        TableOptions { arms: Some(3), fit: Some(Fit::Beta), ..plain.clone() },
        TableOptions { columns: columns(), ..plain.clone() },
        TableOptions { arms: Some(2), columns: columns(), holdout: 0.5, ..plain },
    ];
    dialects.iter().fold(false, |any, options| any | read_table_with(bytes, "t.csv", options).is_ok())
}

/// Labelled data: whether text is CSV or LIBSVM is found out.
pub fn labelled(bytes: &[u8]) -> bool {
    let ways = [(None, Scale::MinMax, 0.0), (Some("y"), Scale::Unit, 0.3), (Some("2"), Scale::None, 0.5)];
    ways.iter().fold(false, |any, &(label, scale, holdout)| {
        any | read_examples(bytes, "x.csv", label, scale, holdout).is_ok()
    })
}

/// The same, from a corpus of LIBSVM text.
pub fn libsvm(bytes: &[u8]) -> bool {
    read_examples(bytes, "x.svm", None, Scale::MinMax, [0.0, 0.3][pick(bytes, 2)]).is_ok()
}

/// Compressed tables: as they are, or text that is compressed and then damaged.
pub fn gzip(bytes: &[u8]) -> bool {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return table(bytes) | labelled(bytes);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    let mut packed = encoder.finish().unwrap();
    let at = pick(bytes, packed.len());
    packed[at] ^= (bytes.len() % 8) as u8;
    table(&packed) | labelled(&packed)
}

/// Policy files: whatever loads can be played.
pub fn policy_file(bytes: &[u8]) -> bool {
    let weights = folder("corpus/safetensors/lstm.safetensors");
    let weights = std::fs::read(weights).unwrap();
    loaded(bytes, &weights)
}

/// The weights of a network, beside a policy file that fits the ones in the corpus.
pub fn safetensors(bytes: &[u8]) -> bool {
    let policy = std::fs::read(folder("corpus/policy_file/lstm.json")).unwrap();
    loaded(&policy, bytes)
}

fn loaded(policy: &[u8], weights: &[u8]) -> bool {
    let dir = dir();
    std::fs::write(dir.join(POLICY_FILE), policy).unwrap();
    std::fs::write(dir.join(WEIGHTS_FILE), weights).unwrap();
    static PROBLEM: OnceLock<Problem> = OnceLock::new();
    let problem = PROBLEM.get_or_init(|| Problem::named("bernoulli-2").unwrap());
    let fits = load_policy(dir, problem).is_ok();
    match load_playable(dir) {
        Ok(policy) => fits | played(policy),
        Err(_) => fits,
    }
}

/// A few decisions, whose probabilities must be some.
fn played(policy: Playable) -> bool {
    let problem = policy.problem();
    let names: Vec<String> = (1..=problem.arms.min(50)).map(|arm| arm.to_string()).collect();
    let x = vec![0.5; problem.context_dim.unwrap_or(0).min(1000)];
    let Ok(agent) = Agent::new(policy, names) else { return false };
    decisions(agent.seed(1), &x)
}

fn decisions(mut agent: Agent, x: &[f64]) -> bool {
    let mut any = false;
    for round in 0..3 {
        let pull = Pull { at: Some(f64::from(round)), ..Pull::context(x.to_vec()) };
        let Ok(decision) = agent.pull(pull) else { return any };
        let p = decision.probability;
        assert!(p > 0.0 && p <= 1.0, "an arm was pulled with probability {p}");
        let _ = agent.update(&decision.id, f64::from(round) * 0.5);
        any = true;
    }
    let text = agent.save().expect("an agent that plays can be saved");
    let again = Agent::load(&text).unwrap_or_else(|error| panic!("a saved agent is refused: {error}"));
    assert_eq!(again.stats(), agent.stats());
    any
}

/// Saved agents. The corpus has what is within; its checksum is made right, or nothing would get past it.
pub fn agent(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end();
    let whole = text.starts_with("{\"gradband_agent\"");
    let sum: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    // The first format had no roots.
    let format = if text.contains("_root") { FORMAT } else { 1 };
    let wrapped = || format!("{{\"gradband_agent\":{format},\"sha256\":\"{sum}\",\"agent\":{text}}}");
    let text = if whole { text.to_string() } else { wrapped() };
    match Agent::load(&text) {
        Ok(agent) => {
            let dim = agent.policy().problem().context_dim.unwrap_or(0).min(1000);
            decisions(agent, &vec![0.5; dim])
        }
        Err(_) => false,
    }
}

/// Records of experiments, drawn.
pub fn record(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let named = |id: &&str| text.contains(&format!("\"experiment\":\"{id}\""));
    let ids = || gradband_lab::EXPERIMENTS.iter().map(|experiment| experiment.id);
    let id = ids().find(named).unwrap_or("fig1");
    let path = record::path(dir(), id);
    std::fs::write(&path, bytes).unwrap();
    let results = Results::read(dir());
    std::fs::remove_file(path).unwrap();
    let Ok(results) = results else { return false };
    drawn(&report::page(&results), &text);
    report::markdown(&results);
    true
}

/// Records of a user's own trainings and comparisons, drawn.
pub fn session(bytes: &[u8]) -> bool {
    let Ok(session) = serde_json::from_slice::<Session>(bytes) else { return false };
    drawn(&session::page(&[session]), &String::from_utf8_lossy(bytes));
    true
}

/// A page, which holds nothing of the input as markup; its figures' names are names of files.
fn drawn(page: &Page, input: &str) {
    let html = page.html();
    for marker in ["<img src=x", "<script>alert", "=\"javascript:", "\u{1b}["] {
        assert!(!html.contains(marker), "{marker} reached the page");
    }
    for block in page.sections.iter().flat_map(|section| &section.blocks) {
        if let Block::Figure(figure) = block {
            let id = &figure.id;
            let is_name = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
            assert!(is_name && !id.is_empty(), "a figure's file is called {id:?}");
            let svg = figure.svg();
            let drawn = |text: &str| svg.contains(text) && !input.contains(text);
            assert!(!drawn("NaN") && !drawn("inf"), "a figure has a number that is none");
            assert!(!svg.contains("<img src=x"), "markup reached a figure");
        }
    }
}

/// Stored Gittins tables, whose checksum is made right, or nothing would get past it.
pub fn gittins(bytes: &[u8]) -> bool {
    const HEADER: usize = 24;
    let mut bytes = bytes.to_vec();
    if bytes.len() > HEADER && pick(&bytes, 8) > 0 {
        let words =
            bytes[HEADER..].as_chunks::<4>().0.iter().map(|word| u64::from(u32::from_le_bytes(*word)));
        let sum =
            words.fold(0xcbf2_9ce4_8422_2325, |sum: u64, word| (sum ^ word).wrapping_mul(0x0100_0000_01b3));
        bytes[HEADER - 8..HEADER].copy_from_slice(&sum.to_le_bytes());
    }
    let path = dir().join("gittins.bin");
    std::fs::write(&path, bytes).unwrap();
    let Ok(table) = cache::read(&path) else { return false };
    for remaining in 1..=table.horizon() as u32 {
        assert!((0.0..1.0).contains(&table.index(0, 0, remaining)));
    }
    true
}

/// `--policy`, on several problems: what is accepted is called by a name that is accepted.
pub fn policy_string(bytes: &[u8]) -> bool {
    static PROBLEMS: OnceLock<Vec<Problem>> = OnceLock::new();
    let problems = PROBLEMS.get_or_init(|| {
        ["bernoulli-2", "linear-1", "bernoulli-10", "bernoulli-2-uniform"]
            .map(|name| Problem::named(name).unwrap())
            .into()
    });
    let text = String::from_utf8_lossy(bytes);
    let mut any = false;
    for problem in problems {
        let Ok(choice) = Choice::parse(&text, problem) else { continue };
        any = true;
        if choice.is_known() && choice.params().len() < 10 {
            let label = choice.label();
            let again = Choice::parse(&label, problem).unwrap_or_else(|error| panic!("{label}: {error}"));
            assert_eq!(again.params(), choice.params(), "{label}");
        }
    }
    any
}

/// The line protocol of `play`, for agents of several policies.
pub fn protocol(bytes: &[u8]) -> bool {
    static POLICIES: OnceLock<Vec<Playable>> = OnceLock::new();
    let policies = POLICIES.get_or_init(|| {
        let policies =
            [("bernoulli-2", "softelim(w=0.5)"), ("linear-1", "soft-ucb"), ("bernoulli-2", "exp3")];
        let playable = |(problem, policy)| {
            let problem = Problem::named(problem).unwrap();
            Playable::new(&Choice::parse(policy, &problem).unwrap(), &problem).unwrap()
        };
        policies.into_iter().map(playable).collect()
    });
    let policy = &policies[pick(bytes, policies.len())];
    let agent = Agent::new(policy, ["a", "b", "c"]).unwrap();
    let mut agent = agent.seed(1).floor(0.01).window(5.0, 0.0);
    let mut any = false;
    for (now, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let Reply::Line(reply) = protocol::reply(&mut agent, line, now as f64) else { continue };
        any |= reply.get("error").is_none();
        assert!(reply.is_object() && !reply.to_string().contains('\n'));
    }
    agent.save().expect("an agent can be saved after any lines");
    any
}

/// Checkpoints, whose checksum is made right, or nothing would get past it: the training goes on from whatever they say.
pub fn checkpoint(bytes: &[u8]) -> bool {
    const HEADER: usize = 24;
    let mut bytes = bytes.to_vec();
    if bytes.len() > HEADER + 32 && pick(&bytes, 8) > 0 {
        let sum = Sha256::digest(&bytes[HEADER + 32..]);
        bytes[HEADER..HEADER + 32].copy_from_slice(&sum);
    }
    std::fs::write(dir().join(CHECKPOINT_FILE), bytes).unwrap();
    let Ok(checkpoint) = Checkpoint::load(dir()) else { return false };
    let Ok(way) = checkpoint.settings::<usize>() else { return false };
    // What a number that is none does to a training is said by an error; a panic is no answer.
    WAYS.get(way).is_some_and(|way| go_on(*way, &mut Recalling(checkpoint)).is_ok())
}

/// Small trainings, one for each way to learn: policy, problem, options.
const WAYS: [(&str, &str, &str); 7] = [
    ("softelim", "", "iterations = 6\nbatch_size = 2"),
    ("softelim", "", "iterations = 6\nbatch_size = 2\noptimizer = \"sgd\""),
    ("soft-index", "", "iterations = 4\ngradient = \"exact\""),
    ("thompson", "", "iterations = 5\nbatch_size = 2"),
    ("lstm", "hidden = 2\nembedding = 2", "iterations = 3\nbatch_size = 2\ncurriculum = [2, 4]"),
    ("dqn", "hidden = 2", "iterations = 8"),
    ("soft-ucb", "rank = 1", "iterations = 4\nbatch_size = 2"),
];

/// The training of a way, on a problem that is as short as can be.
fn go_on((kind, settings, options): (&str, &str, &str), observer: &mut dyn Observer) -> gradband::Result<()> {
    let problem = match kind {
        "soft-ucb" => "kind = \"classification\"\nhorizon = 4\ndata = \"t.csv\"\nholdout = 0.3",
        _ => {
            "kind = \"bernoulli\"\nhorizon = 4\n[problem.prior]\nkind = \"points\"\ninstances = [[0.6, 0.4]]"
        }
    };
    let text = format!("[problem]\n{problem}\n[policy]\nkind = \"{kind}\"\n{settings}\n[train]\n{options}\n");
    let file = SpecFile::parse(&text, "s.toml")?;
    let rows: String = (0..24).map(|i| format!("{},{},{}\n", i % 5, i % 7, i % 2)).collect();
    let table = format!("a,b,y\n{rows}");
    let open = |_: &str| {
        let reader = Box::new(Cursor::new(table.as_bytes().to_vec()));
        Ok(DataFile { name: "t.csv".into(), reader, holdout: HOLDOUT })
    };
    let (problem, _) = file.problem(open)?;
    let choice = file.policy(&problem, &Catalogue::default())?.expect("it is named");
    let training = file.spec.train.resolve(&problem, &choice)?;
    training.plan.train(&problem, &choice, 1, observer).map(drop)
}

/// Goes on from a checkpoint.
struct Recalling(Checkpoint);

impl Observer for Recalling {
    fn keep(&mut self, step: &str, state: &dyn Fn() -> Vec<u8>) {
        self.0.note(step, state());
    }

    fn recall(&mut self, step: &str) -> Option<Vec<u8>> {
        self.0.recall(step).map(<[u8]>::to_vec)
    }
}
