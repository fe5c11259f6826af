"""Mutant schemata: a source file rewritten so that it holds all its mutants, of which a run has at most one active.

A mutant is, as cargo-mutants lists it, a span of text and its replacement; around it an expression is found, of which
the run chooses the plain or the mutated form.
"""

import re
from dataclasses import dataclass

# What the crate gets beside its own code. With DROVER_MUTANTS_SEEN it notes which mutants the run came upon.
SWITCH = """
/// Whether that mutant is the active one.
#[inline]
pub fn mutant(number: u32) -> bool {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    static ACTIVE: AtomicU32 = AtomicU32::new(u32::MAX);
    match ACTIVE.load(Relaxed) {
        u32::MAX => {
            let wanted = std::env::var("DROVER_MUTANT").ok().and_then(|text| text.parse().ok());
            let recording = std::env::var_os("DROVER_MUTANTS_SEEN").is_some();
            ACTIVE.store(if recording { u32::MAX - 1 } else { wanted.unwrap_or(0) }, Relaxed);
            mutant(number)
        }
        active if active == u32::MAX - 1 => seen(number),
        active => active == number,
    }
}

#[cold]
fn seen(number: u32) -> bool {
    use std::io::Write;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    static SEEN: [AtomicBool; 1 << 16] = [const { AtomicBool::new(false) }; 1 << 16];
    if !SEEN[number as usize].swap(true, Relaxed) {
        let path = std::env::var_os("DROVER_MUTANTS_SEEN").unwrap();
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(format!("{number}\\n").as_bytes()).unwrap();
    }
    false
}
"""
OPERATIONS = ("binary_expression", "compound_assignment_expr")


@dataclass(frozen=True)
class Mutant:
    """One of cargo-mutants' list: its number here, and where it replaces what, in bytes."""

    number: int
    name: str
    file: str
    genre: str
    start: int
    end: int
    replacement: str
    returns: str = ""


@dataclass(frozen=True)
class Region:
    """Where a mutant is in the rewritten text: its own text, and all that was put there for its sake."""

    number: int
    start: int
    end: int
    around: tuple


def listed(entry: dict, number: int, source: bytes) -> Mutant:
    """An entry of `cargo mutants --list --json`, whose columns count characters."""

    def at(place: dict) -> int:
        line = lines[place["line"] - 1].decode()
        return before[place["line"] - 1] + len(line[: place["column"] - 1].encode())

    lines = source.splitlines(keepends=True)
    before = [0]
    for line in lines:
        before.append(before[-1] + len(line))
    span, function = entry["span"], entry["function"] or {}
    where = (at(span["start"]), at(span["end"]))
    returns = function.get("return_type", "")
    return Mutant(number, entry["name"], entry["file"], entry["genre"], *where, entry["replacement"], returns)


def place(root, mutant: Mutant):
    """The expression to choose in, or the point to insert at, in bytes; None where no choice is possible."""
    if mutant.genre == "MatchArmGuard":
        return mutant.start, mutant.end
    node = root.descendant_for_byte_range(mutant.start, mutant.end)
    if mutant.genre == "FnValue":
        # One type stands for all that such a function returns.
        if "impl " in mutant.returns:
            return None
        while node and not (
            node.type == "function_item" and node.child_by_field_name("body").start_byte < mutant.start
        ):
            node = node.parent
        return node and (node.child_by_field_name("body").start_byte + 1,) * 2
    if mutant.genre in ("MatchArm", "StructField"):
        wanted = {"MatchArm": "match_arm", "StructField": "struct_expression"}[mutant.genre]
        while node and node.type != wanted:
            node = node.parent
        if mutant.genre == "MatchArm":
            # An arm with a guard covers nothing: some other one has to cover all.
            whole = any(
                arm.type == "match_arm" and arm.child_by_field_name("pattern").text == b"_"
                for arm in node.parent.children
            )
            return (node.child_by_field_name("pattern").end_byte,) * 2 if whole else None
        return node and (node.start_byte, node.end_byte)
    node = node.parent
    if node.type not in (*OPERATIONS, "unary_expression"):
        return None
    # Another operator may bind otherwise than the one it replaces: the text decides, as in a build of the mutant alone.
    while mutant.genre == "BinaryOperator" and node.parent.type == "binary_expression":
        node = node.parent
    return node.start_byte, node.end_byte


def mutated(source: bytes, mutant: Mutant, start: int, end: int) -> bytes:
    return source[start : mutant.start] + mutant.replacement.encode() + source[mutant.end : end]


def rewritten(source: bytes, placed: list) -> tuple:
    """The text with every (mutant, start, end) in it, and the regions.

    In a mutant's own branch nothing else is chosen, so the text stays short.
    """
    spans = {}
    for mutant, start, end in placed:
        spans.setdefault((start, end), []).append(mutant)
    out, regions = bytearray(), []

    def insert(mutants: list) -> None:
        for mutant in mutants:
            around, active = len(out), f"crate::mutant({mutant.number})"
            if mutant.genre == "MatchArm":
                out.extend(f" if !{active}".encode())
                regions.append(Region(mutant.number, around, around, (around, len(out))))
                continue
            out.extend(f" if {active} {{ return ".encode())
            start = len(out)
            out.extend(mutant.replacement.encode())
            regions.append(Region(mutant.number, start, len(out), (around, len(out))))
            out.extend(b"; }")

    def choose(start: int, end: int, inner: list) -> None:
        around, found = len(out), []
        out.extend(b"(")
        for mutant in spans[start, end]:
            out.extend(f"if crate::mutant({mutant.number}) {{ ".encode())
            found.append((mutant.number, len(out), len(out) + len(mutated(source, mutant, start, end))))
            out.extend(mutated(source, mutant, start, end) + b" } else ")
        out.extend(b"{ ")
        copy(start, end, inner)
        out.extend(b" })")
        regions.extend(Region(*region, (around, len(out))) for region in found)

    def copy(at: int, end: int, inside: list) -> None:
        while inside:
            first = inside[0]
            inner = [span for span in inside[1:] if span[0] < first[1]]
            inside = inside[1 + len(inner) :]
            out.extend(source[at : first[0]])
            if first[0] == first[1]:
                insert(spans[first])
            else:
                choose(*first, inner)
            at = first[1]
        out.extend(source[at:end])

    # At one place insertions come first, and the longest expression is the outermost.
    copy(0, len(source), sorted(spans, key=lambda span: (span[0], span[0] != span[1], -span[1])))
    return bytes(out), regions


def blamed(regions: list, spans: list) -> tuple:
    """The mutants that a compiler's error is about, and whether it names their own text.

    Else they are those for whose sake the smallest part around its spans was put there.
    """
    for start, end in spans:
        own = [
            region for region in regions if region.start <= start and end <= region.end and region.start < region.end
        ]
        if own:
            return {min(own, key=lambda region: region.end - region.start).number}, True
    near = [region for region in regions for start, end in spans if region.around[0] < end and start < region.around[1]]
    if not near:
        return set(), False
    least = min(region.around[1] - region.around[0] for region in near)
    return {region.number for region in near if region.around[1] - region.around[0] == least}, False


def without_tests(source: bytes) -> bytes:
    """A source file's code alone; its tests end it."""
    return re.sub(rb"\n#\[cfg\(test\)\]\n(pub\([a-z]+\) )?mod tests\b.*", b"", source, flags=re.DOTALL)
