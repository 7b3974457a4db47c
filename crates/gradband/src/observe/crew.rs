//! Others who do the work: processes, machines.

use crate::error::Result;

/// Others who simulate in the place of this process's threads: a pool of processes, a cluster.
///
/// An [`Observer`](super::Observer) that has a crew hands it every simulation of a training or an evaluation. A task is a
/// few bytes to a few hundred kilobytes: which problem (by digest), which policies with which parameters, which instances;
/// its answer the sums over them. The other side gives each task to a [`Worker`](crate::measure::Worker) with the same
/// problem, in any order, as often as it likes: results have the same bits as without a crew.
///
/// ```
/// use gradband::measure::Worker;
/// use gradband::{Catalogue, Crew, Observer, Problem, Result, Trainer};
/// use std::sync::Arc;
///
/// /// The worker may live on another machine: what crosses the line are bytes.
/// struct Near(Worker);
/// impl Crew for Near {
///     fn hands(&self) -> usize {
///         2
///     }
///     fn play(&self, tasks: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
///         tasks.iter().map(|task| self.0.work(task)).collect()
///     }
/// }
/// struct Boss(Arc<dyn Crew>);
/// impl Observer for Boss {
///     fn crew(&self) -> Option<Arc<dyn Crew>> {
///         Some(self.0.clone())
///     }
/// }
/// let problem = Problem::named("bernoulli-2")?;
/// let worker = Worker::new(Problem::named("bernoulli-2")?, Catalogue::default());
/// let mut boss = Boss(Arc::new(Near(worker)));
/// let trainer = Trainer::new("softelim").iterations(10);
/// let (near, here) = (trainer.train_observed(&problem, &mut boss)?, trainer.train(&problem)?);
/// assert_eq!(near.choice().params(), here.choice().params());
/// # Ok::<(), gradband::Error>(())
/// ```
pub trait Crew: Send + Sync {
    /// How many tasks are worth handing out together: the number of workers, or a multiple of it if some are slower.
    fn hands(&self) -> usize;

    /// Has all tasks done, and returns their answers in the order of the tasks. A task that fails fails them all.
    fn play(&self, tasks: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>>;
}
