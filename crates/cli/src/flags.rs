//! Where an error is, in the user's words. The library knows places such as `params.w`, not that somebody typed them
//! after `--params`; this table does.

use gradband::{Error, Place, Step};

/// What the library and specs call a thing, and what is typed for it.
const TYPED: [(&str, &str); 24] = [
    ("problem", "PROBLEM"),
    ("seed", "--seed"),
    ("policy", "--policy"),
    ("policies", "--policies"),
    ("params", "--params"),
    ("instances", "--instances"),
    ("gradient", "--gradient"),
    ("start", "--start"),
    ("baseline", "--baseline"),
    ("runs_per_instance", "--runs-per-instance"),
    ("returns", "--returns"),
    ("batch_size", "--batch-size"),
    ("optimizer", "--optimizer"),
    ("learning_rate", "--learning-rate"),
    ("iterations", "--iterations"),
    ("average", "--average"),
    ("eval_instances", "--eval-instances"),
    ("time_limit", "--time-limit"),
    ("recipe", "--recipe"),
    ("output", "-o"),
    ("arms", "--arms"),
    ("floor", "--floor"),
    ("wait", "--wait"),
    ("default_reward", "--default-reward"),
];

/// The same error at the flag or argument that it is about. What is in a file, and what nobody can type, stays where
/// it is.
pub fn as_typed(error: Error) -> Error {
    let [Step::Key(key), inner @ ..] = error.place().steps() else { return error };
    match TYPED.iter().find(|(name, _)| name == key) {
        Some((_, flag)) => {
            let place = place(flag, inner);
            error.at(place)
        }
        None => error,
    }
}

/// A flag and what is meant of its value: `--params (w)`, `--policies (softelim, z)`.
fn place(flag: &str, inner: &[Step]) -> Place {
    let mut words: Vec<String> = Vec::new();
    let mut notes = Vec::new();
    for step in inner {
        let text = || Place::from_iter([step.clone()]).to_string();
        match (step, words.last_mut()) {
            (Step::Note(note), _) => notes.push(note),
            (Step::Index(_), Some(word)) => *word += &text(),
            _ => words.push(text()),
        }
    }
    let flag = if words.is_empty() { flag.into() } else { format!("{flag} ({})", words.join(", ")) };
    notes.into_iter().fold(Place::key(flag), Place::note)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(place: impl Into<Place>) -> String {
        as_typed(Error::new(place, "no")).to_string()
    }

    #[test]
    fn places_become_flags() {
        assert_eq!(typed("batch_size"), "--batch-size: no");
        assert_eq!(typed("problem"), "PROBLEM: no");
        assert_eq!(typed("params.W[1][2]"), "--params (W[1][2]): no");
        let start = Place::from("params.w").note("where training starts");
        assert_eq!(typed(start), "--params (w), where training starts: no");
    }

    #[test]
    fn other_places_stay() {
        assert_eq!(typed("covertype"), "covertype: no");
        assert_eq!(
            typed(Place::file("s.toml").line(3).then("train.baseline")),
            "s.toml, line 3, train.baseline: no"
        );
        assert_eq!(typed(""), "no");
    }

    #[test]
    fn a_policy_is_where_it_was_typed() {
        assert_eq!(typed("policies"), "--policies: no");
        assert_eq!(typed("policies.softelim.z"), "--policies (softelim, z): no");
    }

    /// Every key of `[train]` that `train` has a flag for is in the table.
    #[test]
    fn every_flag_of_train_is_known() {
        use clap::CommandFactory;
        let command = crate::args::Args::command();
        let train = command.get_subcommands().find(|command| command.get_name() == "train").unwrap();
        let flags = train.get_arguments().filter_map(clap::Arg::get_long);
        for flag in flags.filter(|flag| !["output", "force", "resume"].contains(flag)) {
            assert_eq!(typed(flag.replace('-', "_")), format!("--{flag}: no"));
        }
    }
}
