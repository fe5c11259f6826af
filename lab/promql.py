"""The series and labels that an expression of Prometheus names, as far as this project's expressions go."""

import re
from dataclasses import dataclass

WORDS = {"and", "or", "unless", "bool", "offset", "inf", "nan"}
GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^()]*)\)")
RANGE = re.compile(r"\[[^\]]*\]")
SELECTOR = re.compile(r"(?<![\w.])([A-Za-z_:][\w:]*)\s*(\{[^{}]*\})?\s*(\()?")
SETS = ("or", "unless", "and")
COMPARED = re.compile(r"\s(?:[<>]=?|[!=]=)\s")
NUMBER = re.compile(r"[-\d.e]+")
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')


@dataclass(frozen=True)
class Selector:
    """A name and its matchers, each as label, operator and value."""

    name: str
    matchers: tuple = ()

    def __str__(self) -> str:
        return self.name + "{" + ",".join(f'{label}{how}"{value}"' for label, how, value in self.matchers) + "}"

    def alternatives(self):
        """Selectors with one alternative each, where matchers list several: a misspelt one of them finds nothing."""
        for index, (label, how, value) in enumerate(self.matchers):
            if how == "=~" and re.fullmatch(r"[\w|-]+", value) and label != "le":
                for one in value.split("|"):
                    others = self.matchers[:index] + self.matchers[index + 1 :]
                    yield Selector(self.name, ((label, "=", one), *others))


def selectors(expression: str) -> list:
    """Every series that the expression reads."""
    plain = RANGE.sub("", GROUPING.sub(" ", expression))
    found = []
    for name, matchers, called in SELECTOR.findall(plain):
        if not called and name.lower() not in WORDS:
            found.append(Selector(name, tuple(MATCHER.findall(matchers))))
    return found


def grouped(expression: str) -> set:
    """Every label that the expression groups or joins by."""
    return {label.strip() for clause in GROUPING.findall(expression) for label in clause.split(",") if label.strip()}


def unconditioned(expression: str) -> list:
    """What an alert reads, without the conditions on it: each of its alternatives with no comparison, as an expression
    of its own, which has data where every series is there and labels join; what `unless` leaves out is asked apart."""
    expression = expression.strip()
    for word in SETS:
        first, *others = split(expression, re.compile(rf"\s{word}\s"))
        if others and word == "and":
            return [f"{one} and {other}" for one in unconditioned(first) for other in joined(" and ".join(others))]
        if others:
            return [one for part in (first, *others) for one in unconditioned(part)]
    left, *right = split(expression, COMPARED)
    if right and not NUMBER.fullmatch(right[0].strip()):
        return [f"{one} and {other}" for one in unconditioned(left) for other in unconditioned(right[0])]
    if right:
        return unconditioned(left)
    inner = expression[1:-1]
    whole = expression.startswith("(") and all(depth >= 0 for depth in depths(inner))
    return unconditioned(inner) if whole else [expression]


def joined(expression: str) -> list:
    """The same, with the labels to join by before it, as in `ignoring (budget) x > 1`."""
    by = re.match(r"(?:on|ignoring) \([^()]*\) ", expression)
    words = by.group() if by else ""
    return [words + one for one in unconditioned(expression[len(words) :])]


def depths(text: str) -> list:
    """How many brackets are open after each character."""
    found = []
    for character in text:
        found.append((found[-1] if found else 0) + (character in "([{") - (character in ")]}"))
    return found


def split(expression: str, at: re.Pattern) -> list:
    """Its parts around what matches outside of all brackets."""
    parts, begin, depth = [], 0, depths(expression)
    for found in at.finditer(expression):
        if depth[found.start()] == 0:
            parts.append(expression[begin : found.start()])
            begin = found.end()
    return [*parts, expression[begin:]]
