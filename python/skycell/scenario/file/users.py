"""Groups of users with an application each: `[[traffic]]` without a constellation."""

from __future__ import annotations

from typing import Annotated

from skycell.input.parameters import Parameters, param, whole_number
from skycell.scenario.declared.applications import Asks, Bulk, Call, Pages, Video
from skycell.scenario.declared.tcp import Tcp
from skycell.scenario.file.traffic import Start
from skycell.scenario.links.schedule import Text

#: Users of one table.
MOST_USERS = 100_000


class UserKeys(Parameters):
    """Whose traffic it is."""

    name: Text | None = param(
        None, "name of the group", source="its kind, and its number from the second on"
    )
    users: Annotated[int, whole_number(1, MOST_USERS)] = param(
        ..., "number of users, who go to the pairs of hosts in turn"
    )
    tcp: Tcp | None = param(None, "TCP parameters that differ; the others are as in [tcp]")
    start: Start | None = param(None, "when they begin", source="as start says")


class AsksUsers(UserKeys, Asks):
    """Requests and answers in datagrams."""


class BulkUsers(UserKeys, Bulk):
    """Downloads one after the other."""


class CallUsers(UserKeys, Call):
    """Calls: packets at equal times both ways."""


class PagesUsers(UserKeys, Pages):
    """Pages of the web as browsers load them."""


class VideoUsers(UserKeys, Video):
    """Videos in segments, each at a rate of a ladder."""


AnyUsers = AsksUsers | BulkUsers | CallUsers | PagesUsers | VideoUsers
