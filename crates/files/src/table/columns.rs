//! Which column of a table is what: by the names we know, or as the user says.

use crate::records::Records;
use gradband::problem::{Keys, Value};
use gradband::{Error, Place, Result, abridged, hint};
use std::collections::BTreeMap;

/// What a column can be.
const NAMES: [&str; 8] = ["problem", "arm", "trials", "successes", "failures", "mean", "variance", "count"];
/// Those that say something about an arm.
const VALUES: [&str; 6] = ["trials", "successes", "failures", "mean", "variance", "count"];

/// Which headers of a file stand for our names of columns, where they are others.
///
/// ```
/// use gradband::problem::Keys;
/// use gradband_files::Columns;
/// let said = Keys::default().with("problem", "campaign").with("arm", "creative");
/// assert!(Columns::from_keys(&said).is_ok());
/// let error = Columns::from_keys(&said.with("clicks", "n_clicks")).unwrap_err();
/// assert!(error.to_string().starts_with("clicks: unknown name 'clicks'"), "{error}");
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns(BTreeMap<String, String>);

impl Columns {
    /// From `columns = { problem = "campaign", … }`. The names are problem, arm, trials, successes, failures, mean, variance
    /// and count.
    pub fn from_keys(keys: &Keys) -> Result<Self> {
        let mut columns = BTreeMap::<String, String>::new();
        for name in keys.names() {
            let header = match keys.get(name) {
                _ if !NAMES.contains(&name) => return Err(Error::unknown(Place::key(name), name, NAMES)),
                Some(Value::Text(header)) => header.trim(),
                other => {
                    let found = other.map_or("nothing", Value::kind);
                    let message = format!("found {found}, expected the header of a column, as text");
                    return Err(Error::new(Place::key(name), message));
                }
            };
            if let Some((other, _)) = columns.iter().find(|(_, taken)| *taken == header) {
                let message = format!("names the column '{}', and so does {other}", abridged(header));
                return Err(Error::new(Place::key(name), message));
            }
            columns.insert(name.into(), header.into());
        }
        Ok(Self(columns))
    }

    /// The column of one of our names, if the header has it. One that is said must be there.
    fn find(&self, records: &Records, name: &str) -> Result<Option<usize>> {
        let positions = |same: &dyn Fn(&str) -> bool| -> Vec<usize> {
            let fields = records.record().iter().enumerate();
            fields.filter(|(_, field)| same(field)).map(|(column, _)| column).collect()
        };
        let Some(said) = self.0.get(name) else {
            let taken = |column: usize| self.0.values().any(|said| records.record().field(column) == said);
            let mut found = positions(&|field| {
                let also = name == "problem" && field.eq_ignore_ascii_case("instance");
                field.eq_ignore_ascii_case(name) || also
            });
            found.retain(|&column| !taken(column));
            return match found[..] {
                [] => Ok(None),
                [column] => Ok(Some(column)),
                _ => Err(self.ambiguous(records, name, &found)),
            };
        };
        let exact = positions(&|field| field == said);
        let found =
            if exact.is_empty() { positions(&|field| field.eq_ignore_ascii_case(said)) } else { exact };
        match found[..] {
            [column] => Ok(Some(column)),
            [] => {
                let headers: Vec<&str> = records.record().iter().collect();
                let shown: Vec<String> = headers.iter().take(12).map(|header| abridged(header)).collect();
                let more = if headers.len() > 12 { ", …" } else { "" };
                Err(records.wrong(format!(
                    "has no column '{}', which columns.{name} names{}; found {}{more}",
                    abridged(said),
                    hint(said, headers.iter().copied()),
                    shown.join(", ")
                )))
            }
            _ => Err(self.ambiguous(records, name, &found)),
        }
    }

    fn ambiguous(&self, records: &Records, name: &str, columns: &[usize]) -> Error {
        let which: Vec<String> = columns
            .iter()
            .map(|&column| format!("column {} ('{}')", column + 1, abridged(records.record().field(column))))
            .collect();
        records.wrong(format!(
            "{} may each be the {name}; rename all but one, or say which by columns = {{ {name} = \"…\" }}",
            which.join(" and ")
        ))
    }
}

/// How a table is laid out.
pub(super) enum Form {
    /// A row for each past problem, with the column of its name if there is one.
    Wide(Option<usize>),
    /// A row for each past problem and arm.
    Long(LongColumns),
}

pub(super) struct LongColumns {
    pub problem: usize,
    pub arm: usize,
    pub values: Values,
}

/// What is known about an arm, by column.
pub(super) enum Values {
    Mean(usize),
    Counts(usize, usize),
    Outcomes(usize, usize),
    Sample([usize; 3]),
}

impl Form {
    /// What the first record tells.
    pub fn of(records: &Records, columns: &Columns) -> Result<Self> {
        let (problem, arm) = (columns.find(records, "problem")?, columns.find(records, "arm")?);
        let (Some(problem), Some(arm)) = (problem, arm) else {
            if let Some(said) = ["arm"].into_iter().chain(VALUES).find(|name| columns.0.contains_key(*name)) {
                let missing = if problem.is_none() { "problem" } else { "arm" };
                return Err(records.wrong(format!(
                    "columns.{said} is for a row per problem and arm, but nothing says which column is the {missing}: add \
                     {missing} = \"…\" to columns"
                )));
            }
            return Ok(Self::Wide(problem));
        };
        Ok(Self::Long(LongColumns { problem, arm, values: Values::of(records, columns)? }))
    }
}

impl Values {
    /// What is said goes before what is found.
    fn of(records: &Records, columns: &Columns) -> Result<Self> {
        let said = |name: &str| columns.0.contains_key(name);
        let find = |name: &str| columns.find(records, name);
        let sampled = said("variance") || said("count");
        if sampled || said("mean") || (!VALUES.iter().any(|name| said(name)) && find("mean")?.is_some()) {
            let Some(mean) = find("mean")? else {
                return Err(missing(records, "mean", "variance and count"));
            };
            // A mean that is said stands alone unless more is.
            if said("mean") && !sampled {
                return Ok(Self::Mean(mean));
            }
            return match (find("variance")?, find("count")?) {
                (Some(variance), Some(count)) => Ok(Self::Sample([mean, variance, count])),
                (None, _) if sampled => Err(missing(records, "variance", "mean and count")),
                (_, None) if sampled => Err(missing(records, "count", "mean and variance")),
                _ => Ok(Self::Mean(mean)),
            };
        }
        match (find("successes")?, find("trials")?, find("failures")?) {
            (Some(successes), Some(trials), _) => Ok(Self::Counts(successes, trials)),
            (Some(successes), None, Some(failures)) => Ok(Self::Outcomes(successes, failures)),
            _ => Err(records.wrong(
                "long form needs a column 'mean', or 'successes' and 'trials', or 'mean', 'variance' and 'count'; if yours have \
                 other names, say so: columns = { successes = \"clicks\", trials = \"views\" }",
            )),
        }
    }
}

fn missing(records: &Records, name: &str, others: &str) -> Error {
    records.wrong(format!(
        "has no column '{name}', which goes with {others}; add it, or name it by columns = {{ {name} = \"…\" }}"
    ))
}
