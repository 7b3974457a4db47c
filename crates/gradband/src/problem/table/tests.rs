//! Tables as they are built and drawn from: places of errors, the split, exchangeable arms, and what a redrawn world is
//! like.

use super::*;
use crate::numeric::stream::Key;
use crate::problem::{Prior, Problem};

fn names(count: usize) -> Vec<String> {
    (0..count).map(|arm| format!("arm{arm}")).collect()
}

fn means(means: &[f64]) -> Row {
    Row::new(means.iter().copied().map(Cell::Mean).collect())
}

fn stream(i: u64) -> Stream<One<f64>> {
    Stream::new((), Key::new(9), i)
}

#[track_caller]
fn refused(names: Vec<String>, rows: Vec<Row>, holdout: f64, expected: &str) {
    let error = Table::new(names, rows, holdout).unwrap_err().to_string();
    assert!(error.contains(expected), "'{expected}' is not in: {error}");
}

#[test]
fn errors_name_the_row() {
    let counts = |successes, trials| vec![Row::new(vec![Cell::Counts { successes, trials }; 2]); 2];
    let sample = |variance, count| {
        let cell = Cell::Sample { mean: 0.5, variance, count };
        vec![Row::new(vec![cell; 2]); 2]
    };
    refused(names(1), vec![means(&[0.5])], 0.0, "arms: found 1 arm(s), expected 2 to");
    refused(vec!["a".into(); 2], vec![means(&[0.5; 2])], 0.0, "arms: the name 'a' stands there twice");
    refused(names(2), vec![], 0.0, "rows: found no instance");
    refused(names(2), vec![means(&[0.5; 2]), means(&[0.5])], 0.0, "row 2: found 1 cell(s), expected 2");
    refused(names(2), vec![means(&[0.5, f64::NAN]); 2], 0.0, "row 1.arm 'arm1': found NaN");
    refused(names(2), counts(3.0, 2.0), 0.0, "row 1.arm 'arm0': found 3 successes in 2 trials");
    refused(names(2), counts(-1.0, 2.0), 0.0, "found -1 successes in 2 trials");
    refused(names(2), counts(0.5, 2.0), 0.0, "whole numbers");
    refused(names(2), sample(-1.0, 2.0), 0.0, "a variance of -1");
    refused(names(2), sample(1.0, 0.0), 0.0, "a count of 0");
    refused(names(2), vec![means(&[0.5; 2])], 1.0, "holdout: found 1");
    refused(names(2), vec![means(&[0.5; 2])], 0.0, "rows: found 1 past problem, expected at least 2");
    refused(names(2), vec![means(&[0.5; 2]); 3], 0.3, "rows: found 3 past problems: too few to hold out");
    let mixed = [counts(1.0, 2.0), sample(1.0, 2.0)].concat();
    refused(names(2), mixed, 0.0, "have counts and samples");
}

#[test]
fn means_beyond_the_unit_interval_are_refused_where_they_stand() {
    let rows = vec![means(&[0.5, 1.5]); 2];
    let in_lines = rows.iter().zip(2..).map(|(row, line)| Row { line: Some(line), ..row.clone() }).collect();
    for (table, expected) in [
        (Table::new(names(2), rows.clone(), 0.0), "row 1.arm 'arm1': found 1.5"),
        (Table::from_file("past.csv", names(2), rows.clone(), 0.0), "past.csv, row 1.arm 'arm1': found 1.5"),
        (Table::from_file("past.csv", names(2), in_lines, 0.0), "past.csv, line 2, arm 'arm1': found 1.5"),
        (Table::builder().arms(3).build(rows), "row 1.arm 2: found 1.5"),
    ] {
        let prior = Prior::table(table.unwrap());
        let error = Problem::bernoulli(prior).horizon(10).build().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// The same rows as ever are held out: the id decides, else the bits of the means.
#[test]
fn the_split_is_by_id_or_by_means() {
    let held_out = |with_id: bool| {
        let row = |i: u32| Row { id: with_id.then(|| i.to_string()), ..means(&[f64::from(i) / 8.0, 0.5]) };
        Table::new(names(2), (0..8).map(row).collect(), 0.4).unwrap().held_out
    };
    assert_eq!([held_out(true), held_out(false)], [[4, 5, 7], [3, 4, 6]]);
}

/// The draws of flat tables are those of 0.2.0: one uniform number, then a Beta(1 + s, 1 + f) for each arm.
#[test]
fn flat_tables_have_the_bits_of_old() {
    let cells =
        [(3.0, 10.0), (0.0, 0.0), (7.0, 7.0)].map(|(successes, trials)| Cell::Counts { successes, trials });
    let rows = vec![Row::new(cells.to_vec()), Row::new(cells.iter().rev().copied().collect())];
    let table = Table::builder().arm_names(names(3)).fit(Fit::Flat).build(rows).unwrap();
    for i in 0..100 {
        let (mut ours, mut old) = (stream(i), stream(i));
        let mut drawn = [0.0; 3];
        let cluster = table.sample(Split::Train, &mut ours, &mut drawn);
        assert_eq!(cluster, (old.uniform().0 * 2.0) as u32);
        let mut expected = [
            |old: &mut Stream<One<f64>>| sample_beta(old, 1.0 + 3.0, 1.0 + 10.0 - 3.0),
            |old: &mut Stream<One<f64>>| old.uniform().0,
            |old: &mut Stream<One<f64>>| sample_beta(old, 8.0, 1.0),
        ];
        if cluster == 1 {
            expected.reverse();
        }
        assert_eq!(drawn, expected.map(|draw| draw(&mut old)));
    }
}

/// Every ordered choice of 2 arms out of 4 is as likely as any other: chi-square with 11 degrees of freedom over 24,000
/// draws, below its 99.9 % point of 31.3. So are the orders of 3 out of 3, and the clusters.
#[test]
fn all_choices_and_orders_are_equally_likely() {
    let rows = vec![means(&[0.1, 0.2, 0.3, 0.4]), means(&[0.5, 0.6])];
    let table = Table::builder().arms(2).build(rows).unwrap();
    let mut seen = std::collections::BTreeMap::<(u32, [u64; 2]), f64>::new();
    let draws = 24_000;
    for i in 0..draws {
        let mut drawn = [0.0; 2];
        let cluster = table.sample(Split::HeldOut, &mut stream(i), &mut drawn);
        *seen.entry((cluster, drawn.map(f64::to_bits))).or_default() += 1.0;
    }
    for (cluster, orders, allowed) in [(0, 12.0, 31.3), (1, 2.0, 10.9)] {
        let counts: Vec<f64> =
            seen.iter().filter(|((found, _), _)| *found == cluster).map(|(_, &count)| count).collect();
        let total: f64 = counts.iter().sum();
        assert!((total - 12_000.0).abs() < 3.3 * 77.5, "{total}: 99.9 % of a fair coin");
        let expected = total / orders;
        let chi_square: f64 = counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
        assert!(counts.len() as f64 == orders && chi_square < allowed, "{cluster}: {chi_square}");
    }
    assert!(seen.keys().all(|(_, drawn)| drawn[0] != drawn[1]), "no arm twice");
}

/// One known arm in three, the others from the fitted Beta: each position has the known one in a third of 30,000 draws, and
/// the unseen ones have the fitted mean, within 4 standard errors.
#[test]
fn missing_arms_come_from_the_fitted_prior() {
    let table = Table::builder().arms(3).build(vec![means(&[0.25]), means(&[0.5]), means(&[0.3])]).unwrap();
    let Some(Belief::Beta(a, b)) = table.fitted().unseen() else { panic!("{:?}", table.fitted()) };
    let (mean, variance) = moments((a, b));
    assert!((mean - 0.35).abs() < 1e-12 && (variance - 0.0175).abs() < 1e-12, "the moments of three means");
    let draws = 30_000;
    let (mut places, mut sum) = ([0_u32; 3], 0.0);
    for i in 0..draws {
        let mut drawn = [0.0; 3];
        let cluster = table.sample(Split::Train, &mut stream(i), &mut drawn);
        let known = [0.25, 0.5, 0.3][cluster as usize];
        let place = drawn.iter().position(|&mean| mean == known).unwrap();
        places[place] += 1;
        sum += drawn.iter().sum::<f64>() - known;
    }
    for count in places {
        assert!((f64::from(count) - 10_000.0).abs() < 4.0 * 81.7, "{places:?}");
    }
    let unseen = 2.0 * draws as f64;
    assert!((sum / unseen - mean).abs() < 4.0 * (variance / unseen).sqrt(), "{}", sum / unseen);
}

#[test]
fn measured_means_are_shrunk_as_the_posterior_says() {
    let sample = |mean, variance, count| Cell::Sample { mean, variance, count };
    let rows = |count| {
        let row = |x: f64| Row::new(vec![sample(x, 4.0, count), sample(-x, 4.0, count)]);
        vec![row(1.0), row(3.0)]
    };
    // Errors of 4 / 4: tau² = mean square 5 - 1; a fifth of each deviation is noise.
    let table = Table::new(names(2), rows(4.0), 0.0).unwrap();
    let Some(Belief::Normal { mean, variance }) = table.fitted().unseen() else { panic!() };
    assert!(mean.abs() < 1e-9 && (variance - 4.0).abs() < 1e-6, "{mean}, {variance}");
    assert_eq!(table.noise_sd(), Some(2.0));
    let Belief::Normal { mean, variance } = table.fitted().belief(sample(3.0, 4.0, 4.0)) else { panic!() };
    assert!((mean - 2.4).abs() < 1e-6 && (variance - 0.8).abs() < 1e-6, "{mean}, {variance}");
    // Without a variance of its own, the pooled one.
    assert_eq!(table.fitted().belief(sample(3.0, 0.0, 4.0)), table.fitted().belief(sample(3.0, 4.0, 4.0)));
    // Errors above the spread: all arms are the same.
    let table = Table::new(names(2), rows(1.0), 0.0).unwrap();
    assert_eq!(table.noise_sd(), None, "nobody knows the variance of one");
    let noisy = vec![Row::new(vec![sample(0.1, 4.0, 2.0), sample(0.2, 4.0, 2.0)]); 2];
    let table = Table::new(names(2), noisy.clone(), 0.0).unwrap();
    assert_eq!(table.fitted().doubt(), Some(Doubt::Equal));
    let flat = Table::builder().arm_names(names(2)).fit(Fit::Flat).build(noisy.clone()).unwrap();
    let belief = flat.fitted().belief(sample(0.1, 4.0, 2.0));
    assert_eq!(belief, Belief::Normal { mean: 0.1, variance: 2.0 });
    let error = Table::builder().arms(3).fit(Fit::Flat).build(noisy.clone()).unwrap_err().to_string();
    assert!(error.starts_with("fit: \"flat\" says nothing about arms that a past problem lacks"), "{error}");
    let error = Table::builder().arm_names(names(2)).fit(Fit::Beta).build(noisy.clone()).unwrap_err();
    assert!(error.to_string().starts_with("fit: \"beta\" goes with successes and trials"), "{error}");
    let table = Prior::table(Table::new(names(2), noisy, 0.0).unwrap());
    let error = Problem::bernoulli(table).horizon(9).build().unwrap_err().to_string();
    assert!(error.contains("row 1.arm 'arm0'") && error.contains("kind = \"gaussian\""), "{error}");
}

/// What the fit is of follows from the rewards where all that is known are means.
#[test]
fn means_are_fitted_as_the_rewards_are() {
    let table =
        || Prior::table(Table::new(names(2), vec![means(&[0.2, 0.4]), means(&[0.3, 0.9])], 0.0).unwrap());
    let fitted = |problem: Problem| {
        let Prior::Table(table) = &problem.armed().unwrap().prior else { panic!() };
        table.fitted().fit()
    };
    assert_eq!(fitted(Problem::bernoulli(table()).horizon(9).build().unwrap()), Fit::Beta);
    assert_eq!(fitted(Problem::gaussian(table(), 1.0).horizon(9).build().unwrap()), Fit::Normal);
    let said =
        Table::builder().arm_names(names(2)).fit(Fit::Normal).build(vec![means(&[0.2, 0.4]); 2]).unwrap();
    let error = Problem::bernoulli(Prior::table(said)).horizon(9).build().unwrap_err().to_string();
    assert!(error.starts_with("prior.fit: \"normal\" leaves [0, 1]"), "{error}");
}

/// A table of arms whose means are drawn from Beta(2, 198), with 200 trials each: 4,000 past problems of 5 arms.
fn of_clicks(fit: Fit) -> Table {
    let row = |i: u64| {
        let mut stream = Stream::new((), Key::new(77), i);
        let cell = |_| {
            let mean = sample_beta(&mut stream, 2.0, 198.0);
            let successes = (0..200).filter(|_| stream.uniform().0 < mean).count() as f64;
            Cell::Counts { successes, trials: 200.0 }
        };
        Row::new((0..5).map(cell).collect())
    };
    Table::builder().arm_names(names(5)).fit(fit).build((0..4_000).map(row).collect()).unwrap()
}

/// Mean and standard deviation of arms' means over 100,000 instances.
fn redrawn(table: &Table) -> (f64, f64) {
    let (mut sum, mut squares, mut drawn) = (0.0, 0.0, [0.0; 5]);
    for i in 0..100_000 {
        table.sample(Split::Train, &mut stream(i), &mut drawn);
        for mean in drawn {
            sum += mean;
            squares += mean * mean;
        }
    }
    let mean = sum / 500_000.0;
    (mean, (squares / 500_000.0 - mean * mean).sqrt())
}

/// 20,000 cells have the mean to 0.7 % and the spread to 1.5 % (standard errors of the table itself): 3 and 5 % are more
/// than three of them. Redrawn without a prior, means are half as high again and their spread is almost twice as large.
#[test]
fn a_fitted_world_is_the_one_that_the_counts_came_from() {
    let truth = moments((2.0, 198.0));
    let (mean, sd) = redrawn(&of_clicks(Fit::Beta));
    assert!((mean / truth.0 - 1.0).abs() < 0.03, "{mean}");
    assert!((sd / truth.1.sqrt() - 1.0).abs() < 0.05, "{sd}");
    let flat = of_clicks(Fit::Flat);
    let (mean, sd) = redrawn(&flat);
    assert!((1.4..1.6).contains(&(mean / truth.0)), "{mean}");
    assert!((1.6..2.0).contains(&(sd / truth.1.sqrt())), "{sd}");
    let told = flat.fitted().moments();
    assert!((told.0 / mean - 1.0).abs() < 0.01 && (told.1.sqrt() / sd - 1.0).abs() < 0.01, "{told:?}");
}
