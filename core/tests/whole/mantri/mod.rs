//! Mantri's Pseudocode 1, line by line, over scripted phases.

mod bytes;
mod lines;
mod measures;
mod orders;
mod third;
mod times;

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::estimate::Estimator;
use drover_core::estimate::calibration::Spreads;
use drover_core::estimate::phase::PhaseTimes;
use drover_core::govern::GovernParams;
use drover_core::model::*;
use drover_core::policy::hadoop_0_20::Hadoop020Params;
use drover_core::policy::view::ViewParams;
use drover_core::policy::{Judged, LateParams, MantriParams, PolicyName, TailParams, Thresholds, View};

/// A phase of maps that a shim tells of, looked at each second up to the eighth.
struct Phase {
    script: Script,
    id: JobId,
    maps: Vec<Vec<Run>>,
    mantri: MantriParams,
    now: u32,
}

fn run(launched: f64, takes: f64) -> Run {
    Run { launched, takes }
}

fn alone(takes: f64) -> Vec<Run> {
    vec![run(0.0, takes)]
}

impl Phase {
    /// Of so many maps in all, these.
    fn new(total: u32, maps: Vec<Vec<Run>>) -> Phase {
        Phase::under(EngineParams::default(), total, maps)
    }

    fn under(params: EngineParams, total: u32, maps: Vec<Vec<Run>>) -> Phase {
        Phase::as_set(EngineParams { policy: PolicyName::Mantri, ..params }, total, maps)
    }

    /// Under whatever policy is set.
    fn as_set(params: EngineParams, total: u32, maps: Vec<Vec<Run>>) -> Phase {
        let (mut script, id) = (Script::new(params), job_id(1));
        script.open_job(id, total, 0, at(0.0));
        script.say(at(0.0), Fact::ShimSession(id, true));
        Phase { script, id, maps, mantri: MantriParams::default(), now: 8 }
    }

    fn tell(&mut self, second: u32) {
        let now = f64::from(second);
        let seen = (0..).zip(&self.maps).map(|(index, runs)| runs_of(self.id.task(TaskKind::Map, index), runs, now));
        let (mut tasks, attempts): (Vec<_>, Vec<_>) = seen.unzip();
        let waiting = self.maps.len() as u32..self.script.engine.cluster().job(self.id).unwrap().totals.unwrap()[0];
        let waits =
            |index| TaskFact { state: Some(TaskState::Scheduled), ..TaskFact::of(self.id.task(TaskKind::Map, index)) };
        tasks.extend(waiting.map(waits));
        self.script.tasks(self.id, at(now), tasks);
        self.script.attempts(self.id, at(now), attempts.concat());
    }

    /// What the policy says of the last of the maps.
    fn last(mut self) -> Judged {
        (1..=self.now).for_each(|second| self.tell(second));
        let params = ViewParams {
            estimator: Estimator::default(),
            spreads: Spreads::UNMEASURED,
            t_rem_spreads: Spreads::UNMEASURED,
            start_lag: Millis(1_000),
            patience: drover_core::policy::view::Patience::default(),
            judge_native_copies: true,
            slow_factor: LateParams::default().slow_factor,
            earlier: PhaseTimes::default(),
        };
        let job = self.script.engine.cluster().job(self.id).unwrap();
        let view = View::new(job, TaskKind::Map, at(self.now.into()), &params);
        let (late, tail) = (LateParams::default(), TailParams::default());
        let thresholds =
            Thresholds { late: &late, tail: &tail, mantri: &self.mantri, hadoop_0_20: &Hadoop020Params::LATE };
        PolicyName::Mantri.judge(&view, &thresholds).pop().unwrap()
    }

    /// What the engine decides of it in two passes at last, and its verdict then.
    fn decided(&mut self) -> (Vec<(Action, Mode)>, Verdict) {
        (1..self.now).for_each(|second| self.tell(second));
        let mut decided = Vec::new();
        for second in [self.now, self.now + 1] {
            self.tell(second);
            decided.extend(self.script.decide(at(second.into())).decisions);
        }
        let task = self.id.task(TaskKind::Map, self.maps.len() as u32 - 1);
        let of_last = decided.iter().filter(|decision| decision.task == task);
        let verdict = self.script.engine.cluster().job(self.id).unwrap().task(task).unwrap().verdict;
        (of_last.map(|decision| (decision.action, decision.mode)).collect(), verdict.unwrap())
    }

    fn can(mut self, can: Capabilities) -> Phase {
        self.script.say(at(0.0), Fact::Can(self.id, can));
        self
    }
}

/// Four maps of five seconds each, and one more.
fn beside_four_of_5_s(last: Vec<Run>) -> Vec<Vec<Run>> {
    [vec![alone(5.0); 4], vec![last]].concat()
}

fn of(judged: &Judged) -> (Verdict, Action, &str) {
    let rule = judged.rule.as_deref().unwrap_or_default();
    let line = rule.split("line ").nth(1).map_or("", |rest| rest.split([' ', ':']).next().unwrap());
    (judged.verdict, judged.action, line)
}

/// Three of the finished took two seconds, two twenty times as long: by their mean a new copy is no better.
fn bimodal(last: Vec<Run>) -> Vec<Vec<Run>> {
    [vec![alone(2.0); 3], vec![alone(40.0); 2], vec![last]].concat()
}

/// Three copies of the last map, the third launched at that second.
fn three(third: f64) -> Vec<Vec<Run>> {
    beside_four_of_5_s(vec![run(0.0, 60.0), run(1.0, 20.0), run(third, 90.0)])
}
