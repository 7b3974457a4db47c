//! Every target reads its corpus, and a little damage: a first sign, in seconds. `make fuzz` is for the rest.
#![allow(clippy::unwrap_used)]

use gradband_fuzz::TARGETS;
use gradband_fuzz::mutate::Mutator;

#[test]
fn every_corpus_is_accepted() {
    for target in TARGETS {
        for (i, input) in target.corpus().iter().enumerate() {
            assert!((target.run)(input), "{}, file {i}", target.name);
        }
    }
}

#[test]
fn a_little_damage_does_no_harm() {
    for target in TARGETS {
        let mut mutator = Mutator::new(7, target.corpus());
        for _ in 0..200 {
            let input = mutator.next_input();
            (target.run)(&input);
        }
    }
}
