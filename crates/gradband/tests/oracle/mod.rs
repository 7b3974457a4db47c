//! Slow and obvious versions: policies as formulas in double precision, and expectations by complete enumeration.
#![allow(dead_code, clippy::unwrap_used)]

/// What a policy may look at: every arm pulled so far and its reward.
#[derive(Clone, Default)]
pub struct Past(pub Vec<(usize, f64)>);

impl Past {
    pub fn pulls(&self, arm: usize) -> f64 {
        self.0.iter().filter(|step| step.0 == arm).count() as f64
    }

    pub fn sum(&self, arm: usize) -> f64 {
        self.0.iter().filter(|step| step.0 == arm).map(|step| step.1).sum()
    }

    pub fn mean(&self, arm: usize) -> f64 {
        self.sum(arm) / self.pulls(arm)
    }
}

/// pi_w(. | past) as the paper and facts define it.
#[derive(Clone, Copy, Debug)]
pub enum Naive {
    SoftElim,
    Boltzmann,
    EpsilonGreedy,
    Exp3,
    /// Over so many rounds.
    SoftIndex(usize),
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let top = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<_> = logits.iter().map(|x| (x - top).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|x| x / total).collect()
}

impl Naive {
    /// The policy of that name over so many rounds, if it is one of these.
    pub fn named(name: &str, horizon: usize) -> Option<Self> {
        match name {
            "softelim" => Some(Self::SoftElim),
            "boltzmann" => Some(Self::Boltzmann),
            "epsilon-greedy" => Some(Self::EpsilonGreedy),
            "exp3" => Some(Self::Exp3),
            "soft-index" => Some(Self::SoftIndex(horizon)),
            _ => None,
        }
    }

    pub fn probabilities(self, params: &[f64], arms: usize, past: &Past) -> Vec<f64> {
        let (w, round) = (params[0], past.0.len());
        if !matches!(self, Self::Exp3 | Self::SoftIndex(_)) && round < arms {
            return (0..arms).map(|arm| f64::from(u8::from(arm == round))).collect();
        }
        let k = arms as f64;
        match self {
            Self::SoftElim => {
                let best = (0..arms).map(|arm| past.mean(arm)).fold(f64::NEG_INFINITY, f64::max);
                let gap_score = |arm| 2.0 * (best - past.mean(arm)).powi(2) * past.pulls(arm);
                softmax(&(0..arms).map(|arm| -gap_score(arm) / (w * w)).collect::<Vec<_>>())
            }
            Self::Boltzmann => softmax(&(0..arms).map(|arm| past.mean(arm) / w).collect::<Vec<_>>()),
            Self::EpsilonGreedy => {
                // Equal ratios compare equal once rounded: ties go to the lowest index.
                let means: Vec<_> = (0..arms).map(|arm| past.mean(arm)).collect();
                let best = (0..arms).rev().max_by(|&i, &j| means[i].total_cmp(&means[j])).unwrap();
                (0..arms).map(|arm| w / k + if arm == best { 1.0 - w } else { 0.0 }).collect()
            }
            Self::Exp3 => {
                // S contains 1/pi of every earlier choice: replay them all.
                let mut s = vec![0.0; arms];
                for t in 0..round {
                    let pi = self.mixture(w, &s);
                    let (arm, reward) = past.0[t];
                    s[arm] += reward / pi[arm];
                }
                self.mixture(w, &s)
            }
            Self::SoftIndex(horizon) => {
                let &[m, k, alpha, gamma, delta, temperature] = params else { panic!("{params:?}") };
                let bound = |arm| {
                    let n = past.pulls(arm) + k;
                    let p = (past.sum(arm) + k * m) / n;
                    let s = (p * (1.0 - p) / (n + 1.0)).sqrt();
                    p + alpha * s * (1.0 + delta * (horizon - round) as f64 / n).ln().powf(gamma)
                };
                softmax(&(0..arms).map(|arm| bound(arm) / temperature).collect::<Vec<_>>())
            }
        }
    }

    fn mixture(self, w: f64, s: &[f64]) -> Vec<f64> {
        let k = s.len() as f64;
        let p = softmax(&s.iter().map(|x| w * x / k).collect::<Vec<_>>());
        p.iter().map(|p| (1.0 - w) * p + w / k).collect()
    }

    /// Expected reward on one Bernoulli instance, over every sequence of arms and rewards.
    pub fn reward(self, params: &[f64], means: &[f64], horizon: usize) -> f64 {
        self.remaining_reward(params, means, horizon, &mut Past::default())
    }

    fn remaining_reward(self, params: &[f64], means: &[f64], horizon: usize, past: &mut Past) -> f64 {
        if past.0.len() == horizon {
            return 0.0;
        }
        let pi = self.probabilities(params, means.len(), past);
        let mut total = 0.0;
        for (arm, &probability) in pi.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            total += probability * means[arm];
            for (reward, chance) in [(0.0, 1.0 - means[arm]), (1.0, means[arm])] {
                if chance > 0.0 {
                    past.0.push((arm, reward));
                    total += probability * chance * self.remaining_reward(params, means, horizon, past);
                    past.0.pop();
                }
            }
        }
        total
    }

    /// Its derivatives with respect to all parameters, by central differences (error of order h² = 1e-10).
    pub fn gradient(self, params: &[f64], means: &[f64], horizon: usize) -> Vec<f64> {
        let h = 1e-5;
        let moved = |param: usize, step: f64| {
            let mut params = params.to_vec();
            params[param] += step;
            self.reward(&params, means, horizon)
        };
        (0..params.len()).map(|param| (moved(param, h) - moved(param, -h)) / (2.0 * h)).collect()
    }
}
