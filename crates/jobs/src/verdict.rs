//! What is said of a policy beside its rivals: the same words for `train` and `compare`.

use crate::policies::Asked;
use crate::{Client, Work, stands_on};
use gradband::measure::{Against, Comparison, Interval, Verdict, training_regret};
use gradband::policy::Choice;
use gradband::{Estimate, Problem, Result};

/// Instances on which rivals are ranked, at most.
const RANKED_ON: usize = 2_000;

/// The policies that `allowed` admits and that can be used, the best on training instances first: the rival that a policy
/// is measured by must not be picked by the measurement itself.
pub fn rivals(
    policies: &[Asked],
    problem: &Problem,
    seed: u64,
    instances: usize,
    allowed: impl Fn(usize) -> bool,
    client: &dyn Client,
) -> Result<Vec<usize>> {
    let usable = |&i: &usize| allowed(i) && !policies[i].is_bound();
    let mut rivals: Vec<usize> = (0..policies.len()).filter(usable).collect();
    if rivals.len() > 1 {
        let choices: Vec<&Choice> = rivals.iter().map(|&i| &policies[i].choice).collect();
        let mut watch = client.watch(&Work::Measuring);
        let regrets = training_regret(&choices, problem, seed, instances.min(RANKED_ON), &mut *watch)?;
        let mut ranked: Vec<(f64, usize)> = regrets.into_iter().zip(rivals).collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        rivals = ranked.into_iter().map(|(_, i)| i).collect();
        // A gain counts first over what needs no tuning.
        rivals.sort_by_key(|&i| policies[i].is_sharpened());
    }
    Ok(rivals)
}

/// What policy `i` gains over Thompson sampling that was tuned to the same past, if it is among the rivals.
pub fn sharpened(measured: &Comparison, i: usize, rivals: &[usize], policies: &[Asked]) -> Option<Against> {
    let rival = rivals.iter().copied().find(|&i| policies[i].is_sharpened())?;
    measured.verdict_named(i, &[rival], |i| policies[i].name()).against.pop()
}

/// For people: policy `i` beside its rivals, and beside one that was tuned as it was.
pub fn verdicts(
    measured: &Comparison,
    i: usize,
    rivals: &[usize],
    policies: &[Asked],
    problem: &Problem,
) -> Vec<Verdict> {
    let beside = |rivals: &[usize]| measured.verdict_named(i, rivals, |i| policies[i].short_name(problem));
    let tuned = rivals.iter().skip(1).find(|&&rival| policies[rival].is_sharpened());
    std::iter::once(beside(rivals)).chain(tuned.map(|&rival| beside(&[rival]))).collect()
}

/// The problem, and what the evaluation stands on.
pub fn header(problem: &Problem, instances: usize) -> String {
    format!("{problem}: {}", stands_on(problem, instances))
}

/// The sentences on top of a training's report.
pub fn lead(verdicts: &[Verdict], problem: &Problem, gain: Estimate, interval: Interval) -> Vec<String> {
    let gain = match gain.mean < 0.0 {
        true => format!("Its regret is higher than that of the untuned policy, by {:.2}.", -gain.mean),
        false => {
            format!(
                "Its regret is lower than that of the untuned policy, by {:.2} (95 % {interval}).",
                gain.mean
            )
        }
    };
    let verdicts = verdicts.iter().map(|verdict| format!("{verdict}."));
    verdicts.chain([gain]).chain(cautions(problem)).collect()
}

/// What whoever reads an interval should know, as sentences.
pub fn cautions(problem: &Problem) -> impl Iterator<Item = String> {
    problem.ground().cautions().into_iter().map(|caution| {
        let mut letters = caution.chars();
        letters.next().map_or(String::new(), |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
    })
}
