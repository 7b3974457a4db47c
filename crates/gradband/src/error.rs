//! What is wrong with the user's input, where, and what would be right.

/// Wrong input: the place it stands in (a flag, a key, a file and line) and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Error {
    /// A flag, a key such as `problem.prior.alpha`, or a file and line.
    pub place: String,
    /// What was found and what is allowed.
    pub message: String,
}

/// Shorthand for results that fail on the user's input.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error at a place.
    pub fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }

    /// The same error, its place now inside another: `problem` and `horizon` give `problem.horizon`.
    pub fn within(mut self, outer: &str) -> Self {
        self.place = if self.place.is_empty() { outer.into() } else { format!("{outer}.{}", self.place) };
        self
    }

    /// A name that is not among the known ones, with the nearest as a suggestion.
    pub fn unknown<'a>(place: &str, found: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<_> = known.into_iter().collect();
        let hint = hint(found, known.iter().copied());
        Self::new(place, format!("unknown name '{found}'{hint} (known: {})", known.join(", ")))
    }
}

/// `; did you mean 'this'?`, if a known name is near.
pub(crate) fn hint<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let nearest = known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(name, found), name))
        .min_by_key(|&(distance, _)| distance)
        .filter(|&(distance, name)| distance <= 1 + name.len() / 3);
    nearest.map_or(String::new(), |(_, name)| format!("; did you mean '{name}'?"))
}

/// Refuses numbers that are not finite or not within `low..=high`.
pub(crate) fn within(place: &str, x: f64, low: f64, high: f64) -> Result<f64> {
    if x.is_finite() && (low..=high).contains(&x) {
        return Ok(x);
    }
    let allowed = match (low == f64::MIN, high == f64::MAX) {
        _ if low == f64::MIN_POSITIVE => "a number above 0".into(),
        (true, true) => "a finite number".into(),
        (false, true) => format!("a number of at least {low}"),
        (true, false) => format!("a number of at most {high}"),
        (false, false) => format!("a number from {low} to {high}"),
    };
    Err(Error::new(place, format!("found {x}, expected {allowed}")))
}
