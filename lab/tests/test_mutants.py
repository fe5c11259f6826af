import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab import mutant_runs, mutants, schemata


class Node:
    """A node of a syntax tree as the rewriting needs it: written (type, text, {field: child} or [children])."""

    def __init__(self, source: bytes, shape: tuple, parent=None, after: int = 0):
        self.type, self.text, inner = shape[0], shape[1].encode(), shape[2] if len(shape) > 2 else []
        self.parent, self.start_byte = parent, source.index(self.text, after)
        self.end_byte = self.start_byte + len(self.text)
        self.fields, self.children, at = {}, [], self.start_byte
        for name, child in inner.items() if isinstance(inner, dict) else enumerate(inner):
            self.fields[name] = Node(source, child, self, at)
            self.children.append(self.fields[name])
            at = self.children[-1].end_byte

    def child_by_field_name(self, name: str):
        return self.fields.get(name)

    def descendant_for_byte_range(self, start: int, end: int):
        for child in self.children:
            if child.start_byte <= start and end <= child.end_byte:
                return child.descendant_for_byte_range(start, end)
        return self


def mutant(source: str, genre: str, what: str, replacement: str, number: int = 1, returns: str = "") -> schemata.Mutant:
    start = source.index(what)
    return schemata.Mutant(number, f"mutant {number}", "a.rs", genre, start, start + len(what), replacement, returns)


def rewritten(source: str, tree: tuple, *found) -> str:
    root = Node(source.encode(), tree)
    placed = [(each, *schemata.place(root, each)) for each in found]
    return schemata.rewritten(source.encode(), placed)[0].decode()


class Rewriting(unittest.TestCase):
    def test_a_function_returns_each_of_its_values_before_it_does_anything(self):
        source = "fn f() -> u8 { g() }"
        tree = ("function_item", source, {"body": ("block", "{ g() }", [("call_expression", "g()")])})
        found = [mutant(source, "FnValue", "g()", text, number) for number, text in ((1, "0"), (2, "1"))]
        expected = "fn f() -> u8 { if crate::mutant(1) { return 0; } if crate::mutant(2) { return 1; } g() }"
        self.assertEqual(rewritten(source, tree, *found), expected)

    def test_a_function_with_one_unnamed_type_is_left_to_the_slow_way(self):
        source = "fn f() -> impl Iterator<Item = u8> { g() }"
        tree = ("function_item", source, {"body": ("block", "{ g() }")})
        found = mutant(source, "FnValue", "g()", "std::iter::empty()", returns="-> impl Iterator<Item = u8>")
        self.assertIsNone(schemata.place(Node(source.encode(), tree), found))

    def test_another_operator_binds_in_the_whole_expression_as_its_text_says(self):
        source = "x = a * b / c;"
        product = ("binary_expression", "a * b", [("identifier", "a"), ("*", "*"), ("identifier", "b")])
        tree = ("source_file", source, [("binary_expression", "a * b / c", [product, ("/", "/"), ("identifier", "c")])])
        found = [mutant(source, "BinaryOperator", "*", "+"), mutant(source, "BinaryOperator", "/", "%", 2)]
        expected = "x = (if crate::mutant(1) { a + b / c } else if crate::mutant(2) { a * b % c } else { a * b / c });"
        self.assertEqual(rewritten(source, tree, *found), expected)

    def test_an_expression_within_one_is_rewritten_only_where_nothing_else_is(self):
        source = "x = a < f(!b);"
        negation = ("unary_expression", "!b", [("!", "!"), ("identifier", "b")])
        call = ("call_expression", "f(!b)", [negation])
        tree = ("source_file", source, [("binary_expression", "a < f(!b)", [("identifier", "a"), ("<", "<"), call])])
        found = [mutant(source, "BinaryOperator", "<", "=="), mutant(source, "UnaryOperator", "!", "", 2)]
        expected = "x = (if crate::mutant(1) { a == f(!b) } else { a < f((if crate::mutant(2) { b } else { !b })) });"
        self.assertEqual(rewritten(source, tree, *found), expected)

    def test_an_assignment_with_an_operator_stays_a_statement(self):
        source = "a += 1;"
        parts = [("identifier", "a"), ("+=", "+="), ("integer_literal", "1")]
        tree = ("expression_statement", source, [("compound_assignment_expr", "a += 1", parts)])
        expected = "(if crate::mutant(1) { a -= 1 } else { a += 1 });"
        self.assertEqual(rewritten(source, tree, mutant(source, "BinaryOperator", "+=", "-=")), expected)

    def test_what_a_let_stands_in_cannot_be_chosen(self):
        source = "if let Some(a) = b && c {}"
        tree = (
            "let_chain",
            "let Some(a) = b && c",
            [("let_condition", "let Some(a) = b"), ("&&", "&&"), ("identifier", "c")],
        )
        self.assertIsNone(schemata.place(Node(source.encode(), tree), mutant(source, "BinaryOperator", "&&", "||")))

    def test_an_arm_goes_by_a_guard_and_a_guard_by_its_value(self):
        source = "match a { 1 => b, c if d => e, _ => f }"
        arms = [
            ("match_arm", "1 => b,", {"pattern": ("match_pattern", "1")}),
            ("match_arm", "c if d => e,", {"pattern": ("match_pattern", "c if d")}),
            ("match_arm", "_ => f", {"pattern": ("match_pattern", "_")}),
        ]
        tree = ("match_block", source[8:], arms)
        found = [mutant(source, "MatchArm", "1 => b,", ""), mutant(source, "MatchArmGuard", "d", "true", 2)]
        expected = (
            "match a { 1 if !crate::mutant(1) => b, c if (if crate::mutant(2) { true } else { d }) => e, _ => f }"
        )
        self.assertEqual(rewritten(source, tree, *found), expected)

    def test_an_arm_cannot_go_where_no_other_covers_all(self):
        source = "match a { 1 => b, _ if c => d, e => f }"
        arms = [
            ("match_arm", "1 => b,", {"pattern": ("match_pattern", "1")}),
            ("match_arm", "_ if c => d,", {"pattern": ("match_pattern", "_ if c")}),
            ("match_arm", "e => f", {"pattern": ("match_pattern", "e")}),
        ]
        root = Node(source.encode(), ("match_block", source[8:], arms))
        self.assertIsNone(schemata.place(root, mutant(source, "MatchArm", "1 => b,", "")))

    def test_a_field_is_left_to_the_base(self):
        source = "let s = S { a: 1, ..t };"
        tree = ("let_declaration", source, [("struct_expression", "S { a: 1, ..t }", [("field_initializer", "a: 1")])])
        expected = "let s = (if crate::mutant(1) { S {  ..t } } else { S { a: 1, ..t } });"
        self.assertEqual(rewritten(source, tree, mutant(source, "StructField", "a: 1,", "")), expected)


class Listing(unittest.TestCase):
    def test_columns_count_characters_and_the_span_bytes(self):
        source = "// one\nlet é = a < b;\n"
        span = {"start": {"line": 2, "column": 11}, "end": {"line": 2, "column": 12}}
        entry = {
            "name": "n",
            "file": "a.rs",
            "genre": "BinaryOperator",
            "span": span,
            "replacement": ">",
            "function": None,
        }
        found = schemata.listed(entry, 1, source.encode())
        self.assertEqual(source.encode()[found.start : found.end], b"<")

    def test_an_error_is_blamed_on_the_mutant_whose_text_it_names(self):
        source = "x = a < b;"
        found = [(mutant(source, "BinaryOperator", "<", text, number), 4, 9) for number, text in ((1, "=="), (2, ">"))]
        text, regions = schemata.rewritten(source.encode(), found)
        at = text.index(b"a > b")
        self.assertEqual(schemata.blamed(regions, [(at, at + 1)]), ({2}, True))
        at = text.index(b"a < b")
        self.assertEqual(schemata.blamed(regions, [(at, at + 1)]), ({1, 2}, False))
        self.assertEqual(schemata.blamed(regions, [(0, 1)]), (set(), False))

    def test_the_tests_at_a_files_end_are_no_part_of_its_code(self):
        code = b"fn f() {}\n"
        for tests in (b"mod tests {\n}\n", b"mod tests;\n", b"pub(super) mod tests {\n}\n"):
            self.assertEqual(schemata.without_tests(code + b"\n#[cfg(test)]\n" + tests), code)


class Judging(unittest.TestCase):
    def test_quick_tests_come_first_and_one_program_runs_its_own(self):
        one, two = Path("one"), Path("two")
        tests = [
            mutant_runs.Test(*each, frozenset()) for each in ((one, "slow", 3.0), (one, "quick", 0.2), (two, "b", 0.1))
        ]
        names = [[test.name for test in portion] for portion in mutant_runs.portions(tests)]
        self.assertEqual(names, [["quick"], ["b"], ["slow"]])

    def test_what_was_caught_holds_while_the_code_does_and_a_survivor_only_while_the_tests_do(self):
        entries = [
            {"name": "a", "outcome": "caught", "code": "1", "all": "2"},
            {"name": "b", "outcome": "survived", "code": "1", "all": "2"},
            {"name": "c", "outcome": "caught", "code": "0", "all": "2"},
        ]
        with tempfile.TemporaryDirectory() as kept:
            file = Path(kept, "outcomes.jsonl")
            file.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
            with mock.patch.object(mutants, "OUTCOMES", file):
                self.assertEqual(set(mutants.known(("1", "2"), False)), {"a", "b"})
                self.assertEqual(set(mutants.known(("1", "3"), False)), {"a"})
                self.assertEqual(set(mutants.known(("1", "2"), True)), {"a"})

    def test_the_share_leaves_out_what_is_no_program(self):
        outcomes = ("caught", "caught", "timeout", "survived", "unviable")
        table = mutants.table([{"name": f"a.rs:{n}", "file": "a.rs", "outcome": o} for n, o in enumerate(outcomes)])
        self.assertIn("75.0 %", table)
        self.assertIn("survived: 1\na.rs:3", table)


if __name__ == "__main__":
    unittest.main()
