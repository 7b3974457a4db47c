//! The driver on the stable toolchain: damages the corpus of each target for a while, and counts.
//!
//! Targets take turns, each in a process of its own with a gigabyte of address space: one that panics, is killed or takes
//! longer than ten seconds over an input leaves that input in a folder, and the exit code is 1.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use gradband_fuzz::mutate::Mutator;
use gradband_fuzz::{TARGETS, Target};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const USAGE: &str =
    "usage: gradband-fuzz [--seconds N] [--seed N] [--target NAME] [--failures DIR] [--replay FILE]";
/// The address space of a target.
const MEMORY: u64 = 1 << 30;
/// The longest time over one input, of the processor (a machine may be busy) and by the clock.
const PATIENCE: [f64; 2] = [10.0, 120.0];
/// Inputs that are kept of one fault.
const KEPT: usize = 3;

struct Args {
    seconds: u64,
    seed: u64,
    target: Option<Target>,
    failures: PathBuf,
    replay: Option<PathBuf>,
    /// Is this the process of a target?
    worker: bool,
}

fn args() -> Result<Args, String> {
    let failures = PathBuf::from("target/fuzz-failures");
    let mut args = Args { seconds: 60, seed: 1, target: None, failures, replay: None, worker: false };
    let mut said = std::env::args().skip(1);
    while let Some(flag) = said.next() {
        if flag == "--worker" {
            args.worker = true;
            continue;
        }
        let value = said.next().ok_or(USAGE)?;
        let number =
            || value.parse::<u64>().map_err(|_| format!("{flag}: found '{value}', expected a number"));
        match flag.as_str() {
            "--seconds" => args.seconds = number()?,
            "--seed" => args.seed = number()?,
            "--failures" => args.failures = value.into(),
            "--replay" => args.replay = Some(value.into()),
            "--target" => {
                let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
                let unknown = || format!("unknown target '{value}' (known: {})", names.join(", "));
                args.target = Some(Target::named(&value).ok_or_else(unknown)?);
            }
            _ => return Err(USAGE.into()),
        }
    }
    Ok(args)
}

fn main() -> ExitCode {
    let args = match args() {
        Ok(args) => args,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    std::fs::create_dir_all(&args.failures).unwrap();
    match (&args.target, &args.replay) {
        (Some(target), Some(path)) => {
            println!("accepted: {}", (target.run)(&std::fs::read(path).unwrap()));
            ExitCode::SUCCESS
        }
        (Some(target), None) if args.worker => {
            work(*target, &args);
            ExitCode::SUCCESS
        }
        _ => drive(&args),
    }
}

/// What a target has been through.
#[derive(Default)]
struct Tally {
    cases: u64,
    accepted: u64,
    panics: u64,
    /// Ends of the process: out of memory, stack or time.
    deaths: u64,
    peak_kilobytes: u64,
}

/// Lets the targets take turns until the time is over, and prints what came of it.
fn drive(args: &Args) -> ExitCode {
    let targets: Vec<Target> =
        TARGETS.iter().copied().filter(|t| args.target.is_none_or(|one| one.name == t.name)).collect();
    let start = Instant::now();
    let turn = (args.seconds / targets.len() as u64).clamp(1, 20);
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let turns = (args.seconds / turn).max(targets.len() as u64);
    for (number, target) in (0..turns).zip(targets.iter().cycle()) {
        let tally = tallies.entry(target.name).or_default();
        send(target, args, turn, args.seed.wrapping_add(number), tally);
    }
    report(&tallies, start.elapsed());
    let clean = tallies.values().all(|tally| tally.panics + tally.deaths == 0);
    if clean {
        return ExitCode::SUCCESS;
    }
    println!("inputs that failed are in {}", args.failures.display());
    ExitCode::FAILURE
}

fn report(tallies: &BTreeMap<&str, Tally>, elapsed: Duration) {
    println!(
        "{:14} {:>12} {:>10} {:>7} {:>7} {:>8}",
        "target", "cases", "accepted", "panics", "deaths", "peak MB"
    );
    for (name, tally) in tallies {
        let Tally { cases, accepted, panics, deaths, peak_kilobytes } = tally;
        println!("{name:14} {cases:12} {accepted:10} {panics:7} {deaths:7} {:8}", peak_kilobytes / 1024);
    }
    let all: u64 = tallies.values().map(|tally| tally.cases).sum();
    println!("{all} cases in {} s", elapsed.as_secs());
}

/// A turn in a process of its own.
fn send(target: &Target, args: &Args, seconds: u64, seed: u64, tally: &mut Tally) {
    let program = std::env::current_exe().unwrap();
    let said =
        ["--worker", "--target", target.name, "--seconds", &seconds.to_string(), "--seed", &seed.to_string()]
            .map(String::from);
    let output = Command::new(program).args(said).arg("--failures").arg(&args.failures).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [cases, accepted, panics, peak] if output.status.success() => {
            tally.cases += cases;
            tally.accepted += accepted;
            tally.panics += panics;
            tally.peak_kilobytes = tally.peak_kilobytes.max(peak);
        }
        _ => {
            tally.deaths += 1;
            let kept = args.failures.join(format!("{}-death-{seed}", target.name));
            let _ = std::fs::rename(current(&args.failures, target), &kept);
            let why = String::from_utf8_lossy(&output.stderr);
            println!(
                "{}: {} ({}), see {}",
                target.name,
                output.status,
                why.lines().last().unwrap_or(""),
                kept.display()
            );
        }
    }
}

/// Where a target keeps the input that it is reading.
fn current(failures: &Path, target: &Target) -> PathBuf {
    failures.join(format!("{}-current", target.name))
}

/// The process of a target.
fn work(target: Target, args: &Args) {
    let limit = Some(MEMORY);
    setrlimit(Resource::As, Rlimit { current: limit, maximum: limit }).unwrap();
    let path = current(&args.failures, &target);
    let file = std::fs::File::create(&path).unwrap();
    let faults = listen();
    let begun = watch();
    let mut mutator = Mutator::new(args.seed, target.corpus());
    let (start, seconds) = (Instant::now(), Duration::from_secs(args.seconds));
    let (mut cases, mut accepted, mut panics) = (0_u64, 0_u64, 0_u64);
    while start.elapsed() < seconds {
        let input = mutator.next_input();
        file.write_all_at(&input, 0).unwrap();
        file.set_len(input.len() as u64).unwrap();
        begun.store(start.elapsed().as_millis() as u64 + 1, Ordering::Relaxed);
        match catch_unwind(AssertUnwindSafe(|| (target.run)(&input))) {
            Ok(true) => {
                accepted += 1;
                mutator.keep(&input);
            }
            Ok(false) => {}
            Err(_) => {
                panics += 1;
                keep(&args.failures, &target, &input, &faults);
            }
        }
        begun.store(0, Ordering::Relaxed);
        cases += 1;
    }
    std::fs::remove_file(path).unwrap();
    println!("{cases} {accepted} {panics} {}", peak_kilobytes());
}

/// Where panics happened, how often; the last one first.
type Faults = Arc<Mutex<(String, BTreeMap<String, usize>)>>;

/// Hears of panics instead of printing them.
fn listen() -> Faults {
    let faults = Faults::default();
    let heard = Arc::clone(&faults);
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map_or("nowhere".into(), |at| format!("{}:{}", at.file(), at.line()));
        let mut heard = heard.lock().unwrap();
        *heard.1.entry(place.clone()).or_default() += 1;
        heard.0 = format!("{place}: {info}");
    }));
    faults
}

/// Keeps the first inputs of each fault.
fn keep(failures: &Path, target: &Target, input: &[u8], faults: &Faults) {
    let faults = faults.lock().unwrap();
    let place = faults.0.split(": ").next().unwrap_or("").to_string();
    let count = faults.1.get(&place).copied().unwrap_or(0);
    if count <= KEPT {
        let name: String = place.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let path = failures.join(format!("{}-{name}-{count}", target.name));
        std::fs::write(&path, input).unwrap();
        std::fs::write(path.with_extension("txt"), &faults.0).unwrap();
    }
}

/// Ends the process if an input takes too long; the time at which the current one began, in milliseconds, is shared.
fn watch() -> Arc<AtomicU64> {
    let begun = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&begun);
    std::thread::spawn(move || {
        let (mut last, mut since) = (0, [processor_seconds(), 0.0]);
        let start = Instant::now();
        loop {
            std::thread::sleep(Duration::from_millis(250));
            let (current, now) =
                (seen.load(Ordering::Relaxed), [processor_seconds(), start.elapsed().as_secs_f64()]);
            if current == 0 || current != last {
                (last, since) = (current, now);
            } else if now[0] - since[0] > PATIENCE[0] || now[1] - since[1] > PATIENCE[1] {
                eprintln!("an input took longer than {} s", PATIENCE[0]);
                std::process::exit(3);
            }
        }
    });
    begun
}

/// What this process has used of the processors.
fn processor_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// The most memory that this process had at a time; 0 where the system does not say.
fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
