"""What a reader made of a file: what it read, left aside and assumed, and what it added itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from skycell.input.printable import printable
from skycell.input.quantities import show_amount

_MOST_NAMES = 6
"""Names of one kind that a sentence has. `as_dict` has all of them."""
_LONGEST_NAME = 60


@dataclass(frozen=True)
class LeftAside:
    """Parts of one kind that a reader did not use.

    Attributes:
        what: the kind, in the singular: column, row, line, block, satellite.
        count: how many there are.
        names: their names, where they have some.
        why: the reason, as a clause; empty where the reader does not know the part.
        plural: of the kind, where it is not regular.
    """

    what: str
    count: int
    names: tuple[str, ...] = ()
    why: str = ""
    plural: str = ""

    @property
    def sentence(self) -> str:
        """The same for people.

        >>> LeftAside("column", 2, ("uplink", "downlink")).sentence
        '2 columns are left aside: uplink, downlink.'
        """
        verb = "is" if self.count == 1 else "are"
        what = self.what if self.count == 1 else self.plural or f"{self.what}s"
        text = f"{show_amount(self.count)} {what} {verb}"
        text += " left aside"
        if self.names:
            shown = [printable(name[:_LONGEST_NAME]) for name in self.names[:_MOST_NAMES]]
            more = len(self.names) - len(shown)
            text += f": {', '.join(shown)}{f' and {more} more' if more > 0 else ''}"
        return f"{text}{f'; {self.why}' if self.why else ''}."


@dataclass(frozen=True)
class Assumed:
    """One thing that the file does not say, and what the reader took.

    Attributes:
        about: a word for it, such as stamps, gaps, losses, phase or interpolation.
        sentence: what was taken and, where the file decided, by which numbers.
        by: who decided: `file` (what it holds), `default`, or `key` (the user).
        otherwise: the key for the other reading as it is written; empty where there is none.
        numbers: behind the sentence, by name.
    """

    about: str
    sentence: str
    by: str = "default"
    otherwise: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Added:
    """A part of the result that is the reader's and not the file's.

    Attributes:
        about: a word for it, such as gaps.
        sentence: what was added.
        seconds: how long it holds in the result.
        part: of the result's time, 0 to 1.
    """

    about: str
    sentence: str
    seconds: float
    part: float


@dataclass(frozen=True)
class Account:
    """What a reader made of one file.

    Attributes:
        file: its name, as the user gave it.
        form: what the file is, in words.
        read: how many of what was used, by the noun in the plural.
        span_s: time from the first to the last of them; none without times.
        left_aside: what was not used.
        assumed: what the file does not say.
        added: what of the result is not the file's.
    """

    file: str
    form: str
    read: Mapping[str, int] = field(default_factory=dict)
    span_s: float | None = None
    left_aside: tuple[LeftAside, ...] = ()
    assumed: tuple[Assumed, ...] = ()
    added: tuple[Added, ...] = ()

    def and_also(
        self,
        left_aside: Iterable[LeftAside] = (),
        assumed: Iterable[Assumed] = (),
        added: Iterable[Added] = (),
    ) -> Account:
        """The same with more that was left aside, assumed or added."""
        return replace(
            self,
            left_aside=(*self.left_aside, *left_aside),
            assumed=(*self.assumed, *assumed),
            added=(*self.added, *added),
        )

    @property
    def heading(self) -> str:
        """What the file is and how much of it was read.

        >>> Account("a.csv", "table of rates", {"rows": 3}, 2.5).heading
        'a.csv is a table of rates: 3 rows over 2.5 s are read.'
        """
        counts = [
            f"{show_amount(count)} {noun if count != 1 else _singular(noun)}"
            for noun, count in self.read.items()
        ]
        amount = " and ".join(counts) or "nothing"
        over = "" if self.span_s is None else f" over {show_amount(round(self.span_s, 6))} s"
        article = "an" if self.form[:1] in "aeiou" else "a"
        what = self.form if _is_plural(self.form) else f"{article} {self.form}"
        verb = "is" if sum(self.read.values()) == 1 else "are"
        holds = "has" if _is_plural(self.form) else "is"
        return f"{printable(self.file)} {holds} {what}: {amount}{over} {verb} read."

    def sentences(self) -> tuple[str, ...]:
        """What was left aside, assumed and added, a sentence or two each."""
        assumed = (
            f"{part.sentence} {part.otherwise} reads it otherwise."
            if part.otherwise
            else part.sentence
            for part in self.assumed
        )
        left_aside = (part.sentence for part in self.left_aside)
        added = (part.sentence for part in self.added)
        return tuple(map(printable, (*left_aside, *assumed, *added)))

    def notes(self) -> tuple[str, ...]:
        """All sentences, each of which names the file."""
        name = printable(self.file)
        return (self.heading, *(f"{name}: {sentence}" for sentence in self.sentences()))

    def as_dict(self) -> dict[str, Any]:
        """The account for a program."""
        return {
            "file": self.file,
            "form": self.form,
            "read": dict(self.read),
            "span_s": self.span_s,
            "left_aside": [
                {
                    "what": part.what,
                    "count": part.count,
                    "names": list(part.names),
                    "why": part.why,
                }
                for part in self.left_aside
            ],
            "assumed": [
                {
                    "about": part.about,
                    "sentence": part.sentence,
                    "by": part.by,
                    "otherwise": part.otherwise,
                    "numbers": dict(part.numbers),
                }
                for part in self.assumed
            ],
            "added": [
                {
                    "about": part.about,
                    "sentence": part.sentence,
                    "seconds": part.seconds,
                    "part": part.part,
                }
                for part in self.added
            ],
        }


def _singular(noun: str) -> str:
    """One of what a regular noun in the plural counts.

    >>> _singular("opportunities"), _singular("rows")
    ('opportunity', 'row')
    """
    return f"{noun[:-3]}y" if noun.endswith("ies") else noun.removesuffix("s")


def _is_plural(form: str) -> bool:
    """Whether a form counts what it holds (`round trips of ping`), and is no table."""
    return form.split(" of ", 1)[0].endswith("s")
