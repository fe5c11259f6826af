//! What `docs/configuration.md` says beside the declarations of the settings.

pub const INTRODUCTION: &str = "# Configuration

Every setting of Drover: its default, what it allows, what it does, and whether a running service takes a new value on SIGHUP. This page is for whoever writes
`drover.toml`. `drover config docs` writes it from the declarations of the settings; a test keeps it so.

## Where settings come from
There are four places, the later outranking the earlier:

1. the defaults below;
2. a TOML file: the one named by `--config` or `DROVER_CONFIG`, else `drover.toml` in the working directory, else `/etc/drover/drover.toml`;
3. the environment: `DROVER_` and the key in capitals with `_` for each dot, as in `DROVER_REST_TIMEOUT=5s`;
4. flags: `--set rest.timeout=5s`.

In the environment, settings by name take a list, as in `DROVER_MODES_QUEUE=root.etl=off,root.adhoc=advise`. An empty variable states nothing, and one that names
no setting is ignored with a warning.

- `drover config show` shows every value that holds and where it came from, that of the preset where a setting is not set.
- `drover config sample` writes a file to start from.
- A key that does not exist, a value out of range or a unit that is missing is an error, which names the file and line, the key and what is allowed.
- Two different values for one key in the file, or in one variable, are an error, too: none of them is taken. Of two flags the later counts.
- So is a `drover.toml` where one is looked for that is no file: a directory, a pipe, a link to what is not there.
- Where presets differ, a default is followed by what `paper` has in its place, `paper-hotcloud` where that differs again, and `paper` under a policy whose own paper
  says otherwise (`of` that policy).
- Times are written `500ms`, `10s`, `5m`, `1h`, `2d`, sizes `64KiB`, `4MiB`, `1GiB`, shares as numbers from 0 to 1.

## What SIGHUP changes
On SIGHUP a running service reads its configuration again.

- Settings marked *reload* change at once.
- The others wait for a restart, as does what the files of `cluster.conf_dir` and `rest.ca_file` hold, which are read at the start alone. The log, `drover status` and
  `drover doctor` name them.
- A configuration with an error changes nothing. Nor does one that looks half written: its file does not end with a line's end, or leaves out what was stated of
  `cluster.*`, `listen.*`, `state.dir` or `govern.unsafe_outputs`, or a `mode` or `modes.*` that kept Drover from more.
- So a queue or a user is let go by `act` in place of the mode, and the list is emptied by `[]`. Once that has been read, the line may go, too.
- Any other setting that is left out has its default again. A half may end with a line: write the file beside and move it into its place.
- A mode that keeps less from being done than before is logged as a warning; so is one of the file that does not hold, as the environment or a flag says another.
";

/// What each policy and estimator does, below the table of the settings that choose them.
pub const CHOICES: &str = "
### Policies
What `policy` may name. [Advisory mode](advisory.md#what-is-advised) tells how `drover`, the default, decides.

- `drover`: clones as `dolly`'s where a job's are admitted; else `mantri`'s choice among the tasks that `late` finds slow.
- `late`: the slow task with the longest time left (LATE, OSDI 2008, §4).
- `late-early`: the same while tasks still wait to start, which Mantri (OSDI 2010, §6.3) found worse. It is there to compare with in advice, as the shim starts no
  copy then.
- `mantri`: copies and restarts that pay (Mantri, §5.1).
- `dolly`: clones of small jobs from their start on (Dolly, NSDI 2013, §3).
- `blacklist`: no copies, but no tasks on machines that make them straggle (Dolly, §2.1.2). Drover names these machines; Hadoop does not obey.
- `hadoop`: Hadoop's own speculator of today, faults included.
- `hadoop-tuned`: the same, ready for the next copy after 1 s instead of 15 s.
- `hadoop-0.20`: Hadoop's as LATE found it (LATE, §2.1).
- `mapreduce`: back-up tasks near a phase's end.
- `dryad`: of those the ones that have run long.
- `none`: nothing.

### Estimators
What `estimator` may name. `/api/v1/calibration` and `drover calibration` show how each has proved.

- `phase-aware`, the default: phase by phase, as LATE §4.2 suggests.
- `late`: by the progress rate of the whole attempt (LATE, §4).
- `mantri`: by the bytes read (Mantri, §5.5). The policies `mantri` and `drover` always go by it where they weigh copies.
- `hadoop-legacy`, `hadoop-smoothed`, `hadoop-simple-exponential`: as Hadoop's own estimators do, faults included. The policies `hadoop` and `hadoop-tuned` take
  one of these: `hadoop-legacy` where another is set.
";

pub const SAFE_OUTPUTS: &str = "
### Safe outputs
Two attempts of a task write at once, and only one of them may be kept. A job is given copies, clones or restarts, and advice of these, only where its outputs are
known to cope with that. Looked at are, as far as its configuration names them,

- its committer (`mapred.output.committer.class`);
- the factory of its committer (`mapreduce.outputcommitter.factory.class`, or that of the scheme it writes to);
- its output format.

Each of them must be on this list or in `govern.safe_outputs`, and none in `govern.unsafe_outputs`. What a job leaves unset is Hadoop's own default, which is safe.
A name that ends in `.` stands for all that it begins; every other one is a class, by its full name.
";

pub const OTHER_OUTPUTS: &str = "All others are taken to be unsafe (`unsafe_output`), for nothing is known of them:

- `LazyOutputFormat`, which wraps another that Drover is not told of;
- `NamedCommitterFactory` and other factories that stand for any committer;
- Hive's (`HiveOutputFormatImpl`), HBase's, those of databases and search engines;
- committers that write in place (`DirectFileOutputCommitter`);
- every class of your own.

If you know that one copes with two attempts of a task, name it in `govern.safe_outputs`.
";
