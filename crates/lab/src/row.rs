//! A number or a claim of the paper beside ours, or a claim of our own, and the reason for a difference, which holds within a bound only.

use gradband::Estimate;
use serde::Serialize;

/// Numbers differ beyond so many standard errors.
const FAR: f64 = 3.0;
/// What the paper gives by its order of magnitude agrees within this factor.
const FACTOR: f64 = 1.5;
/// Fewer runs than this give a rough error: with three, a twentieth of the differences are beyond 4.3 of them.
const FEW: usize = 5;
/// More decimals than this say nothing.
const MOST_DECIMALS: usize = 6;

/// Why ours is not the paper's, and for which values of ours this is an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reason {
    /// The reason in words.
    pub text: &'static str,
    /// The least value of ours that it explains.
    pub low: f64,
    /// The largest value of ours that it explains.
    pub high: f64,
}

impl Reason {
    /// A reason for what was measured between `low` and `high`, both included.
    pub const fn within(text: &'static str, low: f64, high: f64) -> Self {
        Self { text, low, high }
    }

    /// Does it explain this value of ours?
    pub fn explains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// Whether ours agrees with the paper, and if not, whether it is known why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within three standard errors, or the claim holds.
    Agrees,
    /// A shorter computing time: no disagreement, and no agreement either.
    Faster,
    /// It differs, and its reason is for such a value.
    Explained,
    /// It differs without a reason, or beyond what its reason explains.
    Unexplained,
}

/// A number or a claim of the paper, or a claim of our own, and what we found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What the number or the claim is about.
    pub what: String,
    /// What the paper says; of a claim of our own nothing.
    pub paper: String,
    /// What we say where the paper says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// What we found; nothing if it has not been run.
    pub ours: Option<String>,
    /// The paper's number; of a claim nothing.
    pub published: Option<f64>,
    /// Our number, or of a claim the quantity that its reason is about.
    pub value: Option<f64>,
    /// Ours minus the paper's, in standard errors of both; of a claim nothing.
    pub errors: Option<f64>,
    /// Is there no disagreement: within three standard errors, the claim holds, or it took less time?
    pub agrees: bool,
    /// Is it a time, and ours is shorter?
    pub faster: bool,
    /// Why it differs.
    pub why: Option<Reason>,
}

impl Row {
    /// A number, with its standard error if the paper gives one.
    pub fn number(what: impl Into<String>, paper: (f64, Option<f64>), ours: Option<Estimate>) -> Self {
        let (value, error) = paper;
        let errors =
            ours.map(|ours| (ours.mean - value) / ours.std_error.hypot(error.unwrap_or(0.0)).max(1e-12));
        Self {
            what: what.into(),
            claim: None,
            paper: error.map_or_else(|| format!("{value}"), |error| plus_minus(value, error)),
            ours: ours.map(|ours| plus_minus(ours.mean, ours.std_error)),
            published: Some(value),
            value: ours.map(|ours| ours.mean),
            errors,
            agrees: errors.is_some_and(|errors| errors.abs() <= FAR),
            faster: false,
            why: None,
        }
    }

    /// Something that can be seen or not: what we saw, and whether it is what the paper says.
    pub fn claim(what: impl Into<String>, paper: impl Into<String>, seen: Option<(String, bool)>) -> Self {
        Self {
            what: what.into(),
            paper: paper.into(),
            claim: None,
            agrees: seen.as_ref().is_some_and(|(_, holds)| *holds),
            ours: seen.map(|(text, _)| text),
            published: None,
            value: None,
            errors: None,
            faster: false,
            why: None,
        }
    }

    /// A claim of our own, about which the paper says nothing: what was measured, and whether it is as we say.
    pub fn ours(what: impl Into<String>, claim: impl Into<String>, seen: Option<(String, bool)>) -> Self {
        Self { claim: Some(claim.into()), ..Self::claim(what, "", seen) }
    }

    /// A computing time in seconds, which the paper gives in words: a longer one differs, a shorter one does not.
    pub fn time(what: impl Into<String>, paper: (&str, f64), ours: Option<f64>) -> Self {
        let (words, seconds) = paper;
        let holds = |ours: f64| ours <= FACTOR * seconds;
        let row = Self::claim(what, words, ours.map(|ours| (format!("{ours:.2} s"), holds(ours))));
        let faster = ours.is_some_and(|ours| ours < seconds / FACTOR);
        Self { published: Some(seconds), value: ours, faster, ..row }
    }

    /// The quantity that a claim's reason is about; without one no reason explains anything.
    pub fn about(self, value: Option<f64>) -> Self {
        Self { value, ..self }
    }

    /// How many runs it is the mean of: said beside it if they are few, because their error is rough.
    pub fn of_runs(mut self, runs: usize) -> Self {
        if let (Some(ours), true) = (&mut self.ours, runs < FEW) {
            *ours += &format!(" ({runs} {})", if runs == 1 { "run" } else { "runs" });
        }
        self
    }

    /// The reason for a difference.
    pub fn because(self, reason: Reason) -> Self {
        Self { why: Some(reason), ..self }
    }

    /// Does it agree, and if not, is it known why?
    pub fn verdict(&self) -> Verdict {
        match (self.faster, self.agrees) {
            (true, _) => Verdict::Faster,
            (_, true) => Verdict::Agrees,
            _ if self.is_explained() => Verdict::Explained,
            _ => Verdict::Unexplained,
        }
    }

    fn is_explained(&self) -> bool {
        self.why.zip(self.value).is_some_and(|(why, value)| why.explains(value))
    }

    /// Has it been run, is it far from the paper, and is this more than a reason explains?
    pub fn is_unexplained(&self) -> bool {
        self.ours.is_some() && self.verdict() == Verdict::Unexplained
    }
}

/// Is this the paper's order of magnitude?
pub fn is_about(value: f64, paper: f64) -> bool {
    (paper / FACTOR..=paper * FACTOR).contains(&value)
}

/// A number and its error, with two decimals or as many as the error needs not to be shown as zero.
fn plus_minus(mean: f64, error: f64) -> String {
    let is_zero = |decimals: usize| error < 0.5 * 0.1_f64.powi(decimals as i32);
    let decimals = (2..=MOST_DECIMALS).find(|&decimals| !is_zero(decimals));
    match decimals {
        Some(decimals) => format!("{mean:.decimals$} ± {error:.decimals$}"),
        None => format!("{mean:.2} ± 0"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(mean: f64, std_error: f64) -> Option<Estimate> {
        Some(Estimate { mean, std_error })
    }

    #[test]
    fn a_row_counts_standard_errors_of_both() {
        let row = Row::number("x", (10.0, Some(0.3)), estimate(11.0, 0.4));
        assert_eq!((row.errors, row.verdict()), (Some(2.0), Verdict::Agrees));
        assert_eq!((row.paper.as_str(), row.ours.as_deref()), ("10.00 ± 0.30", Some("11.00 ± 0.40")));
        assert!(Row::number("x", (10.0, None), estimate(11.0, 0.1)).is_unexplained());
        let missing = Row::number("x", (10.0, None), None);
        assert!(!missing.agrees && !missing.is_unexplained());
        assert_eq!(Row::claim("x", "lower", Some(("1 < 2".into(), true))).verdict(), Verdict::Agrees);
    }

    #[test]
    fn a_reason_explains_what_is_within_its_bound() {
        let reason = Reason::within("because", 10.9, 11.1);
        let row = |mean: f64| Row::number("x", (10.0, None), estimate(mean, 0.1)).because(reason);
        for mean in [10.9, 11.0, 11.1] {
            assert_eq!(row(mean).verdict(), Verdict::Explained, "{mean}");
        }
        // As far on the other side of the paper, a little further, and very far.
        for mean in [9.0, 10.8, 11.2, 21.0, -1.0, f64::NAN] {
            assert!(row(mean).is_unexplained(), "{mean}");
        }
        // What agrees needs no reason, and a reason does no harm.
        assert_eq!(row(10.1).verdict(), Verdict::Agrees);
    }

    #[test]
    fn a_claim_is_explained_by_the_quantity_that_it_is_about() {
        let claim = || Row::claim("x", "lower", Some(("4 > 3".into(), false)));
        let reason = Reason::within("because", 3.5, 4.5);
        assert!(claim().because(reason).is_unexplained(), "about nothing");
        assert!(!claim().about(Some(4.0)).because(reason).is_unexplained());
        assert!(claim().about(Some(3.4)).because(reason).is_unexplained());
        assert!(claim().about(Some(4.6)).because(reason).is_unexplained());
        assert!(claim().about(Some(4.0)).is_unexplained(), "no reason");
    }

    #[test]
    fn a_shorter_time_does_not_differ_and_a_longer_one_does() {
        let row = |seconds: f64| Row::time("x", ("about 20", 20.0), Some(seconds));
        assert_eq!(row(0.06).verdict(), Verdict::Faster);
        assert_eq!(row(19.0).verdict(), Verdict::Agrees);
        assert_eq!(row(29.0).verdict(), Verdict::Agrees);
        assert_eq!(row(31.0).verdict(), Verdict::Unexplained);
        assert!(!Row::time("x", ("about 20", 20.0), None).faster);
        let reason = Reason::within("another program", 0.0, 20.0);
        assert!(row(31.0).because(reason).is_unexplained(), "it explains shorter times");
    }

    #[test]
    fn small_errors_are_not_shown_as_zero() {
        assert_eq!(plus_minus(3.314_15, 0.012), "3.31 ± 0.01");
        assert_eq!(plus_minus(3.314_15, 0.004_6), "3.314 ± 0.005");
        assert_eq!(plus_minus(3.314_15, 0.000_21), "3.3142 ± 0.0002");
        assert_eq!(plus_minus(3.0, 0.0), "3.00 ± 0");
    }

    #[test]
    fn few_runs_are_said_beside_their_mean() {
        let row =
            |runs: usize| Row::number("x", (16.81, Some(1.05)), estimate(3.31, 0.03)).of_runs(runs).ours;
        assert_eq!(row(1).as_deref(), Some("3.31 ± 0.03 (1 run)"));
        assert_eq!(row(2).as_deref(), Some("3.31 ± 0.03 (2 runs)"));
        assert_eq!(row(5).as_deref(), Some("3.31 ± 0.03"));
        assert_eq!(Row::number("x", (1.0, None), None).of_runs(2).ours, None);
    }

    #[test]
    fn an_order_of_magnitude_is_a_factor_of_one_and_a_half() {
        assert!(is_about(128.0, 100.0) && is_about(70.0, 100.0));
        assert!(!is_about(193.0, 100.0) && !is_about(60.0, 100.0));
    }
}
