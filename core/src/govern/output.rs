//! Output committers and formats that cope with two attempts of one task.
//!
//! Two attempts write at once; only a committer that lets one of them commit, and a format that writes where that committer looks, keep the output right.
//! What is not known to do so is taken not to: copies have corrupted the output of direct writers and external stores.

/// Known to arbitrate: Hadoop's own file output, whose committer moves one attempt's files into place, and what is built on it. Names in full: formats that wrap
/// another (LazyOutputFormat) and factories that name another committer are as safe as what they stand for, which is not known here. NullOutputFormat itself
/// writes nothing; who writes elsewhere in a task has Hadoop's own speculation flags to say so.
pub const SAFE: &[&str] = &[
    "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter",
    "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitterFactory",
    "org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory",
    "org.apache.hadoop.mapreduce.lib.output.committer.manifest.",
    "org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory",
    "org.apache.hadoop.fs.azurebfs.commit.AzureManifestCommitterFactory",
    "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat",
    "org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat",
    "org.apache.hadoop.mapreduce.lib.output.SequenceFileAsBinaryOutputFormat",
    "org.apache.hadoop.mapreduce.lib.output.MapFileOutputFormat",
    "org.apache.hadoop.mapreduce.lib.output.NullOutputFormat",
    "org.apache.hadoop.mapred.FileOutputCommitter",
    "org.apache.hadoop.mapred.TextOutputFormat",
    "org.apache.hadoop.mapred.SequenceFileOutputFormat",
    "org.apache.hadoop.mapred.SequenceFileAsBinaryOutputFormat",
    "org.apache.hadoop.mapred.MapFileOutputFormat",
    "org.apache.hadoop.mapred.lib.NullOutputFormat",
    "org.apache.hadoop.mapred.lib.MultipleTextOutputFormat",
    "org.apache.hadoop.examples.terasort.TeraOutputFormat",
    "org.apache.parquet.hadoop.ParquetOutputFormat",
    "org.apache.parquet.hadoop.ParquetOutputCommitter",
    "org.apache.avro.mapreduce.AvroKeyOutputFormat",
    "org.apache.orc.mapreduce.OrcOutputFormat",
];

/// Is the class known to cope with two attempts? An operator's word goes before the built-in lists, and a ban before a permit.
pub fn is_safe(class: &str, safe: &[String], banned: &[String]) -> bool {
    let class = class.trim();
    let listed = |names: &[String]| names.iter().any(|name| matches(class, name));
    !listed(banned) && (listed(safe) || SAFE.iter().any(|name| matches(class, name)))
}

fn matches(class: &str, name: &str) -> bool {
    match name.strip_suffix('*') {
        Some(prefix) => class.starts_with(prefix),
        None if name.ends_with('.') => class.starts_with(name),
        None => class == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_to_arbitrate_is_not_safe() {
        assert!(is_safe("org.apache.hadoop.mapreduce.lib.output.TextOutputFormat", &[], &[]));
        assert!(is_safe("org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter", &[], &[]));
        assert!(!is_safe("org.apache.hadoop.mapreduce.lib.output.LazyOutputFormat", &[], &[]));
        assert!(!is_safe("org.apache.hadoop.mapreduce.lib.output.NamedCommitterFactory", &[], &[]));
        assert!(!is_safe("org.elasticsearch.hadoop.mr.EsOutputFormat", &[], &[]));
        assert!(!is_safe("org.apache.hadoop.mapreduce.lib.db.DBOutputFormat", &[], &[]));
        assert!(!is_safe("org.apache.hadoop.mapred.DirectFileOutputCommitter", &[], &[]));
    }

    #[test]
    fn an_operators_ban_goes_before_every_permit() {
        let own = ["com.example.".to_owned(), "org.other.Exact".to_owned()];
        assert!(is_safe("com.example.SafeFormat", &own, &[]));
        assert!(!is_safe("org.other.ExactNot", &own, &[]));
        assert!(!is_safe("com.example.SafeFormat", &own, &["com.example.Safe*".to_owned()]));
        let ban = ["org.apache.hadoop.mapreduce.lib.output.TextOutputFormat".to_owned()];
        assert!(!is_safe("org.apache.hadoop.mapreduce.lib.output.TextOutputFormat", &[], &ban));
    }
}
