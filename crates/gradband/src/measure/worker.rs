//! The other side of a crew: does the tasks that another process hands out.

use super::evaluate::Compared;
use super::gradient::Slopes;
use crate::error::{Error, Result};
use crate::policy::{Catalogue, Choice, lstm_network};
use crate::problem::{Problem, Step};
use crate::simulate::Player;
use crate::simulate::batch::{self, Quantity, Totals};
use crate::simulate::crew::{Kept, Order};
use std::sync::{Arc, Mutex, PoisonError};

/// Does the tasks of a [`Crew`](crate::Crew): plays chunks of instances and sums them up.
///
/// It needs the problem that the training or evaluation was asked for, with the same [`Problem::digest`], and rules of one's
/// own under the same names. It has no other state: any worker may do any task, twice too.
#[derive(Debug)]
pub struct Worker {
    problem: Arc<Problem>,
    catalogue: Catalogue,
    /// Parts of the problem, and the last policies: making them may take longer than a task.
    parts: Mutex<Vec<(Vec<Step>, Arc<Problem>)>>,
    last: Mutex<Option<Arc<Setup>>>,
}

/// Parts of a problem that are kept: a training tries five folds, each of which may have five.
const PARTS: usize = 8;

/// Who plays what.
struct Setup {
    described: Vec<u8>,
    problem: Arc<Problem>,
    choices: Vec<Choice>,
    players: Vec<Box<dyn Player>>,
}

impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Setup").field("choices", &self.choices).finish_non_exhaustive()
    }
}

impl Worker {
    /// A worker that has a problem, and knows these policies.
    pub fn new(problem: Problem, catalogue: Catalogue) -> Self {
        Self { problem: Arc::new(problem), catalogue, parts: Mutex::default(), last: Mutex::default() }
    }

    /// The problem that it has.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The answer to a task, on all threads.
    pub fn work(&self, task: &[u8]) -> Result<Vec<u8>> {
        let order = Order::read(task)?;
        let setup = self.setup(&order)?;
        let players: Vec<&dyn Player> = setup.players.iter().map(|player| &**player).collect();
        let job = order.job(&setup.problem);
        let (instances, units) = (order.instances, order.units.clone());
        let totals = |of| Totals { of, players: players.len() };
        match order.kept {
            Kept::Reward => batch::answer(&players, &job, instances, units, &totals(Quantity::Reward)),
            Kept::Regret => batch::answer(&players, &job, instances, units, &totals(Quantity::Regret)),
            Kept::Comparison => {
                let compared = Compared::new(players.len(), &job);
                batch::answer(&players, &job, instances, units, &compared)
            }
            Kept::Gradient => {
                let slopes = Slopes::new(players[0].dim(), &job);
                batch::answer(&players, &job, instances, units, &slopes)
            }
            Kept::Recurrent(temperature) => {
                let choice = &setup.choices[0];
                lstm_network(choice).answer(choice.params(), &job, temperature, instances, units)
            }
        }
    }

    fn setup(&self, order: &Order) -> Result<Arc<Setup>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(setup) if setup.described == order.setup => return Ok(setup.clone()),
            _ => {}
        }
        let problem = self.part(order)?;
        let choice = |described: &&[u8]| Choice::described(described, &problem, &self.catalogue);
        let choices = order.players.iter().map(choice).collect::<Result<Vec<_>>>()?;
        let player = |choice: &Choice| choice.player(&problem, &mut ());
        let players = choices.iter().map(player).collect::<Result<Vec<_>>>()?;
        let setup = Arc::new(Setup { described: order.setup.to_vec(), problem, choices, players });
        *last = Some(setup.clone());
        Ok(setup)
    }

    /// The part of the problem that is played.
    fn part(&self, order: &Order) -> Result<Arc<Problem>> {
        if order.digest != self.problem.digest() {
            let message =
                format!("the task is for another problem than {}, which this worker has", self.problem);
            return Err(Error::new("crew", message));
        }
        if order.steps.is_empty() {
            return Ok(self.problem.clone());
        }
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, part)) = parts.iter().find(|(steps, _)| *steps == order.steps) {
            return Ok(part.clone());
        }
        let root = Problem::clone(&self.problem);
        let part = Arc::new(order.steps.iter().try_fold(root, |problem, &step| problem.step(step))?);
        if parts.len() == PARTS {
            parts.remove(0);
        }
        parts.push((order.steps.clone(), part.clone()));
        Ok(part)
    }
}
