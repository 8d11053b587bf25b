"""Orbit ephemeris messages as text: KVN and XML, each read into segments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree import ElementTree

from skycell.input.faults import Fault, ScenarioFaults, show_value

_FORM = "orbit ephemeris message"
_HEADER = ("CCSDS_OEM_VERS", "CREATION_DATE", "ORIGINATOR", "MESSAGE_ID", "CLASSIFICATION")
_AXES = ("X", "Y", "Z", "X_DOT", "Y_DOT", "Z_DOT")
#: An epoch and six numbers; three more are accelerations.
_FIELDS = (7, 10)


@dataclass(frozen=True)
class Line:
    """One state.

    Attributes:
        where: line or entry of the file, for people.
        epoch: as written.
        numbers: position and velocity, as written.
    """

    where: str
    epoch: str
    numbers: tuple[str, ...]


@dataclass(frozen=True)
class SegmentText:
    """One segment.

    Attributes:
        where: line or entry of the file at which it begins.
        keywords: of its metadata, as written.
        lines: its states.
        faults: what is wrong with its form.
    """

    where: str
    keywords: Mapping[str, str]
    lines: list[Line] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list, compare=False)


@dataclass
class MessageText:
    """A message, or several one after another.

    Attributes:
        form: what the text is, in words.
        segments: in its order.
        covariances: matrices that are passed over.
        accelerations: states whose accelerations are passed over.
        unused: lines that belong to no part of a message.
    """

    form: str
    segments: list[SegmentText] = field(default_factory=list)
    covariances: int = 0
    accelerations: int = 0
    unused: list[int] = field(default_factory=list)


def read_segments(text: str, name: str) -> MessageText:
    """The segments of a message; none where a text is no such message.

    Args:
        text: of a file.
        name: what faults call it.

    Raises:
        ScenarioFaults: the text as a whole cannot be read.
    """
    if text.lstrip().startswith("<"):
        return _from_xml(text, name)
    return _from_kvn(text, name)


def _from_kvn(text: str, name: str) -> MessageText:
    """Segments between META_START and the next one; covariances and comments are passed over."""
    message = MessageText(_FORM)
    found = message.segments
    keywords: dict[str, str] | None = None
    in_covariance = False
    for number, written in enumerate(text.splitlines(), start=1):
        line = written.strip()
        word = line.partition(" ")[0]
        if not line or word == "COMMENT":
            continue
        if line == "META_START":
            keywords = {}
            found.append(SegmentText(f"line {number}", keywords))
        elif line == "META_STOP":
            keywords = None
        elif line in ("COVARIANCE_START", "COVARIANCE_STOP"):
            in_covariance = line == "COVARIANCE_START"
        elif in_covariance:
            message.covariances += word == "EPOCH"
        elif "=" in line:
            key, _, value = (part.strip() for part in line.partition("="))
            if keywords is not None:
                keywords[key] = value
            elif key not in _HEADER:
                message.unused.append(number)
        elif found and keywords is None:
            epoch, *numbers = line.split()
            if len(numbers) + 1 in _FIELDS:
                found[-1].lines.append(Line(f"line {number}", epoch, tuple(numbers[:6])))
                message.accelerations += len(numbers) > len(_AXES)
            else:
                allowed = "an epoch and six numbers, or nine with accelerations"
                fault = Fault(name, "", show_value(line), allowed, "a state", line=number)
                found[-1].faults.append(fault)
        else:
            message.unused.append(number)
    return message


def _from_xml(text: str, name: str) -> MessageText:
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        line, column = error.position
        fault = Fault(name, "", str(error), "XML", line=line, column=column + 1)
        raise ScenarioFaults([fault]) from None
    except (ValueError, LookupError) as error:  # an encoding that is none, or not one of text
        raise ScenarioFaults([Fault(name, "", str(error), "XML in UTF-8")]) from None
    message = MessageText(_FORM)
    for place, segment in enumerate(e for e in root.iter() if _local(e.tag) == "segment"):
        keywords: dict[str, str] = {}
        lines: list[Line] = []
        for part in segment.iter():
            if _local(part.tag) == "metadata":
                keywords = {_local(e.tag): (e.text or "").strip() for e in part}
            elif _local(part.tag) == "stateVector":
                own = {_local(e.tag): (e.text or "").strip() for e in part}
                where = f"segment[{place}] state[{len(lines)}]"
                numbers = tuple(own.get(axis, "") for axis in _AXES)
                lines.append(Line(where, own.get("EPOCH", ""), numbers))
                message.accelerations += "X_DDOT" in own
            elif _local(part.tag) == "covarianceMatrix":
                message.covariances += 1
        message.segments.append(SegmentText(f"segment[{place}]", keywords, lines))
    return message


def _local(tag: str) -> str:
    """An XML tag without its namespace."""
    return tag.rpartition("}")[2]
