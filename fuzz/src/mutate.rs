//! Damage: a little of everything that breaks readers, at the level of bytes, tokens, lines and nesting.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Longer inputs are cut: what takes long to read says little.
const LONGEST: usize = 1 << 16;

/// Numbers at the ends of what types hold, and beyond.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "0.5",
    "1e-300",
    "5e-324",
    "1e300",
    "1.7976931348623157e308",
    "1e999",
    "-1e999",
    "nan",
    "inf",
    "-inf",
    "NaN",
    "Infinity",
    "null",
    "true",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "4294967295",
    "4294967296",
    "2147483648",
    "1000000",
    "10000000",
    "1e6",
    "1e-6",
    "0.1,5",
    "1.234.567",
    "99999999999999999999999999999999",
    "0x10",
    "1_000",
    "+1",
    "1e",
    ".",
    "-",
    "١٢",
];

/// Words that mean something somewhere.
const WORDS: &[&str] = &[
    "\"",
    "\"\"",
    "'",
    "\\",
    "\\u0000",
    "\u{0}",
    "\u{feff}",
    "\u{1b}[31m",
    "\u{9b}2J",
    "\u{202e}",
    "é",
    "🙂",
    "../../x",
    "/etc/passwd",
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "&lt;",
    "javascript:alert(1)",
    ",",
    ";",
    "\t",
    "\r\n",
    "\r",
    "\n",
    " ",
    "=",
    ":",
    "#",
    "%",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "{}",
    "[]",
    "[[]]",
    "kind",
    "arms",
    "horizon",
    "rank",
    "mean",
    "label",
    "nan",
    "tuned",
    "fit",
    "auto",
    "true",
    "false",
    "null",
    "Infinity",
];

/// Damages inputs, in a way that the seed says.
pub struct Mutator {
    rng: SplitMix64,
    pool: Vec<Vec<u8>>,
    /// Those of the pool that came from the corpus.
    given: usize,
}

impl Mutator {
    /// Starts from these inputs.
    pub fn new(seed: u64, corpus: Vec<Vec<u8>>) -> Self {
        let given = corpus.len();
        assert!(given > 0, "an empty corpus");
        Self { rng: SplitMix64::seed_from_u64(seed), pool: corpus, given }
    }

    /// What was accepted is a good start for more.
    pub fn keep(&mut self, input: &[u8]) {
        const MOST: usize = 200;
        if self.pool.len() < MOST {
            self.pool.push(input.to_vec());
        } else if self.below(20) == 0 {
            let at = self.given + self.below(self.pool.len() - self.given);
            self.pool[at] = input.to_vec();
        }
    }

    /// The next input.
    pub fn next_input(&mut self) -> Vec<u8> {
        let mut input = self.any().to_vec();
        for _ in 0..=self.below(3) + if self.below(8) == 0 { self.below(20) } else { 0 } {
            self.damage(&mut input);
        }
        if input.len() > LONGEST && self.below(50) > 0 {
            input.truncate(LONGEST);
        }
        input
    }

    fn below(&mut self, count: usize) -> usize {
        (self.rng.next_u64() % count.max(1) as u64) as usize
    }

    fn any(&mut self) -> &[u8] {
        let at = self.below(self.pool.len());
        &self.pool[at]
    }

    fn one_of(&mut self, words: &[&'static str]) -> &'static [u8] {
        words[self.below(words.len())].as_bytes()
    }

    /// A short stretch of an input.
    fn stretch(&mut self, input: &[u8]) -> std::ops::Range<usize> {
        let from = self.below(input.len() + 1);
        let most = if self.below(4) == 0 { input.len() } else { 16 };
        from..(from + self.below(most)).min(input.len())
    }

    fn damage(&mut self, input: &mut Vec<u8>) {
        match self.below(20) {
            0 | 1 if !input.is_empty() => {
                let (at, bit) = (self.below(input.len()), self.below(8));
                input[at] ^= 1 << bit;
            }
            2 if !input.is_empty() => {
                let at = self.below(input.len());
                input[at] = self.below(256) as u8;
            }
            3 => drop(input.drain(self.stretch(input))),
            4 => {
                let part = input[self.stretch(input)].to_vec();
                self.insert(input, &part);
            }
            5 => {
                let part = {
                    let other = self.any().to_vec();
                    other[self.stretch(&other)].to_vec()
                };
                self.insert(input, &part);
            }
            6 | 7 => {
                let word = self.one_of(WORDS);
                self.insert(input, word);
            }
            8..=11 => {
                let number = self.one_of(NUMBERS);
                self.replace_token(input, number);
            }
            12 => {
                let word = self.one_of(WORDS);
                self.replace_token(input, word);
            }
            13 => {
                let other = self.any().to_vec();
                let token = tokens(&other);
                if !token.is_empty() {
                    let token = token[self.below(token.len())].clone();
                    self.replace_token(input, &other[token]);
                }
            }
            14..=16 => self.lines(input),
            17 => input.truncate(self.below(input.len() + 1)),
            18 if self.below(10) == 0 => self.deep(input),
            19 if self.below(10) == 0 => self.long(input),
            _ => {}
        }
    }

    fn insert(&mut self, input: &mut Vec<u8>, part: &[u8]) {
        let at = self.below(input.len() + 1);
        input.splice(at..at, part.iter().copied());
    }

    fn replace_token(&mut self, input: &mut Vec<u8>, by: &[u8]) {
        let tokens = tokens(input);
        if tokens.is_empty() {
            return;
        }
        let token = tokens[self.below(tokens.len())].clone();
        input.splice(token, by.iter().copied());
    }

    /// Lines are removed, doubled, swapped, or come from elsewhere.
    fn lines(&mut self, input: &mut Vec<u8>) {
        let mut lines: Vec<Vec<u8>> =
            input.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
        if lines.is_empty() {
            return;
        }
        let (i, j) = (self.below(lines.len()), self.below(lines.len()));
        match self.below(4) {
            0 => drop(lines.remove(i)),
            1 => lines.insert(j, lines[i].clone()),
            2 => lines.swap(i, j),
            _ => {
                let other = self.any().to_vec();
                let others: Vec<&[u8]> = other.split_inclusive(|&byte| byte == b'\n').collect();
                if let Some(line) = others.get(self.below(others.len())) {
                    lines.insert(i, line.to_vec());
                }
            }
        }
        *input = lines.concat();
    }

    fn deep(&mut self, input: &mut Vec<u8>) {
        let (open, close) =
            [("[", "]"), ("{\"a\":", "}"), ("(", ")"), ("a=[", "]"), ("{a=", "}"), ("[a.", "]")]
                [self.below(6)];
        let depth = 1 << self.below(15);
        let text = open.repeat(depth) + &close.repeat(if self.below(2) == 0 { depth } else { 0 });
        self.insert(input, text.as_bytes());
    }

    fn long(&mut self, input: &mut Vec<u8>) {
        let part = input[self.stretch(input)].to_vec();
        let times = 1 << self.below(13);
        self.insert(input, &part.repeat(times.min((1 << 22) / part.len().max(1))));
    }
}

/// Words and numbers: stretches of what they are made of.
fn tokens(input: &[u8]) -> Vec<std::ops::Range<usize>> {
    let is_part =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+' | b'_') || byte >= 0x80;
    let mut tokens: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, &byte) in input.iter().enumerate() {
        match tokens.last_mut() {
            Some(last) if is_part(byte) && last.end == at => last.end += 1,
            _ if is_part(byte) => tokens.push(at..at + 1),
            _ => {}
        }
    }
    tokens
}
