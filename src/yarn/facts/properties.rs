//! A configuration's properties by name, of which only those that matter here are kept.

use super::{Reason, Refused};
use crate::yarn::wire::job::Conf;
use std::collections::HashMap;
use std::str::FromStr;

/// What share of a container's memory its heap has.
pub(super) const HEAP_RATIO: &str = "mapreduce.job.heap.memory-mb.ratio";

/// Who makes a committer in the new API, whatever the output.
pub(super) const COMMITTER_FACTORY: &str = "mapreduce.outputcommitter.factory.class";

/// The same for outputs of the scheme that follows.
const OF_SCHEME: &str = "mapreduce.outputcommitter.factory.scheme.";

/// Where the output goes.
const OUTPUT: &str = "mapreduce.output.fileoutputformat.outputdir";

/// What is read of a configuration, beside the factories of schemes.
pub const KEYS: [&str; 37] = [
    "mapreduce.map.speculative",
    "mapreduce.reduce.speculative",
    "mapreduce.task.progress-report.interval",
    "mapreduce.task.timeout",
    "drover.mode",
    "mapred.output.committer.class",
    COMMITTER_FACTORY,
    OUTPUT,
    "mapreduce.job.outputformat.class",
    "mapred.output.format.class",
    "mapred.mapper.new-api",
    "mapred.reducer.new-api",
    "mapreduce.job.reduces",
    "yarn.app.mapreduce.am.job.speculator.class",
    "mapreduce.map.memory.mb",
    "mapreduce.map.resource.memory",
    "mapreduce.map.resource.memory-mb",
    "mapreduce.map.resource.vcores",
    "mapreduce.map.cpu.vcores",
    "mapreduce.reduce.memory.mb",
    "mapreduce.reduce.resource.memory",
    "mapreduce.reduce.resource.memory-mb",
    "mapreduce.reduce.resource.vcores",
    "mapreduce.reduce.cpu.vcores",
    "mapreduce.job.reduce.slowstart.completedmaps",
    "mapreduce.admin.map.child.java.opts",
    "mapreduce.admin.reduce.child.java.opts",
    "mapreduce.map.java.opts",
    "mapreduce.reduce.java.opts",
    "mapred.child.java.opts",
    HEAP_RATIO,
    "mapreduce.job.node-label-expression",
    "mapreduce.map.node-label-expression",
    "mapreduce.reduce.node-label-expression",
    "mapreduce.job.num-opportunistic-maps-percent",
    "mapreduce.map.maxattempts",
    "mapreduce.reduce.maxattempts",
];

/// The values of these in one configuration.
pub(super) struct Properties<'a> {
    values: HashMap<&'a str, &'a str>,
    pub(super) refused: &'a mut Refused,
}

impl<'a> Properties<'a> {
    /// Those of a configuration; what cannot be read of it is counted.
    pub(super) fn of(wire: &'a Conf, refused: &'a mut Refused) -> Properties<'a> {
        refused.many(Reason::NoObject, wire.property.odd);
        let known = |name: &&str| KEYS.contains(name) || name.starts_with(OF_SCHEME);
        let pairs = wire
            .property
            .items
            .iter()
            .filter_map(|p| Some((p.name.as_deref().filter(known)?, p.value.as_deref()?.trim())));
        Properties { values: pairs.filter(|(_, v)| !v.is_empty()).collect(), refused }
    }

    /// A value as it is written.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.values.get(key).copied()
    }

    /// Who makes the committer of a job in the new API: what is set for all outputs, else for the scheme of its own (`PathOutputCommitterFactory.getCommitterFactory`).
    pub(super) fn committer_factory(&self) -> Option<&str> {
        let of_scheme = || self.text(&format!("{OF_SCHEME}{}", self.text(OUTPUT)?.split_once("://")?.0));
        self.text(COMMITTER_FACTORY).or_else(of_scheme)
    }

    /// A value of that type; one that is there and is none is counted and as absent.
    pub(super) fn read<T: FromStr>(&mut self, key: &str) -> Option<T> {
        let parsed = self.text(key)?.to_ascii_lowercase().parse().ok();
        if parsed.is_none() {
            self.refused.add(Reason::BadProperty);
        }
        parsed
    }
}
