//! Policies for arms without contexts.

super::definition::policies![
    exp3,
    softelim,
    soft_index,
    boltzmann,
    epsilon_greedy,
    explore_then_commit,
    ucb1,
    ucb_v,
    thompson,
    gittins,
    bayes_optimal,
    random,
];

#[cfg(test)]
mod tests;
