"""The series and labels that an expression of Prometheus names, as far as this project's expressions go."""

import re
from dataclasses import dataclass

WORDS = {"and", "or", "unless", "bool", "offset", "inf", "nan"}
GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^()]*)\)")
RANGE = re.compile(r"\[[^\]]*\]")
SELECTOR = re.compile(r"(?<![\w.])([A-Za-z_:][\w:]*)\s*(\{[^{}]*\})?\s*(\()?")
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
