//! The rooms of the library, as `src/lib.rs` draws them: none uses one above it, no part of a room is used by what it
//! uses, and the crates of the workspace stand on each other in one direction.
//!
//! A simple reading of the sources: comments and test code are left out, paths that begin with `crate`, `self` or `super`
//! and those that begin with a module are followed through re-exports to the module that defines what they name.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Each line uses only what is below it; what is on the same line does not use each other.
const ROOMS: &[&[&str]] = &[
    &["agent", "learn"],
    &["measure"],
    &["policy"],
    &["simulate", "exact"],
    &["problem"],
    &["numeric"],
    &["observe"],
    &["error"],
    &["stop"],
];

/// The crates likewise, and what each may use.
const CRATES: &[(&str, &[&str])] = &[
    ("gradband", &[]),
    ("files", &["gradband"]),
    ("report", &[]),
    ("lab", &["gradband", "gradband-files", "gradband-report"]),
    ("jobs", &["gradband", "gradband-files", "gradband-lab"]),
    ("cli", &["gradband", "gradband-files", "gradband-jobs", "gradband-lab", "gradband-report"]),
    ("browser", &[]),
];

/// A module's path below `crate`.
type Module = Vec<String>;

/// One mention of something: who mentions what, and where.
#[derive(Clone, Debug)]
struct Mention {
    from: Module,
    path: Module,
    place: String,
}

/// A token of Rust, as far as paths go.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    /// `::`
    Path,
    Sign(char),
}

/// The code without comments, with as many lines.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let code = line.find("//").map_or(line, |at| &line[..at]);
        out.push_str(code);
        out.push('\n');
    }
    out
}

/// The code without what is marked `#[cfg(test)]`, with as many lines.
fn without_tests(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        out.push('\n');
        let mut depth = 0;
        for line in lines.by_ref() {
            out.push('\n');
            depth += line.matches(['{', '(']).count() as i32 - line.matches(['}', ')']).count() as i32;
            let ends = line.trim_end().ends_with([';', '}', ',']);
            if depth <= 0 && ends && !line.trim().starts_with("#[") {
                break;
            }
        }
    }
    out
}

/// The tokens of a file with their lines.
fn tokens(text: &str) -> Vec<(Token, usize)> {
    let mut out = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            let token = if c.is_alphanumeric() || c == '_' {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    word.push(c);
                }
                Token::Word(word)
            } else if c == ':' && chars.next_if_eq(&':').is_some() {
                Token::Path
            } else if c.is_whitespace() {
                continue;
            } else {
                Token::Sign(c)
            };
            out.push((token, number + 1));
        }
    }
    out
}

/// Reads `a::b::{c, d::e as f, g}` from `at`: the paths with the names they get, and where it ends.
fn read_tree(tokens: &[(Token, usize)], mut at: usize) -> (Vec<(Module, String)>, usize) {
    let mut path = Module::new();
    loop {
        match tokens.get(at).map(|token| &token.0) {
            Some(Token::Word(word)) => {
                path.push(word.clone());
                at += 1;
            }
            Some(Token::Sign('{')) => {
                let mut all = Vec::new();
                at += 1;
                while tokens.get(at).is_some_and(|token| token.0 != Token::Sign('}')) {
                    let (inner, end) = read_tree(tokens, at);
                    all.extend(inner.into_iter().map(|(rest, name)| match rest[..] {
                        // `{self}` is the module itself.
                        [ref only] if only == "self" => (path.clone(), path.last().cloned().unwrap_or(name)),
                        _ => ([&path[..], &rest[..]].concat(), name),
                    }));
                    at = end.max(at + 1);
                    at += usize::from(tokens.get(at).is_some_and(|token| token.0 == Token::Sign(',')));
                }
                return (all, at + 1);
            }
            _ => break,
        }
        if tokens.get(at).is_none_or(|token| token.0 != Token::Path) {
            break;
        }
        at += 1;
    }
    let mut name = path.last().cloned().unwrap_or_default();
    if let (Some((Token::Word(word), _)), Some((Token::Word(other), _))) =
        (tokens.get(at), tokens.get(at + 1))
        && word == "as"
    {
        name = other.clone();
        at += 2;
    }
    (vec![(path, name)], at)
}

/// The sources of the library.
#[derive(Default)]
struct Sources {
    modules: BTreeSet<Module>,
    /// What a module's name stands for: its own path if it defines it.
    aliases: BTreeMap<(Module, String), Module>,
    mentions: Vec<Mention>,
}

impl Sources {
    fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut files = Vec::new();
        collect(&root, &mut files);
        let mut sources = Self::default();
        let module = |file: &Path| -> Module {
            let path = file.strip_prefix(&root).unwrap().with_extension("");
            let parts = path.iter().map(|part| part.to_str().unwrap().to_string());
            parts.filter(|part| part != "lib").collect()
        };
        sources.modules = files.iter().map(|file| module(file)).collect();
        for file in &files {
            let text = std::fs::read_to_string(file).unwrap();
            let name = file.strip_prefix(&root).unwrap().display().to_string();
            sources.scan(&module(file), &name, &tokens(&without_tests(&without_comments(&text))));
        }
        sources
    }

    /// Notes every path of a file, and what its `use` declarations bring in.
    fn scan(&mut self, from: &Module, file: &str, tokens: &[(Token, usize)]) {
        let mut at = 0;
        while at < tokens.len() {
            let is_use = tokens[at].0 == Token::Word("use".into());
            let start = at + usize::from(is_use);
            // Not in the middle of a path, and not `pub(in crate::…)`, which says who may see.
            let before = at.checked_sub(1).map(|before| &tokens[before].0);
            let begins = matches!(tokens.get(start), Some((Token::Word(_), _)))
                && before.is_none_or(|token| *token != Token::Path && *token != Token::Word("in".into()))
                && (is_use || tokens.get(start + 1).is_some_and(|token| token.0 == Token::Path));
            if !begins {
                at += 1;
                continue;
            }
            let (paths, end) = read_tree(tokens, start);
            for (path, name) in paths {
                let Some(path) = self.absolute(from, &path) else { continue };
                if is_use {
                    self.aliases.insert((from.clone(), name), path.clone());
                }
                let place = format!("src/{file}:{}", tokens[start].1);
                self.mentions.push(Mention { from: from.clone(), path, place });
            }
            at = end.max(at + 1);
        }
    }

    /// A path from the root of the crate, if it stays within it.
    fn absolute(&self, from: &Module, path: &[String]) -> Option<Module> {
        let (mut base, mut rest) = match path[0].as_str() {
            "crate" => (Module::new(), &path[1..]),
            "self" => (from.clone(), &path[1..]),
            "super" => (from.clone(), path),
            first => {
                let child = [&from[..], &[first.to_string()]].concat();
                return self.modules.contains(&child).then(|| [&from[..], path].concat());
            }
        };
        while rest.first().is_some_and(|word| word == "super") {
            base.pop();
            rest = &rest[1..];
        }
        Some([&base[..], rest].concat())
    }

    /// The module that defines what a path names, followed through re-exports.
    fn home(&self, path: &[String]) -> Module {
        let mut module = Module::new();
        for (i, word) in path.iter().enumerate() {
            let child = [&module[..], std::slice::from_ref(word)].concat();
            if self.modules.contains(&child) {
                module = child;
                continue;
            }
            if let Some(target) = self.aliases.get(&(module.clone(), word.clone()))
                && *target != path[..=i]
            {
                return self.home(&[&target[..], &path[i + 1..]].concat());
            }
            break;
        }
        module
    }
}

/// The Rust files below a folder that are not tests.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_stem().unwrap() == "tests" {
            continue;
        }
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
}

fn level(room: &str) -> usize {
    let found = ROOMS.iter().position(|level| level.contains(&room));
    found.unwrap_or_else(|| panic!("the room {room} is not drawn: add it to ROOMS and to src/lib.rs"))
}

/// The drawing in `src/lib.rs` is the one that is checked.
#[test]
fn the_rooms_are_those_that_are_drawn() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs")).unwrap();
    let drawn = text.lines().filter_map(|line| line.strip_prefix("//     "));
    let drawn: Vec<Vec<&str>> = drawn.map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(drawn, ROOMS);
    let sources = Sources::read();
    let found: BTreeSet<&str> =
        sources.modules.iter().filter_map(|module| module.first()).map(String::as_str).collect();
    assert_eq!(found, ROOMS.iter().flat_map(|level| level.iter().copied()).collect());
}

#[test]
fn no_room_uses_one_above_it() {
    let sources = Sources::read();
    let mut wrong = Vec::new();
    let mut used = 0;
    for Mention { from, path, place } in &sources.mentions {
        let (Some(room), Some(other)) = (from.first(), path.first()) else { continue };
        // By its first word, and by what it stands for.
        let home = sources.home(path);
        for other in [Some(other), home.first()].into_iter().flatten() {
            // Something that the root of the crate re-exports is found by what it stands for.
            if other == room || !sources.modules.contains(&vec![other.clone()]) {
                continue;
            }
            used += 1;
            if level(room) >= level(other) {
                wrong.push(format!("{place}: {room} uses {other} ({})", path.join("::")));
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "rooms use only those below them:\n{}", wrong.join("\n"));
    assert!(used > 300, "only {used} mentions of other rooms were found");
}

/// Which parts of a room (its files, and its folders with all that is in them) use which, and where.
fn parts(sources: &Sources, room: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut uses: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for Mention { from, path, place } in &sources.mentions {
        let home = sources.home(path);
        if from[..].first().is_none_or(|first| first != room) || home.first() != from.first() {
            continue;
        }
        // The room's own file names its parts; what it defines itself counts as a part.
        let part = |module: &Module| module.get(1).unwrap_or(&module[0]).clone();
        if part(from) != part(&home) {
            uses.entry(part(from)).or_default().entry(part(&home)).or_insert_with(|| place.clone());
        }
    }
    uses
}

/// A way from a part back to itself, if there is one.
fn cycle(uses: &BTreeMap<String, BTreeMap<String, String>>) -> Option<Vec<String>> {
    fn search(
        uses: &BTreeMap<String, BTreeMap<String, String>>,
        way: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> bool {
        let last = way[way.len() - 1].clone();
        for next in uses.get(&last).into_iter().flat_map(BTreeMap::keys) {
            if let Some(at) = way.iter().position(|part| part == next) {
                way.drain(..at);
                way.push(next.clone());
                return true;
            }
            if !done.contains(next) {
                way.push(next.clone());
                if search(uses, way, done) {
                    return true;
                }
                way.pop();
            }
        }
        done.insert(last);
        false
    }
    let mut done = BTreeSet::new();
    uses.keys().find_map(|part| {
        let mut way = vec![part.clone()];
        search(uses, &mut way, &mut done).then_some(way)
    })
}

/// Parts that cannot be told apart, as one: their types mention each other. A policy's definition is made of functions that
/// take a choice, so are the shapes and starting values of its parameters; and a choice is one of a definition.
const KNOT: (&str, &str, [&str; 2]) = ("policy", "choice", ["definition", "params"]);

fn tie(uses: BTreeMap<String, BTreeMap<String, String>>) -> BTreeMap<String, BTreeMap<String, String>> {
    let name = |part: &String| if KNOT.2.contains(&part.as_str()) { KNOT.1.into() } else { part.clone() };
    let mut tied: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (from, to) in uses {
        for (to, place) in to.into_iter().filter(|(to, _)| name(to) != name(&from)) {
            tied.entry(name(&from)).or_default().entry(name(&to)).or_insert(place);
        }
    }
    tied
}

#[test]
fn no_part_of_a_room_is_used_by_what_it_uses() {
    let sources = Sources::read();
    for room in ROOMS.iter().flat_map(|level| level.iter()) {
        let uses = parts(&sources, room);
        if *room == KNOT.0 {
            assert!(cycle(&uses).is_some(), "the knot in {room} is gone: take it out of this test");
        }
        let uses = if *room == KNOT.0 { tie(uses) } else { uses };
        if let Some(way) = cycle(&uses) {
            let steps = way
                .windows(2)
                .map(|pair| format!("{} uses {} in {}", pair[0], pair[1], uses[&pair[0]][&pair[1]]));
            panic!("a cycle in {room}:\n{}", steps.collect::<Vec<_>>().join("\n"));
        }
    }
}

/// The crates of the workspace that a crate's manifest names, and whether for tests alone.
fn dependencies(manifest: &str) -> Vec<(String, bool)> {
    let (mut section, mut found) = (String::new(), Vec::new());
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']).to_string();
        } else if section.ends_with("dependencies") && line.starts_with("gradband") {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            found.push((name.to_string(), section.starts_with("dev-")));
        }
    }
    found
}

#[test]
fn crates_stand_on_those_below_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    let mut known: Vec<_> = CRATES.iter().map(|&(name, _)| std::ffi::OsString::from(name)).collect();
    known.sort();
    assert_eq!(names, known, "a crate that is not drawn");
    for (name, allowed) in CRATES {
        let manifest = std::fs::read_to_string(folder.join(name).join("Cargo.toml")).unwrap();
        for (found, test_only) in dependencies(&manifest) {
            // The browser is there to test with; it knows none of the others.
            let fine = allowed.contains(&found.as_str()) || test_only && found == "gradband-browser";
            assert!(fine, "crates/{name}/Cargo.toml: {name} uses {found}");
        }
    }
}

/// The reading itself: paths of every form are found, comments and tests are not.
#[test]
fn paths_are_read_as_the_compiler_reads_them() {
    let text = "
        use crate::a::{B, c::{D, self}, e as f}; // crate::comment::X
        #[cfg(test)]
        mod tests {
            use crate::tests::Y;
        }
        pub(in crate::a) fn g() -> super::super::h::I { crate::j::K::<L>::new(self::m::N) }
    ";
    let mut sources = Sources { modules: [vec!["a".into(), "b".into()]].into(), ..Sources::default() };
    let from = vec!["a".to_string(), "b".to_string()];
    sources.scan(&from, "a/b.rs", &tokens(&without_tests(&without_comments(text))));
    let found: Vec<_> = sources.mentions.iter().map(|mention| mention.path.join("::")).collect();
    let expected = ["a::B", "a::c::D", "a::c", "a::e", "h::I", "j::K", "a::b::m::N"];
    assert_eq!(found, expected);
    assert_eq!(sources.mentions[0].place, "src/a/b.rs:2");
    assert_eq!(sources.aliases[&(from, "f".to_string())], ["a", "e"]);
}
