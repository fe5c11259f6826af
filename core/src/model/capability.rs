//! What can be done to a job.

use serde::{Deserialize, Serialize};

/// What can be done to a job where it runs: live Hadoop, a cluster seen over REST only, and the papers' idealised clusters differ in nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Capabilities {
    /// Start one more attempt of a running task.
    pub duplicate: bool,
    /// Kill an attempt so that its task starts anew.
    pub restart: bool,
    /// End one of several copies of a task without another taking its place. On Hadoop a kill always starts another while the task has not succeeded.
    pub withdraw: bool,
    /// Keep the tasks to come off a machine for a time.
    pub avoid: bool,
    /// Kill attempts that have succeeded, whose outputs are out of reach of those that read them, so that their tasks run again.
    pub rerun: bool,
    /// Put copies on named hosts.
    pub place: bool,
    /// Ask for copies on named hosts, which may get others all the same: on Hadoop a host can be preferred and not insisted on.
    pub prefer: bool,
    /// Start copies of a task that still waits for its first container. On Hadoop only RUNNING tasks can be copied: one that is SCHEDULED
    /// takes its whole job to ERROR when it is asked to (TaskImpl, T_ADD_SPEC_ATTEMPT).
    pub copy_waiting: bool,
    /// Run a whole job several times over, the first of these clones to end being the one that counts; their tasks are told as attempts of the job's own. Hadoop runs a job
    /// that is submitted twice as two jobs, the second of which fails at the first's output directory.
    pub job_clones: bool,
    /// Say which clone's output a clone of the next phase reads, and when. On Hadoop every copy of a reduce reads, of each map, the attempt that succeeded first; the others are
    /// killed then, and their outputs with them.
    pub reads: bool,
    /// Start waiting tasks in an order of one's choice. Hadoop starts maps by descending length of their splits, and knows no sizes of reduces.
    pub order: bool,
    /// Choose the rack of each reduce before it is launched.
    pub place_reduces: bool,
    /// Keep a finished task's output on another machine, too.
    pub replicate: bool,
    /// Run a task that has succeeded once more before its output is missed. On Hadoop a map runs again when readers could not fetch its output.
    pub precompute: bool,
    /// Give a copy the next free container before the job's own waiting tasks. On Hadoop it asks for one behind them (PRIORITY_MAP and PRIORITY_REDUCE are theirs, too).
    pub copy_first: bool,
}

impl Capabilities {
    /// Can anything at all be done about its running tasks? Without, mode `act` is `advise`.
    pub fn act_on_tasks(self) -> bool {
        self.duplicate || self.restart
    }

    /// Is there nothing among them that Hadoop does not have?
    pub fn are_hadoops(self) -> bool {
        let beyond = [
            [self.withdraw, self.place, self.copy_waiting, self.job_clones, self.reads],
            [self.order, self.place_reduces, self.replicate, self.precompute, self.copy_first],
        ];
        !beyond.into_iter().flatten().any(|can| can)
    }

    /// A job that nothing can be done to.
    pub const NONE: Capabilities = Capabilities {
        duplicate: false,
        restart: false,
        withdraw: false,
        avoid: false,
        rerun: false,
        place: false,
        prefer: false,
        copy_waiting: false,
        job_clones: false,
        reads: false,
        order: false,
        place_reduces: false,
        replicate: false,
        precompute: false,
        copy_first: false,
    };
}
