//! `policy.json`: a policy that can be stored, carried elsewhere and played again.

use crate::edition::{self, Edition};
use crate::spec::Spec;
use crate::{io, weights};
use gradband::policy::{Choice, PolicyRecord, ProblemRecord};
use gradband::{Catalogue, Error, ErrorKind, Place, Problem, Result, StopReason, abridged};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use std::path::Path;

/// What the file with a policy is called.
pub const POLICY_FILE: &str = "policy.json";

/// The number of the format, which every file carries; files with another number are refused.
pub const FORMAT: u32 = 1;

/// The content of a `policy.json`: a policy, what it was trained for and how.
///
/// [`save_policy`] and [`load_policy`] are the short way; this type is for those who also need the record of the
/// training, or what the policy was trained for before there is a problem to play it on.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyFile {
    /// The number of the format: [`FORMAT`].
    pub gradband: u32,
    /// The policy.
    pub policy: PolicyRecord,
    /// What it was trained for.
    pub problem: ProblemRecord,
    /// How it was trained. It is written for people: nothing needs it to play the policy, and it is not read.
    #[serde(default, deserialize_with = "unread", skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingRecord>,
}

/// Accepts whatever stands there.
fn unread<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<TrainingRecord>, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| None)
}

/// How a policy was trained, so that the training can be repeated.
#[derive(Clone, Debug, Serialize)]
pub struct TrainingRecord {
    /// Everything that was asked for, defaults included.
    pub spec: Spec,
    /// The seed of all that was drawn.
    pub seed: u64,
    /// The version of gradband.
    pub version: String,
    /// The number of iterations that were done.
    pub iterations: usize,
    /// Why it ended.
    pub stop_reason: StopReason,
}

impl PolicyFile {
    /// The record of a policy for a problem, ready to be saved.
    ///
    /// A network without weights is refused. Parameters that a setting leaves to a search on the problem are found now.
    pub fn new(choice: &Choice, problem: &Problem) -> Result<Self> {
        if !choice.is_trained() {
            return Err(Error::of("policy", ErrorKind::Untrained { policy: choice.name().into() }));
        }
        let choice = &choice.fitted(problem, &mut ())?;
        let mut policy = PolicyRecord::from(choice);
        policy.weights = weights::has_weights_file(choice).then(|| weights::WEIGHTS_FILE.into());
        let problem = ProblemRecord::carried_by(choice, problem, &mut ())?;
        Ok(Self { gradband: FORMAT, policy, problem, training: None })
    }

    /// Writes the file, and the weights of a network beside it, into a directory that is there.
    pub fn save(&self, dir: &Path) -> std::io::Result<()> {
        let mut written = self.clone();
        if let Some(name) = &self.policy.weights {
            weights::write(&dir.join(name), &self.policy)?;
            written.policy.params.clear();
        }
        let text = serde_json::to_string_pretty(&written).map_err(std::io::Error::other)? + "\n";
        io::write(&dir.join(POLICY_FILE), |file| file.write_all(text.as_bytes()))
    }

    /// Adds the file to those that belong together, and the weights of a network.
    pub fn save_in(&self, edition: &mut Edition) -> std::io::Result<()> {
        edition.path(POLICY_FILE)?;
        match &self.policy.weights {
            Some(name) => edition.path(name).map(drop)?,
            None => edition.without(weights::WEIGHTS_FILE),
        }
        self.save(edition.hidden())
    }

    /// Reads a file, and the weights beside it.
    pub fn load(path: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Format {
            gradband: Option<u32>,
        }
        if let Some(dir) = path.parent() {
            edition::finish(dir);
        }
        let place = Place::file(path.display().to_string());
        match io::read_json::<Format>(path)?.gradband {
            Some(FORMAT) => {}
            Some(other) => {
                let message = format!("found format {other}, this version reads {FORMAT}");
                return Err(Error::new(place.then("gradband"), message));
            }
            None => return Err(Error::new(place, "is not a policy file: it has no key 'gradband'")),
        }
        let mut file: Self = io::read_json(path)?;
        file.read_weights(path).map_err(|error| match error.place().is_in_file() {
            true => error,
            false => error.within(place),
        })?;
        Ok(file)
    }

    fn read_weights(&mut self, path: &Path) -> Result<()> {
        let Some(name) = &self.policy.weights else { return Ok(()) };
        if !self.policy.params.is_empty() {
            let message =
                "found numbers here and in the file that policy.weights names, expected them in one place";
            return Err(Error::new("policy.params", message));
        }
        // Beside the policy file and nowhere else, whatever it says.
        if Path::new(name).file_name() != Some(name.as_ref()) {
            let message = format!("found '{}', expected the name of a file beside this one", abridged(name));
            return Err(Error::new("policy.weights", message));
        }
        let beside = path.parent().unwrap_or(Path::new("")).join(name);
        self.policy.params = weights::read(&beside, &self.policy)?;
        Ok(())
    }

    /// The policy on the problem it is to play, which must be like the one it was trained for: the same arms, and with
    /// contexts the same features, scaled alike. Errors name keys of the file.
    pub fn choose(&self, problem: &Problem, catalogue: &Catalogue) -> Result<Choice> {
        self.policy.choose(&self.problem, problem, catalogue)
    }
}

/// Saves a policy: writes `policy.json`, and the weights of a network beside it, into a directory, which is made if it
/// is not there. Rules of one's own are saved like built-in policies.
///
/// ```
/// use gradband::{Problem, Trainer};
/// let problem = Problem::named("bernoulli-2")?;
/// let trained = Trainer::new("softelim").iterations(10).train(&problem)?;
/// let dir = tempfile::tempdir().unwrap();
/// gradband_files::save_policy(dir.path(), trained.choice(), &problem)?;
/// assert!(dir.path().join("policy.json").exists());
/// # Ok::<(), gradband::Error>(())
/// ```
pub fn save_policy(dir: impl AsRef<Path>, choice: &Choice, problem: &Problem) -> Result<()> {
    let (dir, file) = (dir.as_ref(), PolicyFile::new(choice, problem)?);
    let place = || Place::file(dir.display().to_string());
    let written = io::create_dir(dir).and_then(|()| file.save(dir));
    written.map_err(|error| Error::new(place(), format!("cannot be written: {error}")))
}

/// Loads the policy that was saved in a directory, or in the policy file at a path, to play a problem. The problem must
/// be like the one that the policy was trained for: it may have another horizon, but not other arms or features.
///
/// ```
/// use gradband::{Problem, Simulator};
/// use gradband::policy::Choice;
/// let problem = Problem::named("bernoulli-2")?;
/// let dir = tempfile::tempdir().unwrap();
/// gradband_files::save_policy(dir.path(), &Choice::parse("softelim(w=0.53)", &problem)?, &problem)?;
/// let policy = gradband_files::load_policy(dir.path(), &problem)?;
/// assert_eq!(policy.params(), [0.53]);
/// println!("{}", Simulator::new(&problem).instances(500).compare([&policy])?);
///
/// let other = gradband_files::load_policy(dir.path(), &Problem::named("bernoulli-10")?).unwrap_err();
/// assert!(other.to_string().contains("problem.arms: the policy is for 2 arms, but bernoulli-10 has 10"));
/// # Ok::<(), gradband::Error>(())
/// ```
pub fn load_policy(path: impl AsRef<Path>, problem: &Problem) -> Result<Choice> {
    load_policy_from(path, problem, &Catalogue::default())
}

/// Loads a policy as [`load_policy`] does, where the catalogue has rules of one's own.
///
/// ```
/// use gradband::{Catalogue, ErrorKind, Param, Problem, Rule, Scalar, Seen, Trainer};
///
/// /// A softmax of means.
/// struct Greedy;
/// impl Rule for Greedy {
///     fn params(&self) -> Vec<Param> {
///         vec![Param::positive("temperature", 0.1)]
///     }
///     fn logits<T: Scalar>(&self, params: &[T], seen: &Seen, logits: &mut [T]) {
///         for (arm, logit) in logits.iter_mut().enumerate() {
///             *logit = params[0].recip() * seen.mean(arm);
///         }
///     }
/// }
/// let problem = Problem::named("bernoulli-2")?.with_horizon(20)?;
/// let trained = Trainer::own(Greedy).iterations(5).train(&problem)?;
/// let dir = tempfile::tempdir().unwrap();
/// gradband_files::save_policy(dir.path(), trained.choice(), &problem)?;
///
/// let catalogue = Catalogue::default().with_rule(Greedy);
/// let policy = gradband_files::load_policy_from(dir.path(), &problem, &catalogue)?;
/// assert_eq!(policy.params(), trained.choice().params());
/// // Elsewhere, nobody knows the rule.
/// let error = gradband_files::load_policy(dir.path(), &problem).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::Unknown { found, .. } if found == "Greedy"));
/// # Ok::<(), gradband::Error>(())
/// ```
pub fn load_policy_from(path: impl AsRef<Path>, problem: &Problem, catalogue: &Catalogue) -> Result<Choice> {
    let path = path.as_ref();
    let path = if path.is_dir() { path.join(POLICY_FILE) } else { path.into() };
    let file = PolicyFile::load(&path)?;
    let place = || Place::file(path.display().to_string());
    file.choose(problem, catalogue).map_err(|error| error.within(place()))
}
