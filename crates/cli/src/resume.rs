//! Trainings that go on: what `--resume` needs to know, and the observer that keeps a training's checkpoint.

use crate::args::{Args, Command};
use crate::failure::{Failure, Result};
use crate::watch::Terminal;
use crate::{interrupt, output};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use gradband::{Error, Iteration, Observer, Place, Progress, StopReason};
use gradband_files::{CHECKPOINT_FILE, Checkpoint, Lock, POLICY_FILE, Target, io};
use gradband_jobs::{Client, Remark, Work};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

/// What may be said anew: where it is, and how it is shown.
const FREE: [&str; 5] = ["output", "resume", "json", "threads", "cache"];

/// What a training was asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// Of gradband: another one may compute other bits.
    version: String,
    /// As typed, after the program's name; and as the report shows them.
    arguments: Vec<String>,
    pub command: String,
    /// Where they were typed.
    directory: PathBuf,
    /// The files that the problem was read from, and their SHA-256.
    files: Vec<(PathBuf, String)>,
}

/// A training that goes on.
pub struct Resumed {
    pub settings: Settings,
    pub checkpoint: Checkpoint,
    pub lock: Lock,
}

impl Settings {
    /// Of the command that is running.
    pub fn now(command: String, problem: &str, target: &Target) -> Result<Self> {
        let arguments = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
        let directory = std::env::current_dir()
            .map_err(|error| Failure::Other(format!("the current directory is gone: {error}")))?;
        let mut files = Vec::new();
        for path in target.files(problem) {
            files.push((path.clone(), digest(&path)?));
        }
        let version = env!("CARGO_PKG_VERSION").into();
        Ok(Self { version, arguments: arguments.collect(), command, directory, files })
    }

    /// Refuses to go on with another program or other data.
    fn check(&self, dir: &Path) -> Result<()> {
        let here = env!("CARGO_PKG_VERSION");
        if self.version != here {
            let message = format!(
                "was written by gradband {}, this is {here}: --resume with that version, or start anew with --force",
                self.version
            );
            return Err(
                Error::new(Place::file(dir.join(CHECKPOINT_FILE).display().to_string()), message).into()
            );
        }
        for (path, known) in &self.files {
            if digest(path)? != *known {
                let message = "has changed since the training began: put it back, or start anew with --force";
                return Err(Error::new(Place::file(path.display().to_string()), message).into());
            }
        }
        Ok(())
    }
}

fn digest(path: &Path) -> gradband::Result<String> {
    Ok(Sha256::digest(io::read(path)?).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The arguments of the training that is asked to go on, in the place of these; nothing if it is finished.
pub fn restored(args: Args) -> Result<Option<(Args, Option<Resumed>)>> {
    let (Command::Train(train), common) = (&args.command, args.common.clone()) else {
        return Ok(Some((args, None)));
    };
    let Some(dir) = train.output.clone().filter(|_| train.resume) else { return Ok(Some((args, None))) };
    let nothing = || {
        let message = format!("{} has no training that was broken off; leave --resume out", dir.display());
        Error::new("output", message)
    };
    if !dir.is_dir() {
        return Err(nothing().into());
    }
    // First of all: it may finish what a process was killed over.
    let lock = output::enter(&dir)?;
    if !Checkpoint::is_in(&dir) {
        if !dir.join(POLICY_FILE).exists() {
            return Err(nothing().into());
        }
        output::note(&format!("the training in {} is finished: nothing is left to do", dir.display()));
        return Ok(None);
    }
    let checkpoint = Checkpoint::load(&dir)?;
    let settings: Settings = checkpoint.settings()?;
    let dir = std::path::absolute(&dir).unwrap_or(dir);
    // Paths are those of where the training began.
    let _ = std::env::set_current_dir(&settings.directory);
    settings.check(&dir)?;
    let typed = |arguments: Vec<OsString>| -> Result<ArgMatches> {
        let all = std::iter::once("gradband".into()).chain(arguments);
        let matches = Args::command().try_get_matches_from(all);
        matches.map_err(|error| Failure::Other(format!("the arguments of the training: {error}")))
    };
    let then = typed(settings.arguments.iter().map(OsString::from).collect())?;
    refuse_others(&typed(std::env::args_os().skip(1).collect())?, &then)?;
    let mut restored = Args::from_arg_matches(&then)
        .map_err(|error| Failure::Other(format!("the arguments of the training: {error}")))?;
    let Command::Train(train) = &mut restored.command else {
        return Err(Failure::Other(format!("{}: is not of a training", dir.join(CHECKPOINT_FILE).display())));
    };
    (train.output, train.resume, train.force) = (Some(dir), true, false);
    restored.common.json = common.json;
    restored.common.threads = common.threads;
    restored.common.cache = common.cache;
    Ok(Some((restored, Some(Resumed { settings, checkpoint, lock }))))
}

/// Refuses what is said now and was not said then.
fn refuse_others(now: &ArgMatches, then: &ArgMatches) -> Result<()> {
    let (Some((_, now)), Some((_, then))) = (now.subcommand(), then.subcommand()) else { return Ok(()) };
    let said = |matches: &ArgMatches, id: &str| -> Option<Vec<OsString>> {
        // Help is an argument that is never matched.
        let known = matches.try_get_raw(id).is_ok_and(|values| values.is_some());
        let typed = known && matches.value_source(id) == Some(ValueSource::CommandLine);
        typed.then(|| matches.get_raw(id).into_iter().flatten().map(ToOwned::to_owned).collect())
    };
    let mut command = Args::command();
    command.build();
    let names = command.find_subcommand("train").into_iter().flat_map(|train| train.get_arguments());
    for id in names.map(|arg| arg.get_id().as_str()).filter(|id| !FREE.contains(id)) {
        let Some(new) = said(now, id) else { continue };
        let old = said(then, id);
        if old.as_ref() != Some(&new) {
            let words = |values: Vec<OsString>| {
                values.iter().map(|value| value.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
            };
            let old = old.map_or("not set".into(), |old| format!("'{}'", words(old)));
            let message =
                format!("found '{}', but in the training that goes on it is {old}; leave it out", words(new));
            return Err(Error::new(id, message).into());
        }
    }
    Ok(())
}

/// Whoever sits at the terminal, and a checkpoint if there is a place for one.
#[derive(Default)]
pub struct Saving {
    checkpoint: Rc<RefCell<Option<Checkpoint>>>,
}

impl Saving {
    /// Keeps this checkpoint from now on.
    pub fn begin(&self, checkpoint: Checkpoint) {
        *self.checkpoint.borrow_mut() = Some(checkpoint);
    }

    /// Writes it now.
    pub fn write(&self) {
        if let Some(checkpoint) = &mut *self.checkpoint.borrow_mut() {
            write(checkpoint, Instant::now());
        }
    }
}

/// A training goes on without its checkpoint; it is said, and tried again.
fn write(checkpoint: &mut Checkpoint, since: Instant) {
    let _writing = interrupt::writing();
    if let Err(error) = checkpoint.write(since) {
        output::note(&format!("warning: {error}; the training goes on without"));
    }
}

impl Client for Saving {
    fn watch(&self, work: &Work) -> Box<dyn Observer> {
        let terminal = Terminal.watch(work);
        match work {
            Work::Measuring => terminal,
            Work::Choosing | Work::Training(..) => {
                Box::new(Keeper { terminal, checkpoint: Rc::clone(&self.checkpoint) })
            }
        }
    }

    fn remark(&self, remark: &Remark) {
        Terminal.remark(remark);
    }
}

/// Watches a training for the terminal, and keeps what it finds.
struct Keeper {
    terminal: Box<dyn Observer>,
    checkpoint: Rc<RefCell<Option<Checkpoint>>>,
}

impl Observer for Keeper {
    fn progress(&mut self, progress: Progress) -> ControlFlow<StopReason> {
        self.terminal.progress(progress)
    }

    fn iteration(&mut self, record: &Iteration, params: &[f64]) {
        self.terminal.iteration(record, params);
    }

    fn offer(&mut self, step: &str, state: &dyn Fn() -> Vec<u8>) {
        let due = self.checkpoint.borrow().as_ref().is_some_and(Checkpoint::is_due);
        if due {
            self.keep(step, state);
        }
    }

    fn keep(&mut self, step: &str, state: &dyn Fn() -> Vec<u8>) {
        let mut kept = self.checkpoint.borrow_mut();
        let Some(checkpoint) = kept.as_mut() else { return };
        let since = Instant::now();
        checkpoint.note(step, state());
        if checkpoint.is_due() {
            write(checkpoint, since);
        }
    }

    fn recall(&mut self, step: &str) -> Option<Vec<u8>> {
        self.checkpoint.borrow().as_ref()?.recall(step).map(<[u8]>::to_vec)
    }
}
