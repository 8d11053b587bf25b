"""The traces that a run can keep.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

TRACE_COLUMNS: dict[str, tuple[str, ...]] = {
    "cwnd": ("flow", "time_ps", "cwnd", "ssthresh"),
    "sequence": ("flow", "time_ps", "event", "sequence", "length"),
    "queue": ("port", "time_ps", "cells", "octets"),
    "vc_queue": ("port", "vc", "time_ps", "cells"),
    "discards": ("port", "vc", "flow", "time_ps", "reason"),
    "transfers": ("flow", "start_ps", "end_ps", "octets"),
    "deliveries": ("flow", "end_ps", "octets"),
    "files": ("flow", "page", "requested_ps", "received_ps", "octets"),
    "service": ("port", "queue", "time_ps", "departed", "cells"),
    "acr": ("port", "vc", "time_ps", "acr", "er"),
    "rate_control": ("port", "time_ps", "overload", "fair_share", "target", "cells"),
}
"""Columns of each trace; `crates/records/src/traces.rs` says what stands there."""

TRACES = tuple(TRACE_COLUMNS)
