//! How large a job's containers are, by its properties.

use super::properties::{HEAP_RATIO, Properties};
use drover_core::model::Resources;

/// What a task of that kind asks for; the default where that cannot be read.
pub(super) fn container(p: &mut Properties<'_>, kind: &str, default: Resources) -> Resources {
    let (memory, vcores) = (memory_mb(p, kind), vcores(p, kind));
    Resources { memory_mb: memory.unwrap_or(default.memory_mb), vcores: vcores.unwrap_or(default.vcores) }
}

/// Its memory, MiB.
pub(super) fn memory_mb(p: &mut Properties<'_>, kind: &str) -> Option<u64> {
    let memory = ["resource.memory-mb", "resource.memory"].into_iter().find_map(|name| {
        let (number, unit) = amount(p.text(&format!("mapreduce.{kind}.{name}"))?)?;
        mebibytes(number, unit).filter(|mb| *mb > 0)
    });
    memory.or_else(|| match p.read::<i64>(&format!("mapreduce.{kind}.memory.mb"))? {
        set if set > 0 => set.try_into().ok(),
        _ => by_heap(p, kind),
    })
}

/// Its virtual cores.
pub(super) fn vcores(p: &mut Properties<'_>, kind: &str) -> Option<u32> {
    let asked = p.text(&format!("mapreduce.{kind}.resource.vcores")).and_then(amount);
    let vcores = asked.and_then(|(number, unit)| u32::try_from(in_ones(number, unit)?).ok());
    vcores.or_else(|| p.read(&format!("mapreduce.{kind}.cpu.vcores"))).filter(|v| *v > 0)
}

/// A resource asked for, a whole number and a unit, as `ResourceUtils` has them.
fn amount(text: &str) -> Option<(u64, &str)> {
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    Some((digits.parse().ok()?, unit.strip_prefix(' ').unwrap_or(unit)))
}

/// Of memory, which is in MiB where no unit is set.
fn mebibytes(number: u64, unit: &str) -> Option<u64> {
    let bytes = in_ones(number, if unit.is_empty() { "Mi" } else { unit })?;
    u64::try_from(bytes >> 20).ok()
}

/// The units of `UnitsConversionUtil`, rounded down as there.
fn in_ones(number: u64, unit: &str) -> Option<u128> {
    let number = u128::from(number);
    let (times, parts) = match unit {
        "p" => (1, 1_000_000_000_000),
        "n" => (1, 1_000_000_000),
        "u" => (1, 1_000_000),
        "m" => (1, 1_000),
        "" => (1, 1),
        "k" => (1_000, 1),
        "M" => (1_000_000, 1),
        "G" => (1_000_000_000, 1),
        "T" => (1_000_000_000_000, 1),
        "P" => (1_000_000_000_000_000, 1),
        "Ki" => (1 << 10, 1),
        "Mi" => (1 << 20, 1),
        "Gi" => (1 << 30, 1),
        "Ti" => (1 << 40, 1),
        "Pi" => (1 << 50, 1),
        _ => return None,
    };
    Some(number * times / parts)
}

/// From Hadoop 3 on a size that is not positive, -1 as shipped, is that of the heap asked for, by its share of the container (`JobConf.getMemoryRequired`, in the same floating point).
fn by_heap(p: &mut Properties<'_>, kind: &str) -> Option<u64> {
    let admins = p.text(&format!("mapreduce.admin.{kind}.child.java.opts")).unwrap_or_default();
    let own = p.text(&format!("mapreduce.{kind}.java.opts")).or_else(|| p.text("mapred.child.java.opts"));
    let heap = heap_mb(&format!("{admins} {}", own.unwrap_or_default()))?;
    let ratio = p.read::<f32>(HEAP_RATIO).unwrap_or(0.8);
    let size = (heap as f32 / ratio).ceil();
    (size >= 1.0 && size <= i32::MAX as f32).then_some(size as u64)
}

/// The heap that the last `-Xmx` of a JVM's options asks for, MiB.
fn heap_mb(options: &str) -> Option<u64> {
    let sizes = options.split_ascii_whitespace().rev().filter_map(|option| option.strip_prefix("-Xmx"));
    let (digits, unit) =
        sizes.map(|size| size.split_at(size.trim_end_matches(char::is_alphabetic).len())).find(|(digits, unit)| {
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number && matches!(*unit, "" | "k" | "K" | "m" | "M" | "g" | "G")
        })?;
    let number = digits.parse::<u64>().ok()?;
    let mb = match unit {
        "" => number / (1 << 20),
        "k" | "K" => number / 1_024,
        "m" | "M" => number,
        _ => number.checked_mul(1_024)?,
    };
    Some(mb).filter(|mb| *mb > 0)
}
