//! `make soak`: random commands that are killed or interrupted at random moments and go on, beside the same ones unbroken.

use super::resume::{Moments, WAYS, files, write_rows, write_short};
use super::*;
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// What differs, or went wrong.
type Outcome<T> = Result<T, String>;

/// Policies that other commands and ways are tried with, and tables of past problems.
const MORE_WAYS: [(&str, &[&str]); 8] = [
    ("exp3", &["bernoulli-2", "--policy", "exp3", "--iterations", "300"]),
    ("six parameters", &["short.toml", "--policy", "soft-index", "--iterations", "300"]),
    ("identity", &["linear-1", "--policy", "cosoftelim", "--start", "identity", "--iterations", "20"]),
    ("rank 1", &["linear-2", "--policy", "soft-ucb(rank=1)", "--iterations", "20"]),
    ("own baseline", &["bernoulli-2", "--baseline", "self", "--returns", "realized", "--iterations", "300"]),
    ("past problems", &["past.toml", "--policy", "softelim", "--iterations", "200"]),
    ("late rewards", &["late.toml", "--policy", "softelim", "--iterations", "200"]),
    (
        "paper's stages",
        &["short.toml", "--policy", "lstm(hidden=4,embedding=2)", "--recipe", "paper", "--iterations", "20"],
    ),
];

const EXPERIMENTS: [&str; 4] = ["fig1", "fig2", "fig6", "fig10"];

/// How often things happened.
#[derive(Default)]
struct Counts {
    commands: u64,
    kills: u64,
    interrupts: u64,
    /// Seconds from Ctrl-C to the end.
    longest: f64,
}

/// A directory for commands that are left alone, and one for those that are not.
struct Soak<'a> {
    whole: &'a Path,
    broken: &'a Path,
    moments: Moments,
    counts: &'a mut Counts,
}

/// A run that has ended: its exit code (none if it was killed), and what it said.
struct Ended {
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: String,
}

fn command(dir: &Path, args: &[String]) -> Command {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut command = gradband(&args);
    command.current_dir(dir).env("GRADBAND_CACHE", dir.join("cache"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn wait(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Ended { code: output.status.code(), stdout: output.stdout, stderr }
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Outcome<()> {
    if holds { Ok(()) } else { Err(what()) }
}

/// Documents and records without timings, and without what an experiment had done before.
fn comparable(name: &str, bytes: &[u8]) -> Vec<Value> {
    let value = |line: &[u8]| {
        let mut value = serde_json::from_slice(line).map(timeless).ok()?;
        if let Value::Object(object) = &mut value {
            object.retain(|key, _| !key.starts_with("units_"));
        }
        Some(value)
    };
    let known = if name.ends_with(".jsonl") {
        bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(value).collect()
    } else {
        value(bytes).map(|value| vec![value])
    };
    known.unwrap_or_else(|| vec![bytes.into()])
}

impl Soak<'_> {
    fn below(&mut self, count: usize) -> usize {
        (self.moments.next() * count as f64) as usize
    }

    /// Ends a process after a while, one way or the other.
    fn end(&mut self, mut child: Child, after: f64) -> Ended {
        std::thread::sleep(Duration::from_secs_f64(after));
        if self.below(4) > 0 {
            child.kill().unwrap();
            self.counts.kills += 1;
            return wait(child);
        }
        Command::new("kill").args(["-INT", &child.id().to_string()]).stderr(Stdio::null()).status().unwrap();
        let asked = Instant::now();
        let ended = wait(child);
        self.counts.interrupts += 1;
        self.counts.longest = self.counts.longest.max(asked.elapsed().as_secs_f64());
        ended
    }

    /// A command to its end, alone and with others that end too soon and go on by `again`; they must leave and say the same.
    fn compare(&mut self, args: &[&str], again: &[&str], out: &str) -> Outcome<()> {
        let [args, again] =
            [args, again].map(|args| args.iter().map(|&arg| arg.to_string()).collect::<Vec<_>>());
        let line = args.join(" ");
        self.counts.commands += 1;
        let begun = Instant::now();
        let expected = wait(command(self.whole, &args).spawn().unwrap());
        let length = begun.elapsed().as_secs_f64();
        ensure(expected.code == Some(0), || format!("{line}: {:?}: {}", expected.code, expected.stderr))?;
        let (mut next, mut ends) = (&args, self.below(7));
        let found = loop {
            let mut said = next.clone();
            // Reports show the command that a training began with.
            if next[1] == "--resume" {
                said.extend(["--threads".into(), (1 + self.below(2)).to_string()]);
            }
            let child = command(self.broken, &said).spawn().unwrap();
            let ended = match ends {
                0 => wait(child),
                _ => {
                    let after = self.moments.next() * 1.1 * length;
                    self.end(child, after)
                }
            };
            match ended.code {
                Some(0) => break ended,
                // It was ended before there was anything to go on from.
                Some(2) if ended.stderr.contains("no training that was broken off") => next = &args,
                None | Some(130) if ends > 0 => {
                    ends -= 1;
                    next = &again;
                }
                code => return Err(format!("{}: {code:?}: {}", said.join(" "), ended.stderr)),
            }
        };
        // A training that was finished already says nothing.
        let same = |name: &str, a: &[u8], b: &[u8]| a == b || comparable(name, a) == comparable(name, b);
        ensure(found.stdout.is_empty() || same("", &found.stdout, &expected.stdout), || {
            format!("{line}: printed\n{}", String::from_utf8_lossy(&found.stdout))
        })?;
        let [expected, found] =
            [self.whole, self.broken].map(|dir| dir.join(out)).map(|dir| dir.is_dir().then(|| files(&dir)));
        let (expected, found) = (expected.unwrap_or_default(), found.unwrap_or_default());
        let names = |files: &std::collections::BTreeMap<String, _>| files.keys().cloned().collect::<Vec<_>>();
        ensure(names(&expected) == names(&found), || format!("{line}: left {:?}", names(&found)))?;
        let other = expected.iter().find(|(name, bytes)| !same(name, bytes, &found[*name]));
        ensure(other.is_none(), || format!("{line}: {} differs", other.unwrap().0))
    }

    /// A policy in use. Its requests are so that an agent's counts tell how far it came.
    fn play(&mut self) -> Outcome<()> {
        let policy = std::fs::read(self.whole.join("out/policy.json")).unwrap();
        let policy: Value = serde_json::from_slice(&policy).unwrap();
        let dim = policy["problem"]["context_dim"].as_u64().unwrap_or(0);
        let requests: Vec<String> = (0..2 * (1 + self.below(50)))
            .map(|i| match (i % 2, i / 2) {
                (0, id) if dim == 0 => format!("{{\"pull\": {{\"id\": \"d{id}\"}}}}\n"),
                (0, id) => {
                    let context: Vec<f64> = (0..dim).map(|_| self.moments.next()).collect();
                    format!("{{\"pull\": {{\"id\": \"d{id}\", \"context\": {context:?}}}}}\n")
                }
                (_, id) => {
                    let reward = self.below(2);
                    format!("{{\"update\": {{\"id\": \"d{id}\", \"reward\": {reward}}}}}\n")
                }
            })
            .collect();
        let args = ["play", "out", "--state", "agent.json", "--seed", "5"].map(String::from);
        let say = |child: &mut Child, lines: &[String]| {
            // It may be dead.
            let _ = child.stdin.as_mut().unwrap().write_all(lines.concat().as_bytes());
        };
        self.counts.commands += 1;
        let mut child = command(self.whole, &args).spawn().unwrap();
        say(&mut child, &requests);
        let expected = wait(child);
        ensure(expected.code == Some(0), || format!("play: {:?}: {}", expected.code, expected.stderr))?;
        let (mut ends, mut saved) = (self.below(7), 0);
        loop {
            let mut child = command(self.broken, &args).spawn().unwrap();
            say(&mut child, &["{\"stats\": {}}\n".into()]);
            let mut stats = Vec::new();
            let stdout = child.stdout.as_mut().unwrap();
            while stats.last() != Some(&b'\n') {
                let mut byte = [0];
                if stdout.read(&mut byte).unwrap() == 0 {
                    return Err(format!("play: {}", wait(child).stderr));
                }
                stats.push(byte[0]);
            }
            let stats: Value = serde_json::from_slice(&stats).unwrap();
            let done = ["decisions", "credited"].map(|key| stats[key].as_u64().unwrap()).iter().sum::<u64>();
            let done = done as usize;
            ensure(done >= saved, || format!("play: {saved} requests were saved, {done} are known"))?;
            if ends == 0 {
                say(&mut child, &requests[done..]);
                let ended = wait(child);
                ensure(ended.code == Some(0), || format!("play: {:?}: {}", ended.code, ended.stderr))?;
                break;
            }
            let save = "{\"save\": {}}\n".to_string();
            let lines: Vec<_> =
                requests[done..].chunks(3).flat_map(|some| [some.concat(), save.clone()]).collect();
            say(&mut child, &lines);
            let after = self.moments.next() * 0.05;
            let ended = self.end(child, after);
            let answers = String::from_utf8_lossy(&ended.stdout);
            let answered: Vec<&str> = answers.lines().collect();
            let last = answered.iter().rposition(|line| line.contains("\"saved\""));
            let requested = answered[..last.unwrap_or(0)].iter().filter(|line| !line.contains("\"saved\""));
            saved = done + requested.count();
            ends -= 1;
        }
        let [expected, found] =
            [self.whole, self.broken].map(|dir| std::fs::read(dir.join("agent.json")).unwrap());
        ensure(expected == found, || "play: agent.json differs".into())
    }

    /// A training and what is done with its policy; now and then experiments.
    fn round(&mut self, seed: u64) -> Outcome<&'static str> {
        for dir in [self.whole, self.broken] {
            write_rows(dir);
            write_short(dir);
            let short = std::fs::read_to_string(dir.join("short.toml")).unwrap();
            write(dir, "late.toml", short.replace("horizon = 60", "horizon = 60\ndelay = 5"));
            let table = "[problem.prior]\nkind = \"table\"\npath = \"past.csv\"\n";
            write(dir, "past.toml", format!("[problem]\nkind = \"bernoulli\"\nhorizon = 60\n{table}"));
            let mut past = Moments(9);
            let row = |_| format!("{:.2},{:.2},{:.2}\n", past.next(), past.next(), past.next());
            write(dir, "past.csv", format!("a,b,c\n{}", (0..30).map(row).collect::<String>()));
        }
        let seed = seed.to_string();
        let all = WAYS.len() + MORE_WAYS.len();
        let (name, way) = *WAYS.iter().chain(&MORE_WAYS).nth(self.below(all)).unwrap();
        let evaluated = (1 + self.below(300)).to_string();
        let train = [&["train"], way, &["--eval-instances", &evaluated, "--seed", &seed, "--json"]].concat();
        let output = ["-o", "out"];
        self.compare(&[&train[..], &output].concat(), &["train", "--resume", "--json", "-o", "out"], "out")?;
        let file = ["--policy-file", "out/policy.json", "--instances", &evaluated, "--seed", &seed, "--json"];
        let evaluate = [&["evaluate", way[0]], &file[..]].concat();
        self.compare(&evaluate, &evaluate, "out")?;
        let compare = [&["compare", way[0]], &file[..], &["--force", "-o", "compared"]].concat();
        self.compare(&compare, &compare, "compared")?;
        self.play()?;
        if self.below(3) == 0 {
            let experiment = EXPERIMENTS[self.below(EXPERIMENTS.len())];
            let reproduce =
                ["reproduce", experiment, "--quick", "--runs", "1", "--json", "-o", "experiments"];
            self.compare(&reproduce, &reproduce, "experiments")?;
            let gittins = ["gittins", "--horizon", "70", "--json", "-o", "compared/gittins.csv"];
            self.compare(&gittins, &gittins, "compared")?;
        }
        Ok(name)
    }
}

/// For SOAK_SECONDS, from SOAK_SEED on.
#[test]
#[ignore = "takes as long as it is told: make soak"]
fn what_is_broken_off_ends_as_if_it_were_not() {
    let number = |name: &str, otherwise: u64| {
        std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"))
    };
    let (seconds, first) = (number("SOAK_SECONDS", 60), number("SOAK_SEED", 1));
    let begun = Instant::now();
    let (mut counts, mut differences, mut rounds) = (Counts::default(), 0, 0);
    for seed in first.. {
        let [whole, broken] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let moments = Moments(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (directories, counted) = ([whole.path(), broken.path()], &mut counts);
        let outcome =
            Soak { whole: directories[0], broken: directories[1], moments, counts: counted }.round(seed);
        let so_far = format!(
            "{} commands, {} kills, {} Ctrl-C ({:.1} s at most)",
            counts.commands, counts.kills, counts.interrupts, counts.longest
        );
        match outcome {
            Ok(way) => println!("seed {seed}, {way}: the same; {so_far}"),
            Err(what) => {
                differences += 1;
                println!("seed {seed}: DIFFERENCE, in {:?} and {:?}: {what}", whole.keep(), broken.keep());
            }
        }
        rounds += 1;
        if begun.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
    }
    println!("{rounds} rounds in {} s, {differences} differences", begun.elapsed().as_secs());
    assert_eq!(differences, 0, "see above");
}
