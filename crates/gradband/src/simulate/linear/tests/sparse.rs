//! Contexts that differ from a common one in few places: against the oracle, which knows nothing of that, and against the same contexts
//! read in full.

use super::*;
use crate::problem::{Classification, Examples, ExamplesBuilder, Scale};

/// Four one-hot features of ten values each, and three classes that have to do with them.
fn one_hot() -> Examples {
    let mut rows = ExamplesBuilder::new(Scale::MinMax, 0.0).unwrap();
    for i in 0..500_usize {
        let places = [i % 10, 10 + i / 3 % 10, 20 + i * i % 7, 30 + i / 10 % 10];
        let x: Vec<_> = (0..40).map(|j| f64::from(u8::from(places.contains(&j)))).collect();
        rows.push(&x, ["a", "b", "c"][(i % 10 / 4 + i / 3 % 2) % 3]).unwrap();
    }
    rows.finish(None).unwrap().0
}

/// The same contexts, of which nobody knows that they are examples.
#[derive(Debug)]
struct InFull(Classification);

impl ContextModel for InFull {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn longest_squared(&self) -> f64 {
        self.0.longest_squared()
    }
    fn draw(&self, draw: &Draw, instance: &mut Instance) {
        self.0.draw(draw, instance);
    }
}

#[test]
fn gradients_are_those_of_the_oracle() {
    let problem = Problem::classification(one_hot()).horizon(40).build().unwrap();
    assert!(problem.contextual().and_then(|contextual| contextual.examples()).unwrap().sparse().is_some());
    let plain = World::plain(40);
    for rank in [3, 12, 18] {
        for world in [plain, World { delay: Delay::Rounds(3), floor: 0.05, ..plain }] {
            check_policies_on(&space(rank, 40, false), &problem.with_world(world).unwrap(), false);
        }
    }
    // As many rows as features, of which two are not seen.
    check_policies_on(&space(40, 40, true), &problem, false);
}

/// With and without a constant feature, in single and in double precision, small states and larger ones: 20 instances. In single
/// precision a choice may fall the other way once in a while, and the run is another one from there on.
#[test]
fn nothing_changes_if_contexts_are_read_in_full() {
    let sparse = Problem::classification(one_hot()).horizon(60).build().unwrap();
    let full = Problem::contexts(InFull(Classification::new(one_hot())), 3).horizon(60).build().unwrap();
    let policy = SoftUcb { alpha: 0.8, temperature: 0.4, hard: false };
    for (rank, intercept) in [(1, false), (8, true), (16, false), (18, true)] {
        let dim = 40 + usize::from(intercept);
        let space = space(rank, dim, false);
        let projection = Projection::new(&space.w, rank, dim, space.ridge).with_intercept(intercept);
        for (precision, tolerance, least) in [(Precision::Double, 1e-9, 20), (Precision::Single, 1e-4, 18)] {
            let engine = Engine { basis: Basis::Projected, precision };
            let [found, expected] = [&sparse, &full]
                .map(|problem| played(&policy, &projection, engine, &job(problem, SELF), (5, 20)));
            let (what, length) = (format!("rank {rank}, {precision:?}"), found.1.len() / 20);
            let same: Vec<_> = (0..20).filter(|&i| found.0[i].reward == expected.0[i].reward).collect();
            assert!(same.len() >= least, "{what}: {same:?}");
            for i in same {
                let [found, expected] = [&found.1, &expected.1].map(|all| &all[i * length..][..length]);
                assert_close(found, expected, tolerance, &what);
            }
        }
    }
}
