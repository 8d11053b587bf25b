"""Specs of every form that the generated classes allow, sense or none."""

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from skycell.spec.declared.network import NetworkSpec
from skycell.spec.part import SpecPart


def network_specs() -> st.SearchStrategy[NetworkSpec]:
    """Specs in which every part may have any value of its type; few can be simulated."""
    return st.deferred(lambda: _part(NetworkSpec))


def _part(part: type[SpecPart]) -> st.SearchStrategy[Any]:
    hints = get_type_hints(part, include_extras=True)
    return st.builds(part, **{name: _value(hints[name]) for name in part.__struct_fields__})


def _value(annotation: Any) -> st.SearchStrategy[Any]:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return st.integers(0, inner[1])
    if origin in (UnionType, Union):
        return st.one_of([_value(one) for one in inner])
    if origin is tuple:
        return st.lists(_value(inner[0]), max_size=2).map(tuple)
    if origin is Literal:
        return st.sampled_from(inner)
    if annotation is NoneType:
        return st.none()
    if annotation is bool:
        return st.booleans()
    if annotation is float:
        return st.floats(allow_nan=False, allow_infinity=False)
    if annotation is str:
        return st.text(max_size=5)
    return _part(annotation)
