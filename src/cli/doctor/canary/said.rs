//! What a command prints: the jobs that it says it has submitted, and the end of its words.

use drover_core::model::{AppId, JobId};

/// What each line of Hadoop's client log says before the id of the job that it has just submitted; the last is Hive's.
const HERALDS: [&str; 4] = ["Submitted application ", "The url to track the job: ", "Running job: ", "Starting Job = "];
/// Enough of a command's words for its error.
const KEPT: usize = 600;
/// A line is looked at no further than this.
const LINE_MAX: usize = 4_096;

/// What was heard of a command's two streams.
#[derive(Debug, Default)]
pub struct Said {
    /// In the order in which they were submitted.
    pub jobs: Vec<JobId>,
    out: Stream,
    err: Stream,
}

/// One of them.
#[derive(Debug, Default)]
struct Stream {
    line: Vec<u8>,
    end: Vec<u8>,
}

/// Which one.
#[derive(Debug, Clone, Copy)]
pub enum Which {
    Out,
    Err,
}

impl Said {
    /// Hears some more of it.
    pub fn hear(&mut self, which: Which, some: &[u8]) {
        let stream = match which {
            Which::Out => &mut self.out,
            Which::Err => &mut self.err,
        };
        stream.end.extend_from_slice(some);
        let extra = stream.end.len().saturating_sub(KEPT);
        stream.end.drain(..extra);
        for piece in some.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE_MAX.saturating_sub(stream.line.len());
            stream.line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                let job = submitted(&String::from_utf8_lossy(&stream.line));
                self.jobs.extend(job.filter(|job| !self.jobs.contains(job)));
                stream.line.clear();
            }
        }
    }

    /// The end of it, in one line.
    pub fn end(&self) -> String {
        let text = |stream: &Stream| String::from_utf8_lossy(&stream.end).into_owned();
        let all = text(&self.out) + " " + &text(&self.err);
        all.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The job that a line says was submitted: of itself or as its application, alone or in an address.
fn submitted(line: &str) -> Option<JobId> {
    let named = HERALDS.iter().find_map(|herald| Some(line.split_once(herald)?.1))?;
    let word = named.split_whitespace().next()?.trim_end_matches(',');
    word.split('/').find_map(|part| part.parse().ok().or_else(|| part.parse::<AppId>().ok().map(JobId)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(some: &[(Which, &str)]) -> Vec<String> {
        let mut said = Said::default();
        for (which, text) in some {
            said.hear(*which, text.as_bytes());
        }
        said.jobs.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_line_of_hadoops_client_log_tells_the_job_and_all_of_them_the_same_one() {
        let lines = [
            "26/11/30 07:00:00 INFO impl.YarnClientImpl: Submitted application application_5_0008\n",
            "2026-11-30 07:00:00,000 INFO mapreduce.Job: The url to track the job: http://rm:8088/proxy/application_5_0008/\n",
            "26/11/30 07:00:00 INFO mapreduce.Job: Running job: job_5_0008\r\n",
            "Submitted application application_5_0008 to ResourceManager at rm/10.0.0.1:8032\n",
            "Starting Job = job_5_0008, Tracking URL = http://rm:8088/proxy/application_5_0008/\n",
        ];
        for line in lines {
            assert_eq!(jobs(&[(Which::Err, line)]), ["job_5_0008"], "{line}");
        }
        assert_eq!(jobs(&lines.map(|line| (Which::Out, line))), ["job_5_0008"]);
    }

    #[test]
    fn an_id_that_is_not_said_to_be_submitted_is_anothers() {
        for line in [
            "Killed application application_5_0007\n",
            "Submitting tokens for job: job_5_0007\n",
            "waiting for job_5_0007 and for http://rm:8088/proxy/application_5_0007/\n",
            "Running job: job_local77_0001\n",
            "Submitted application\n",
        ] {
            assert_eq!(jobs(&[(Which::Out, line)]), [""; 0], "{line}");
        }
    }

    #[test]
    fn a_line_that_comes_in_pieces_and_between_those_of_the_other_stream_is_one() {
        let pieces = [
            (Which::Err, "x\nSubmitted appli"),
            (Which::Out, "Running job: job_5_00"),
            (Which::Err, "cation application_5_0001"),
            (Which::Err, "2\n"),
            (Which::Out, "08\nand so on"),
        ];
        assert_eq!(jobs(&pieces), ["job_5_0012", "job_5_0008"]);
    }

    #[test]
    fn a_stream_without_end_is_kept_by_its_end_alone() {
        let mut said = Said::default();
        for _ in 0..100 {
            said.hear(Which::Err, &[b'x'; 4_096]);
        }
        said.hear(Which::Out, b"of the other\n");
        said.hear(Which::Err, b" last  words\nSubmitted application application_5_0008\n");
        assert!(said.err.line.capacity() <= 2 * LINE_MAX && said.end().len() < 2 * KEPT);
        assert!(said.end().starts_with("of the other xxx") && said.end().contains("xxx last words Submitted"));
        assert_eq!(said.jobs.len(), 1, "a long line hides no other");
    }
}
