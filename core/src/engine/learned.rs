//! What is learned over jobs, and so outlasts them: taken out of one engine, it is what another goes on from. What live jobs have is not among it, nor what the cluster tells anew.

use super::Engine;
use crate::estimate::calibration::Calibration;
use crate::estimate::odds::NamedOdds;
use crate::estimate::prior::Priors;
use crate::estimate::shuffle::Shuffles;
use crate::govern::breaker::Breakers;
use crate::govern::nodes::NamedRests;
use crate::model::Time;
use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

/// The form that [`Learned`] is serialised in. What reads no more, or says something else, gets another number. So does a field that is new and changes what one that was there means, though an
/// older build reads over it: that one would go on from the old field as if it meant what it did.
pub const LEARNED_FORMAT: u32 = 1;

/// One of the rooms that learn over jobs, those first that hold copies back. Each stands for itself: of one that is lost the others know nothing less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Room {
    /// How each policy's copies fared, by user.
    Breakers,
    /// Hosts where copies came to nothing, by user.
    NodeRests,
    /// How often tasks straggle and outputs are lost, by machine and anywhere.
    Odds,
    /// How good estimates were.
    Calibration,
    /// How long tasks took.
    Priors,
    /// How reduces read.
    Shuffles,
}

impl Room {
    /// Every one.
    pub const ALL: [Room; 6] =
        [Room::Breakers, Room::NodeRests, Room::Odds, Room::Calibration, Room::Priors, Room::Shuffles];

    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            Room::Odds => "odds",
            Room::Calibration => "calibration",
            Room::Priors => "priors",
            Room::Shuffles => "shuffles",
            Room::Breakers => "breakers",
            Room::NodeRests => "node_rests",
        }
    }
}

/// What one room has learned: hosts go by their names, and whose jobs it rests on is kept with it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Learned {
    /// See [`Room::Odds`].
    Odds(Box<NamedOdds>),
    /// See [`Room::Calibration`].
    Calibration(Box<Calibration>),
    /// See [`Room::Priors`].
    Priors(Priors),
    /// See [`Room::Shuffles`].
    Shuffles(Shuffles),
    /// See [`Room::Breakers`].
    Breakers(Breakers),
    /// See [`Room::NodeRests`].
    NodeRests(NamedRests),
}

impl Learned {
    /// Whose it is.
    pub fn room(&self) -> Room {
        match self {
            Learned::Odds(_) => Room::Odds,
            Learned::Calibration(_) => Room::Calibration,
            Learned::Priors(_) => Room::Priors,
            Learned::Shuffles(_) => Room::Shuffles,
            Learned::Breakers(_) => Room::Breakers,
            Learned::NodeRests(_) => Room::NodeRests,
        }
    }
}

/// What an engine knows over jobs, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// Tasks that p rests on.
    pub tasks: u64,
    /// Machines of which anything is known.
    pub machines: u64,
    /// Predictions that have been set against what happened, older ones counting less.
    pub predictions: u64,
    /// Kinds of jobs whose tasks' times are known.
    pub kinds: u64,
    /// Breakers that are open.
    pub breakers: u64,
    /// Hosts that users' copies are kept off.
    pub rests: u64,
}

impl Engine {
    /// What one room has learned. It takes what copying that takes.
    pub fn learned(&self, room: Room) -> Learned {
        // Without `..`: whoever adds a field says whether it outlasts jobs.
        let Engine {
            cluster,
            breakers,
            node_rests,
            odds,
            calibration,
            priors,
            shuffles,
            params: _,
            flights: _,
            clones: _,
            measures: _,
            debounce: _,
            listed: _,
            locations: _,
            decisions: _,
            changed: _,
            roomless: _,
            ended: _,
            due: _,
            found: _,
            last_pass: _,
        } = self;
        match room {
            Room::Odds => Learned::Odds(Box::new(odds.named(&cluster.hosts))),
            Room::Calibration => Learned::Calibration(Box::new(calibration.learnt())),
            Room::Priors => Learned::Priors(priors.clone()),
            Room::Shuffles => Learned::Shuffles(shuffles.clone()),
            Room::Breakers => Learned::Breakers(breakers.clone()),
            Room::NodeRests => Learned::NodeRests(node_rests.named(&cluster.hosts)),
        }
    }

    /// Goes on, at `now`, from what an earlier engine had learned: instead of what this one has of that room. Windows, rests and half-lives have run on meanwhile.
    pub fn resume(&mut self, learned: Learned, now: Time) {
        let hosts = &mut self.cluster.hosts;
        match learned {
            Learned::Odds(odds) => {
                self.odds.resume(*odds, hosts);
                self.odds.roll(now);
            }
            Learned::Calibration(calibration) => self.calibration.resume(*calibration),
            Learned::Priors(priors) => self.priors.resume(priors),
            Learned::Shuffles(shuffles) => self.shuffles.resume(shuffles),
            Learned::Breakers(breakers) => {
                self.breakers.resume(breakers);
                self.breakers.rest(&self.params.govern, now);
            }
            Learned::NodeRests(rests) => {
                self.node_rests.resume(rests, hosts);
                self.node_rests.roll(&self.params.govern, now);
            }
        }
    }

    /// What it knows over jobs, in numbers.
    pub fn known(&self) -> Known {
        let count = |number: usize| number as u64;
        let overall = self.calibration.overall();
        Known {
            tasks: self.odds.cluster().evidence().round() as u64,
            machines: count(self.odds.machines().count()),
            predictions: overall.cells().map(|(_, accuracy)| u64::from(accuracy.evidence())).sum(),
            kinds: count(self.priors.kinds()),
            breakers: count(self.breakers.open().len()),
            rests: count(self.node_rests.count_resting(&self.params.govern)),
        }
    }
}
