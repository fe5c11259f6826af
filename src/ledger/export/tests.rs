use super::*;
use crate::ledger::schema::Record;
use crate::ledger::store::Store;
use crate::ledger::tables::{NodeRow, StragglerRow};
use drover_core::model::Time;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

fn export(path: &Path, dir: &Path, format: Format) -> Result<Vec<(PathBuf, u64)>, ExportError> {
    super::export(path, dir, format, &AtomicBool::new(false))
}

fn exported(format: Format) -> (tempfile::TempDir, Vec<(PathBuf, u64)>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("l.db");
    let odds = |at, probability| StragglerRow { at_ms: Time(at), probability, evidence: 2.5 }.row();
    let node = NodeRow {
        at_ms: Time(7),
        node: "nm1, \"the first\"".into(),
        straggles: Some(0.125),
        straggles_hourly: None,
        location_factor: None,
        loses_output: None,
        evidence: None,
        slow: true,
    };
    Store::open(&path, &mut None).unwrap().write(&[odds(1, None), odds(2, Some(0.25)), node.row()]).unwrap();
    let files = export(&path, &dir.path().join("out"), format).unwrap();
    assert_eq!(files.len(), TABLES.len());
    (dir, files)
}

/// Names of the files beside which the first lies.
fn names(files: &[(PathBuf, u64)]) -> Vec<String> {
    let all = std::fs::read_dir(files[0].0.parent().unwrap()).unwrap();
    let mut all: Vec<_> = all.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    all.sort();
    all
}

fn of<'a>(files: &'a [(PathBuf, u64)], table: &str) -> &'a (PathBuf, u64) {
    files.iter().find(|(path, _)| path.file_stem().is_some_and(|stem| stem == table)).unwrap()
}

#[test]
fn what_a_spreadsheet_would_reckon_is_kept_from_it_in_csv() {
    let given = ["=HYPERLINK(\"x\")", "+1", "-1", "@a", "a=b", "a;=1;b\t-1"];
    let shown = given.map(|text_| text(&Value::Text(text_.into())));
    assert_eq!(shown, ["'=HYPERLINK(\"x\")", "'+1", "'-1", "'@a", "a=b", "a;'=1;b\t'-1"]);
    assert_eq!(text(&Value::Integer(-1)), "-1");
}

#[test]
fn every_table_is_a_csv_file_with_a_heading_and_what_is_absent_is_empty() {
    let (_dir, files) = exported(Format::Csv);
    let (path, rows) = of(&files, "stragglers");
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!((text.as_str(), *rows), ("at_ms,probability,evidence\n1,,2.5\n2,0.25,2.5\n", 2));
    let mut nodes = csv::Reader::from_path(&of(&files, "nodes").0).unwrap();
    assert_eq!(&nodes.records().next().unwrap().unwrap()[1], "nm1, \"the first\"");
}

#[test]
fn every_table_is_a_parquet_file_of_typed_columns_that_reads_back() {
    let (_dir, files) = exported(Format::Parquet);
    let rows = |table: &str| {
        let file = SerializedFileReader::new(File::open(&of(&files, table).0).unwrap()).unwrap();
        file.get_row_iter(None).unwrap().map(|row| row.unwrap().into_columns()).collect::<Vec<_>>()
    };
    let odds: Vec<Vec<Field>> =
        rows("stragglers").into_iter().map(|row| row.into_iter().map(|(_, field)| field).collect()).collect();
    assert_eq!(odds[0], [Field::Long(1), Field::Null, Field::Double(2.5)]);
    assert_eq!(odds[1], [Field::Long(2), Field::Double(0.25), Field::Double(2.5)]);
    let node = &rows("nodes")[0];
    assert_eq!((node[1].0.as_str(), &node[1].1), ("node", &Field::Str("nm1, \"the first\"".into())));
    assert_eq!((node[7].0.as_str(), &node[7].1), ("slow", &Field::Long(1)));
    assert!(rows("decisions").is_empty());
}

#[test]
fn an_export_that_fails_leaves_the_files_of_an_earlier_one_as_they_are_and_no_part_of_its_own() {
    let (dir, files) = exported(Format::Csv);
    let (path, out) = (dir.path().join("l.db"), dir.path().join("out"));
    let names = || names(&files);
    let (stragglers, before) = (&of(&files, "stragglers").0, names());
    let old = std::fs::read(stragglers).unwrap();
    // The last table has no file to go to.
    let last = beside(&of(&files, TABLES.last().unwrap().name).0, &parts::end());
    std::fs::create_dir(&last).unwrap();
    Store::open(&path, &mut None)
        .unwrap()
        .write(&[StragglerRow { at_ms: Time(9), probability: None, evidence: 1.0 }.row()])
        .unwrap();
    let error = export(&path, &out, Format::Csv).unwrap_err().to_string();
    assert!(error.contains(&format!("calibration.csv.{}.part", std::process::id())), "{error}");
    std::fs::remove_dir(&last).unwrap();
    assert_eq!((std::fs::read(stragglers).unwrap(), names()), (old, before.clone()));
    export(&path, &out, Format::Csv).unwrap();
    assert_eq!(names(), before);
    assert_eq!(std::fs::read_to_string(stragglers).unwrap().lines().count(), 4);
}

#[test]
fn where_a_file_cannot_be_replaced_what_is_not_renamed_is_kept_whole_and_named() {
    let (dir, files) = exported(Format::Csv);
    let last = &of(&files, TABLES.last().unwrap().name).0;
    std::fs::remove_file(last).unwrap();
    std::fs::create_dir_all(last.join("something")).unwrap();
    let error = export(&dir.path().join("l.db"), &dir.path().join("out"), Format::Csv).unwrap_err().to_string();
    let told = format!("{} of {} files are of this export", TABLES.len() - 1, TABLES.len());
    assert!(error.contains(&told) && error.contains(&format!("NAME{}", parts::end())), "{error}");
    let parts: Vec<_> = names(&files).into_iter().filter(|name| name.ends_with(".part")).collect();
    assert_eq!(parts, [format!("calibration.csv{}", parts::end())]);
    let part = std::fs::read_to_string(beside(last, &parts::end())).unwrap();
    assert_eq!(part.lines().count(), 1, "its heading");
}

#[test]
fn what_a_killed_export_left_is_removed_by_the_next_and_neither_anothers_that_is_under_way_nor_a_file_of_the_users() {
    let (dir, files) = exported(Format::Csv);
    let (path, out) = (dir.path().join("l.db"), dir.path().join("out"));
    let before = names(&files);
    let (left, kept) =
        (["decisions.csv.1.part", "nodes.parquet.77.part"], ["decisions.csv.mine.part", "thesis.csv.1.part"]);
    left.iter().chain(&kept).for_each(|name| std::fs::write(out.join(name), "half").unwrap());
    let more = |names: Vec<String>| names.into_iter().filter(|name| !before.contains(name)).collect::<Vec<_>>();
    let under_way = parts::claim(&out).unwrap();
    assert_eq!(more(names(&files)), kept);
    std::fs::write(out.join(left[0]), "being written").unwrap();
    export(&path, &out, Format::Csv).unwrap();
    assert_eq!(more(names(&files)), [&left[..1], &kept].concat());
    drop(under_way);
    export(&path, &out, Format::Csv).unwrap();
    assert_eq!(more(names(&files)), kept);
}

#[test]
fn an_interrupted_export_leaves_no_part_and_the_files_of_an_earlier_one_as_they_are() {
    let (dir, files) = exported(Format::Csv);
    let (path, out) = (dir.path().join("l.db"), dir.path().join("out"));
    let before = names(&files);
    for format in [Format::Csv, Format::Parquet] {
        let ended = super::export(&path, &out, format, &AtomicBool::new(true));
        assert!(matches!(ended, Err(ExportError::Interrupted)), "{ended:?}");
        assert_eq!(names(&files), before);
    }
}

#[test]
fn a_directory_that_somebody_else_has_locked_is_exported_into_and_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let locked = std::fs::File::open(dir.path()).unwrap();
    rustix::fs::flock(&locked, rustix::fs::FlockOperation::LockExclusive).unwrap();
    assert!(parts::claim(dir.path()).is_none());
}
