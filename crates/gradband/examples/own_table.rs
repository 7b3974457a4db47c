//! Past campaigns as clicks and views: SoftElim is tuned on two thirds of them and tried on the rest.

use gradband::problem::{Cell, Row, Split, Table};
use gradband::{Prior, Problem, Result, Simulator, Trainer};

/// Clicks of three designs in each of twelve past campaigns, of 400 views each.
const CLICKS: [[u32; 3]; 12] = [
    [18, 31, 22],
    [9, 12, 25],
    [41, 20, 33],
    [15, 14, 6],
    [28, 45, 30],
    [7, 19, 11],
    [33, 29, 52],
    [12, 26, 13],
    [22, 8, 17],
    [38, 24, 27],
    [16, 35, 29],
    [10, 13, 21],
];

/// Trains on a part of the table and compares on the other.
pub fn main() -> Result<()> {
    let cell = |&clicks: &u32| Cell::Counts { successes: f64::from(clicks), trials: 400.0 };
    let rows = CLICKS.iter().map(|campaign| Row::new(campaign.iter().map(cell).collect())).collect();
    let designs = ["plain", "picture", "video"].map(String::from).to_vec();
    let table = Table::new(designs, rows, 0.33)?;
    let [learn, test] = [Split::Train, Split::HeldOut].map(|split| table.rows(split).len());
    println!("{learn} campaigns to learn from, {test} held out");

    let problem = Problem::bernoulli(Prior::table(table)).name("designs").horizon(1_000).build()?;
    let trained = Trainer::new("softelim").seed(1).train(&problem)?;
    // Held-out campaigns alone; standard errors count campaigns, not simulations.
    let policies = [trained.policy(), &"softelim(w=1)".parse()?, &"thompson".parse()?];
    println!("{}", Simulator::new(&problem).instances(4_000).compare(policies)?);
    Ok(())
}
