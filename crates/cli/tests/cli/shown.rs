//! What README and docs show of a command is what the command prints: every line, but for times.

use super::*;
use std::path::PathBuf;

/// A command in a fenced block of text, and the lines that are shown of what it prints.
#[derive(Debug, PartialEq)]
struct Shown {
    args: Vec<String>,
    lines: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of a document: lines that begin with `$ ` in its ```` ```text ```` blocks, with all that follows them. A
/// comment behind a command is a line of what it prints.
fn shown(document: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    for block in document.split("```text\n").skip(1) {
        let mut lines = block.lines().take_while(|line| *line != "```").peekable();
        while lines.next_if(|line| !line.starts_with("$ ")).is_some() {}
        for line in lines {
            let Some(command) = line.strip_prefix("$ ") else {
                all.last_mut().unwrap().lines.push(line.trim_end().into());
                continue;
            };
            let (command, comment) = command.split_once(" # ").unwrap_or((command, ""));
            let programs = ["cargo run --release -- ", "gradband "];
            let args = programs.iter().find_map(|program| command.strip_prefix(program));
            let args = args.unwrap_or_else(|| panic!("not a run of gradband: {command}"));
            assert!(!args.contains(['\'', '"', '\\']), "this test does not know quotes: {command}");
            // Only this line of many is shown.
            let comment = match comment.trim() {
                "" => Vec::new(),
                line => vec!["...".into(), line.into(), "...".into()],
            };
            all.push(Shown { args: args.split_whitespace().map(Into::into).collect(), lines: comment });
        }
    }
    all
}

/// A line with `#` for its times and rates, which are never the same twice; and whether it has any.
fn timeless_line(line: &str) -> (String, bool) {
    let words: Vec<_> = line.trim_end().split(' ').collect();
    let bare = |i: usize| {
        words.get(i).map_or("", |word| word.trim_matches(|c: char| c.is_ascii_punctuation() && c != '/'))
    };
    let is_time = |i: usize| {
        let number = bare(i).starts_with(|c: char| c.is_ascii_digit());
        number && (bare(i + 1) == "s" || bare(i + 1).ends_with("/s") || bare(i + 2).ends_with("/s"))
    };
    let masked = |i: usize| words[i].replace(bare(i), "#");
    let found: Vec<_> =
        (0..words.len()).map(|i| if is_time(i) { masked(i) } else { words[i].to_string() }).collect();
    (found.join(" "), (0..words.len()).any(is_time))
}

/// The first line that is shown and not printed, or printed and not shown. Printed lines with times may be left out, and
/// `...` stands for any number of lines.
fn difference(shown: &[String], printed: &str) -> Option<String> {
    let mut expected = shown.iter().map(|line| timeless_line(line).0).peekable();
    let mut any = false;
    for line in printed.lines() {
        let (line, has_time) = timeless_line(line);
        while expected.next_if(|line| line == "...").is_some() {
            any = true;
        }
        if expected.next_if_eq(&line).is_some() {
            any = false;
        } else if !any && !has_time {
            let instead = expected.next().unwrap_or_default();
            return Some(format!("shown: {instead}\nprinted: {line}"));
        }
    }
    expected.find(|line| line != "...").map(|line| format!("shown, but not printed: {line}"))
}

/// The files of a document: blocks in some language whose first line is a comment with the file's name.
fn files(document: &str) -> Vec<(&str, &str)> {
    let blocks = document.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    let named = blocks.filter_map(|(language, text)| {
        let name = text.lines().next()?.strip_prefix("# ")?;
        let end = if language == "python" { "py" } else { language };
        (!end.is_empty() && name.ends_with(&format!(".{end}"))).then_some((name, text))
    });
    named.collect()
}

/// Writes the files of a document, and runs those that Python can run.
fn prepare(document: &str, dir: &Path) {
    for (name, text) in files(document) {
        std::fs::write(dir.join(name), text).unwrap();
        if name.ends_with(".py") {
            let output = Command::new("python3").args(["-I", name]).current_dir(dir).output().unwrap();
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// What the command prints in a directory: its result, or why there is none.
fn printed(args: &[String], dir: &Path) -> String {
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let output = gradband(&args).current_dir(dir).output().unwrap();
    let text = if output.status.success() { output.stdout } else { output.stderr };
    String::from_utf8(text).unwrap()
}

fn check(path: &Path) -> usize {
    let document = std::fs::read_to_string(path).unwrap();
    let all = shown(&document);
    let dir = tempfile::tempdir().unwrap();
    prepare(&document, dir.path());
    for Shown { args, lines } in &all {
        let printed = printed(args, dir.path());
        if let Some(difference) = difference(lines, &printed) {
            panic!("{}, gradband {}:\n{difference}\n\nAll of it:\n{printed}", path.display(), args.join(" "));
        }
    }
    all.len()
}

#[test]
fn readme_shows_what_commands_print() {
    assert!(check(&root().join("README.md")) > 0, "README shows no command");
}

#[test]
fn docs_show_what_commands_print() {
    let documents = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let checked: usize = documents
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .map(|path| check(&path))
        .sum();
    assert!(checked > 0, "docs show no command");
}

#[test]
fn commands_are_read_off_a_document() {
    let document = "```text\ngradband check x\n$ cargo run --release -- train -o a\nb 1\n\nc\n$ gradband list   # d\n```\n$ no\n";
    let owned = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    assert_eq!(
        shown(document),
        [
            Shown { args: owned(&["train", "-o", "a"]), lines: owned(&["b 1", "", "c"]) },
            Shown { args: owned(&["list"]), lines: owned(&["...", "d", "..."]) },
        ]
    );
}

#[test]
fn only_times_may_differ() {
    let line = "trained in 0.11 s (364 million rounds/s): 100 iterations";
    assert_eq!(timeless_line(line), ("trained in # s (# million rounds/s): 100 iterations".into(), true));
    assert_eq!(timeless_line("gain 2.5 ± 0.1 s.e. of 4"), ("gain 2.5 ± 0.1 s.e. of 4".into(), false));
    let differs = |shown: &[&str], printed: &str| {
        let shown: Vec<_> = shown.iter().map(|line| line.to_string()).collect();
        difference(&shown, printed).is_some()
    };
    let printed = "regret 4.67\ngain 2.51\ntook 0.2 s\nlearned 1";
    assert!(!differs(&["regret 4.67", "gain 2.51", "took 9.75 s", "learned 1"], printed));
    assert!(!differs(&["regret 4.67", "gain 2.51", "learned 1"], printed), "times can be left out");
    assert!(!differs(&["regret 4.67", "...", "learned 1"], printed));
    assert!(!differs(&["...", "gain 2.51", "..."], printed));
    assert!(differs(&["regret 4.68", "gain 2.51", "learned 1"], printed), "another number");
    assert!(differs(&["regret 4.67", "learned 1"], printed), "a line is not shown");
    assert!(differs(&["regret 4.67", "gain 2.51", "learned 1", "done"], printed), "a line is not printed");
    assert!(differs(&["...", "gain 2.52", "..."], printed));
}
