"""Captures of traced flows as pcapng files, with headers as they would be on the wire.

A capture is what `tcpdump` would have seen at each flow's sender: data as it is sent, ACKs as they
arrive. Headers are IPv4 (RFC 791) and TCP (RFC 9293); payload is octets of zero and is not
captured, as with a snapshot length. What the run does not trace is not made up: there are no SACK
blocks, no opening and closing, and the window is the largest that the receiver ever offers. Octets
of options that the run counts are NOPs.

The format is draft-ietf-opsawg-pcapng: a section, an interface for each sending host with times in
nanoseconds, the names of hosts, a packet block a segment.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING

from skycell.exports.segments import Segment, flows_of, segments
from skycell.exports.selection import Selection
from skycell.spec.values import IP_HEADER

if TYPE_CHECKING:
    from skycell.records.result import RunResult
    from skycell.spec.declared.network import NetworkSpec

_RAW_IP = 101  # LINKTYPE_RAW: a packet begins with its IP header
_TCP_HEADER = 20
_TIMESTAMP_OPTION = 12
"""Octets that the timestamps of RFC 7323 take with their padding."""
_NOP = 1
_PS_PER_NS = 1000
_ACK = 0x10
_PUSH = 0x08
_FIRST_PORT = 1024
_PORTS = 65536 - _FIRST_PORT


def write_capture(result: RunResult, selection: Selection, file: IO[bytes]) -> int:
    """Writes the capture of some flows; returns how many packets it has.

    Args:
        result: a run with the trace ``sequence``.
        selection: flows, which there are, and times.
        file: open for octets.

    Raises:
        NothingToExport: the run has no flows, or kept no such trace.
    """
    wanted = flows_of(result, selection.flows)
    packets = segments(result, wanted, selection.from_ps, selection.end_ps(result))
    ends = {flow: _Ends(result.spec, flow) for flow in wanted}
    interfaces = list(dict.fromkeys(end.sender for end in ends.values()))
    file.write(_section(f"skycell {result.version}, spec {result.spec_hash}"))
    for node in interfaces:
        file.write(_interface(result.spec.nodes[node].name))
    hosts = sorted({node for end in ends.values() for node in (end.sender, end.receiver)})
    file.write(_names([(_address(node), result.spec.nodes[node].name) for node in hosts]))
    count = 0
    for segment in packets:
        end = ends[segment.flow]
        packet, length = end.packet(segment)
        nanoseconds = segment.time_ps // _PS_PER_NS
        file.write(_packet(interfaces.index(end.sender), nanoseconds, packet, length))
        count += 1
    return count


class _Ends:
    """Both ends of a flow: addresses, ports, windows; and the packets between them."""

    def __init__(self, spec: NetworkSpec, flow: int) -> None:
        tcp = spec.flows[flow].tcp
        forward = spec.vcs[spec.flows[flow].forward[0]].path
        self.sender = spec.links[forward[0]].from_
        self.receiver = spec.links[forward[-1]].to
        self._options = _TIMESTAMP_OPTION if tcp.timestamps else 0
        self._window = _scaled(tcp.rwnd)
        # Flows between the same hosts differ by the sender's port, and by the other beyond those.
        self._ports = (_FIRST_PORT + flow % _PORTS, _FIRST_PORT + flow // _PORTS)

    def packet(self, segment: Segment) -> tuple[bytes, int]:
        """The headers of a segment, and the octets of its packet on the wire."""
        nodes, ports = (self.sender, self.receiver), self._ports
        if segment.is_ack:
            nodes, ports = nodes[::-1], ports[::-1]
        source, destination = (_address(node) for node in nodes)
        # The SYN has taken number 0 in either direction (RFC 9293 section 3.4).
        sequence, ack = segment.sequence + 1, 1
        if segment.is_ack:
            sequence, ack = ack, sequence
        header = _TCP_HEADER + self._options
        flags = _ACK | (_PUSH if segment.length else 0)
        tcp = bytearray(
            struct.pack(
                "!HHIIBBHHH",
                *ports,
                sequence % 2**32,
                ack % 2**32,
                header // 4 << 4,
                flags,
                self._window,
                0,
                0,
            )
            + bytes([_NOP] * self._options)
        )
        length = header + segment.length
        pseudo = source + destination + struct.pack("!BBH", 0, 6, length)
        struct.pack_into("!H", tcp, 16, _checksum(pseudo + tcp))
        total = IP_HEADER + length
        ip = bytearray(
            struct.pack("!BBHHHBBH", 0x45, 0, total, 0, 0x4000, 64, 6, 0) + source + destination
        )
        struct.pack_into("!H", ip, 10, _checksum(ip))
        return bytes(ip + tcp), total


def _scaled(window: int) -> int:
    """A window as the header has it, shifted as far as it takes (RFC 7323 section 2.2)."""
    while window > 65535:
        window >>= 1
    return window


def _address(node: int) -> bytes:
    """An address of its own for each node, of the private range 10/8 (RFC 1918)."""
    return struct.pack("!I", 10 << 24 | node + 1)


def _checksum(octets: bytes | bytearray) -> int:
    """RFC 1071's, of an even number of octets; of zeroes that follow it does not change."""
    total: int = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _block(kind: int, body: bytes) -> bytes:
    length = 12 + len(body)
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def _padded(octets: bytes) -> bytes:
    return octets + bytes(-len(octets) % 4)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value)


_END_OF_OPTIONS = struct.pack("<HH", 0, 0)


def _section(application: str) -> bytes:
    head = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
    return _block(0x0A0D0D0A, head + _option(4, application.encode()) + _END_OF_OPTIONS)


def _interface(name: str) -> bytes:
    options = _option(2, name.encode()) + _option(9, bytes([9]))  # if_name, if_tsresol: 10^-9 s
    return _block(1, struct.pack("<HHI", _RAW_IP, 0, 0) + options + _END_OF_OPTIONS)


def _names(hosts: Sequence[tuple[bytes, str]]) -> bytes:
    records = b"".join(
        _option(1, address + _host_name(name).encode() + b"\0") for address, name in hosts
    )
    return _block(4, records + _END_OF_OPTIONS)


def _host_name(name: str) -> str:
    """The name of a node, without what a name of a host must not have."""
    return "".join(letter if letter.isalnum() or letter in "-._" else "-" for letter in name)


def _packet(interface: int, nanoseconds: int, packet: bytes, length: int) -> bytes:
    high, low = divmod(nanoseconds, 2**32)
    head = struct.pack("<IIIII", interface, high, low, len(packet), length)
    return _block(6, head + _padded(packet))
