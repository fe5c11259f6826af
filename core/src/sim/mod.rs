//! A Hadoop cluster in virtual time, for the very engine that the service runs: nobody can try a policy on a thousand machines first.
//!
//! Event by event: jobs arrive, containers are given out, attempts go through their stages at the pace of their nodes, and their reports reach the engine at exchanges, whose
//! decisions are carried out as an AM would. No policy, estimate or budget is in here; what slowness is tied to is the scenario's choice.

mod am;
mod asks;
mod attempt;
mod beats;
mod books;
mod calendar;
mod carry;
pub mod dist;
pub mod draw;
mod driver;
mod exact;
mod fail;
mod flow;
mod fluid;
mod hosts;
mod ideal;
mod job;
mod jobs;
mod kept;
mod links;
mod losses;
mod machine;
mod measures;
mod moments;
mod network;
mod oracle;
mod outcome;
mod place;
mod polls;
mod preempt;
mod reads;
mod replicas;
pub mod scenario;
mod serve;
mod shuffle;
mod starved;
mod stop;
mod task;
mod tell;
mod traced;
mod trouble;
mod watch;
mod whole;
mod world;
mod yarn;

pub use dist::Dist;
pub use hosts::{TracedHost, TracedHosts};
pub use ideal::{Actor, Ideal};
pub use kept::KeptRow;
pub use outcome::{BudgetUse, Decided, Failures, JobRow, Outcome, PhaseRow, WorkflowRow};
pub use scenario::{ARRIVES_MAX, Fault, QueueSpec, Scenario, TASKS_MAX};
pub use traced::{TracedJob, TracedPhase, TracedTask, TracedTasks};
pub use watch::{AttemptRow, End, Watch};
pub use world::{Stuck, run, run_watching};
