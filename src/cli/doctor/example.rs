//! The canary's built-in job: an example of the Hadoop that is installed here.

use super::site::SHIM;
use crate::shown::shell_word;
use std::path::{Path, PathBuf};
use url::Url;

/// Hadoop's launcher and the jar of its examples.
#[derive(Debug, PartialEq, Eq)]
pub struct Example {
    launcher: PathBuf,
    jar: PathBuf,
}

/// That of `HADOOP_HOME`, else of the launcher in `PATH`.
pub fn found() -> Option<Example> {
    let homes = std::env::var_os("HADOOP_HOME").map(PathBuf::from).into_iter();
    let path = std::env::var_os("PATH").unwrap_or_default();
    // A launcher in PATH is mostly a link into bin/ of the distribution.
    let linked = std::env::split_paths(&path).filter_map(|dir| dir.join("hadoop").canonicalize().ok());
    homes.chain(linked.filter_map(|file| Some(file.parent()?.parent()?.to_owned()))).find_map(|home| inside(&home))
}

fn inside(home: &Path) -> Option<Example> {
    let launcher = home.join("bin/hadoop");
    let jars = std::fs::read_dir(home.join("share/hadoop/mapreduce")).ok()?;
    let is_example = |name: &str| name.starts_with("hadoop-mapreduce-examples-") && name.ends_with(".jar");
    let jar = jars
        .filter_map(|jar| Some(jar.ok()?.path()))
        .find(|jar| jar.file_name().and_then(|n| n.to_str()).is_some_and(is_example))?;
    launcher.is_file().then_some(Example { launcher, jar })
}

impl Example {
    /// The shell command that runs it, with the shim reporting to `shim`, and removes its output directory `out`.
    ///
    /// `teragen`, because `pi` switches its own speculation off, and an ApplicationMaster loads a speculator, hence the shim,
    /// only where speculation is on.
    pub fn line(&self, shim: Option<&Url>, out: &str) -> String {
        let (hadoop, jar) = (shell_word(&self.launcher.to_string_lossy()), shell_word(&self.jar.to_string_lossy()));
        let mut options = "-Dmapreduce.job.maps=2 -Dmapreduce.map.speculative=true".to_owned();
        if let Some(url) = shim {
            let urls = shell_word(&format!("-Ddrover.service.urls={url}"));
            options = format!("{options} -Dyarn.app.mapreduce.am.job.speculator.class={SHIM} {urls}");
        }
        // Its log tells the application. The exit status is the job's; a subshell, so that pasting the line into a terminal does not close it.
        format!(
            "HADOOP_ROOT_LOGGER=INFO,console {hadoop} jar {jar} teragen {options} 1000 {out}; ended=$?; {hadoop} fs -rm -r -f -skipTrash {out}; (exit $ended)",
            out = shell_word(out)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    /// A home whose launcher prints its arguments, one a line, and fails where `jar` comes first.
    fn home() -> tempfile::TempDir {
        let dir = tempfile::Builder::new().prefix("it's a home").tempdir().unwrap();
        let (bin, share) = (dir.path().join("bin"), dir.path().join("share/hadoop/mapreduce"));
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::create_dir_all(&share).unwrap();
        std::fs::write(bin.join("hadoop"), "#!/bin/sh\nprintf '%s\\n' \"$@\"\n[ \"$1\" != jar ] || exit 3\n").unwrap();
        std::fs::set_permissions(bin.join("hadoop"), PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::write(share.join("hadoop-mapreduce-examples-3.4.3.jar"), "").unwrap();
        dir
    }

    #[test]
    fn the_line_runs_the_example_with_the_shim_clears_up_and_ends_as_the_job_did() {
        let home = home();
        let url = Url::parse("http://a:7071/it's;exit&$(x)").unwrap();
        let line = inside(home.path()).unwrap().line(Some(&url), "out-1");
        let done = Command::new("sh").arg("-c").arg(&line).output().unwrap();
        let said = String::from_utf8(done.stdout).unwrap();
        let (jar, rest) = said.split_once("\nteragen\n").unwrap();
        assert!(jar.starts_with("jar\n") && jar.ends_with("hadoop-mapreduce-examples-3.4.3.jar"), "{said}");
        let expected = [
            "-Dmapreduce.job.maps=2",
            "-Dmapreduce.map.speculative=true",
            "-Dyarn.app.mapreduce.am.job.speculator.class=io.drover.shim.DroverSpeculator",
            &format!("-Ddrover.service.urls={url}"),
            "1000",
            "out-1",
        ];
        let (run, clear) = rest.split_once("\nfs\n").unwrap();
        assert_eq!(run.lines().collect::<Vec<_>>(), expected);
        assert_eq!(clear, "-rm\n-r\n-f\n-skipTrash\nout-1\n");
        assert_eq!(done.status.code(), Some(3), "the job's status, not that of clearing up");
    }

    #[test]
    fn without_the_shim_nothing_of_drovers_is_set_and_a_home_without_examples_is_none() {
        let example = Example { launcher: "/h/bin/hadoop".into(), jar: "/h/e.jar".into() };
        assert_eq!(
            example.line(None, "o"),
            "HADOOP_ROOT_LOGGER=INFO,console /h/bin/hadoop jar /h/e.jar teragen -Dmapreduce.job.maps=2 -Dmapreduce.map.speculative=true 1000 o; ended=$?; \
             /h/bin/hadoop fs -rm -r -f -skipTrash o; (exit $ended)"
        );
        let home = home();
        std::fs::remove_file(home.path().join("bin/hadoop")).unwrap();
        assert_eq!(inside(home.path()), None);
    }
}
