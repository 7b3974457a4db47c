//! Is the truth in the interval that is printed? Histories of few past problems are drawn from a known world, a part is
//! held out as in a user's table, and the interval of the gain over Thompson sampling is held against the gain in that
//! world.
#![allow(clippy::unwrap_used)]

use gradband::problem::{Cell, Row, Table};
use gradband::{Prior, Problem, Simulator};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const HORIZON: usize = 50;
const POLICIES: [&str; 2] = ["softelim(w=0.5)", "thompson"];

/// 400 histories of each size, 95 % intervals: between 93 and 97 % of them hold the truth (fixed seeds; the standard
/// error of such a share is 1.1 %).
#[test]
fn intervals_cover_the_truth() {
    const HISTORIES: u32 = 400;
    let world = Problem::bernoulli(Prior::beta(2, 1.0, 1.0).unwrap()).horizon(HORIZON).build().unwrap();
    let truth = Simulator::new(&world).instances(400_000).compare(POLICIES).unwrap().difference(1, 0);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut uniform = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    for problems in [10, 20, 60] {
        let mut covered = 0;
        for history in 0..HISTORIES {
            let rows =
                (0..2 * problems).map(|_| Row::new(vec![Cell::Mean(uniform()), Cell::Mean(uniform())]));
            let table = Table::new(vec!["a".into(), "b".into()], rows.collect(), 0.5).unwrap();
            let problem = Problem::bernoulli(Prior::table(table)).horizon(HORIZON).build().unwrap();
            let simulator = Simulator::new(&problem).seed(u64::from(history)).instances(40 * problems);
            let comparison = simulator.compare(POLICIES).unwrap();
            assert_eq!(comparison.observations(), problems);
            let interval = comparison.interval(&comparison.difference(1, 0));
            covered += u32::from(interval.low <= truth.mean && truth.mean <= interval.high);
        }
        let share = f64::from(covered) / f64::from(HISTORIES);
        assert!(
            (0.93..=0.97).contains(&share),
            "{problems} past problems: {share} of the intervals hold {truth}"
        );
    }
}
