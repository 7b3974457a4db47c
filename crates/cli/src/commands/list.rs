//! `gradband list`: what there is, straight from the catalogues.

use crate::args::Listed;
use crate::failure::Result;
use crate::output::{self, Printer};
use gradband_jobs::list::{self, Document, Item};

pub fn run(kind: Option<Listed>, printer: Printer) -> Result<()> {
    let document = list::run()?;
    let Document { problems, policies, baselines, optimizers, experiments, data } = &document;
    let one = |name: &str, items: &Vec<Item>| printer.result(items, || text(name, items));
    match kind {
        Some(Listed::Problems) => one("problems", problems),
        Some(Listed::Policies) => one("policies", policies),
        Some(Listed::Baselines) => one("baselines", baselines),
        Some(Listed::Optimizers) => one("optimizers", optimizers),
        Some(Listed::Experiments) => one("experiments", experiments),
        Some(Listed::Data) => one("data", data),
        None => printer.result(&document, || {
            let parts = [
                ("problems", problems),
                ("policies", policies),
                ("baselines", baselines),
                ("optimizers", optimizers),
                ("experiments", experiments),
                ("data", data),
            ];
            parts.map(|(name, items)| text(name, items)).join("\n\n")
        }),
    }
}

/// Columns of a terminal that lists fit into.
const COLUMNS: usize = 100;
/// What a table of two columns has around and between them.
const AROUND: usize = 5;

/// A line, folded at spaces that are in no brackets; what follows the first fold is indented by `indent`.
fn folded(line: &str, width: usize, indent: usize) -> String {
    let mut out = String::new();
    let (mut used, mut brackets) = (0, 0);
    let outside = |c: char| {
        brackets += i32::from(c == '[') - i32::from(c == ']');
        c == ' ' && brackets == 0
    };
    for word in line.split(outside) {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            used = indent;
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
    }
    out
}

/// Parameters and settings, a line each; parameters with the same values share one.
fn details(item: &Item) -> Vec<String> {
    let params = item.params.chunk_by(|a, b| a.values == b.values).map(|alike| {
        let names: Vec<_> = alike.iter().map(|param| param.name).collect();
        format!("{} = {}", names.join(", "), alike[0].values)
    });
    let settings = item.settings.iter();
    let settings = settings
        .map(|setting| format!("{}: {} [{}]", setting.name, setting.values.join(" | "), setting.default));
    params.chain(settings).collect()
}

fn text(title: &str, items: &[Item]) -> String {
    // The family of distractors takes two rows, not twenty-two.
    let shown = items.iter().filter(|item| {
        let number = item.name.strip_prefix("distractors-");
        number.is_none_or(|number| number == "3" || number == "24")
    });
    let name = |item: &Item| if item.name == "distractors-24" { "... distractors-24" } else { item.name };
    let widest = shown.clone().map(|item| name(item).chars().count()).max().unwrap_or(0);
    let width = COLUMNS.saturating_sub(widest.max(title.len()) + AROUND);
    let row = |item: &Item| {
        let details = details(item).into_iter().map(|line| format!("  {}", folded(&line, width - 2, 4)));
        let lines = std::iter::once(folded(item.summary, width, 0)).chain(details);
        vec![name(item).to_string(), lines.collect::<Vec<_>>().join("\n")]
    };
    output::table(&[title, ""], 2, shown.map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_fit_a_terminal() {
        let Document { problems, policies, baselines, .. } = list::run().unwrap();
        let lists = [("policies", policies), ("baselines", baselines), ("problems", problems)];
        for (title, items) in lists {
            let list = text(title, &items);
            let widest = list.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= COLUMNS, "{title}: {widest}\n{list}");
            assert!(items.iter().flat_map(|item| &item.params).all(|param| list.contains(param.name)));
        }
    }

    #[test]
    fn lines_are_folded_at_spaces() {
        assert_eq!(folded("one two three", 9, 2), "one two\n  three");
        assert_eq!(folded("one two", 9, 2), "one two");
        assert_eq!(folded("unbreakable", 3, 2), "unbreakable");
        assert_eq!(folded("h in [1, 2]", 8, 2), "h in\n  [1, 2]");
    }
}
