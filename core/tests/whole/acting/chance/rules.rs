//! What a run of the world may do.

use super::*;
use drover_core::policy::{BlacklistParams, DollyParams, MantriParams};

/// How many copies may be: in the cluster of 64 slots, of a user's and a queue's jobs, in a job of sixteen maps, for attempts on one host, and in a minute.
#[derive(Debug, Clone, Copy)]
pub struct Caps {
    pub cluster: u32,
    pub user: u32,
    pub queue: u32,
    pub job: u32,
    pub node: u32,
    pub minute: u32,
}

impl Caps {
    fn govern(self) -> GovernParams {
        let of_cluster = |copies: u32| f64::from(copies.min(self.cluster)) / f64::from(self.cluster);
        GovernParams {
            cluster_cap: f64::from(self.cluster) / 64.0,
            cluster_floor: 0,
            user_cap: of_cluster(self.user),
            queue_cap: of_cluster(self.queue),
            job_cap: f64::from(self.job) / f64::from(MAPS),
            job_floor: 0,
            node_copies: self.node,
            copies_per_minute: Some(self.minute),
            breaker_below: 0.0,
            ..acting().govern
        }
    }
}

fn caps() -> impl Strategy<Value = Caps> {
    (1u32..20, 1u32..20, 1u32..20, 1u32..9, 1u32..9, 1u32..60)
        .prop_map(|(cluster, user, queue, job, node, minute)| Caps { cluster, user, queue, job, node, minute })
}

fn policies() -> impl Strategy<Value = PolicyName> {
    use PolicyName::{Dolly, Drover, Dryad, HadoopTuned, Late, Mantri, MapReduce};
    // Those that do more than copy come more often.
    prop::sample::select(vec![Late, Late, Mantri, Mantri, Mantri, HadoopTuned, MapReduce, Dryad, Dolly, Drover, Drover])
}

/// One run's.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    pub policy: PolicyName,
    pub caps: Caps,
    /// Copies of a task need not come one after the other.
    pub together: bool,
    /// Mantri's alpha and gamma.
    pub alpha: u32,
    pub gamma: u32,
    /// A blacklist beside the policy, and clones by machine.
    pub beside: bool,
    pub by_machine: bool,
    /// Dolly's beta, in slots of the cluster's 64, and its p, where tasks have not shown any: at 0 nothing is cloned, at a twentieth two jobs can be.
    pub beta: u32,
    pub prior: f64,
    /// Copies of a job that may wait for their containers.
    pub unplaced: u32,
}

impl Rules {
    pub fn params(self) -> EngineParams {
        let blacklist = BlacklistParams { beside: self.beside, ..BlacklistParams::default() };
        let Rules { by_machine, prior, .. } = self;
        let beta = f64::from(self.beta) / 64.0;
        let dolly = DollyParams { beta, tau: 1.0, by_machine, prior, ..DollyParams::default() };
        let mantri = MantriParams { alpha: self.alpha, restarts_max: self.gamma, ..MantriParams::default() };
        let govern = GovernParams { waiting_copies: self.unplaced, ..self.caps.govern() };
        let govern =
            if self.together { GovernParams { copies_per_task: 0, futile_copies: 0, ..govern } } else { govern };
        EngineParams { policy: self.policy, govern, blacklist, dolly, mantri, ..acting() }
    }

    pub fn weighs_copies(self) -> bool {
        self.together && matches!(self.policy, PolicyName::Mantri | PolicyName::Drover)
    }
}

pub fn rules() -> impl Strategy<Value = Rules> {
    let more = (any::<bool>(), any::<bool>(), 16u32..=64, prop::sample::select(vec![0.0, 0.05, 0.1]), 1u32..9);
    (policies(), caps(), any::<bool>(), 1u32..3, 1u32..4, more).prop_map(
        |(policy, caps, together, alpha, gamma, (beside, by_machine, beta, prior, unplaced))| Rules {
            policy,
            caps,
            together,
            alpha,
            gamma,
            beside,
            by_machine,
            beta,
            prior,
            unplaced,
        },
    )
}
