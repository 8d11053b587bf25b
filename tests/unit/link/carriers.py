"""Published link budgets as files of carriers, and what is published of each."""

from typing import Any

KU_UP: dict[str, Any] = {
    "title": "Ku-band GEO, uplink in rain",
    "carrier": {"rate": "36 Mbaud"},
    "up": {
        "frequency": "14 GHz",
        "range": "38000 km",
        "rain": "5 dB",
        "clouds": "0.5 dB",
        "transmitter": {"power": "15.6 dBW", "gain": "60.6 dBi"},
        "receiver": {
            "gain": "32.9 dBi",
            "system_temperature": "400 K",
            "medium_temperature": "290 K",
            "weather_noise": True,
        },
        "interference": {
            "adjacent_satellite": "22.3 dB",
            "cross_polar": "30 dB",
            "intermodulation": "27 dB",
        },
    },
}
"""FCC SAT-PPL-20110112-00012, attachment 861203, uplink in rain; its bandwidth of 36 MHz is the
carrier's rate, and its C/N is Es/N0 then."""

KU_DOWN: dict[str, Any] = {
    "title": "Ku-band GEO, downlink in rain",
    "carrier": {"rate": "36 Mbaud"},
    "down": {
        "frequency": "11.7 GHz",
        "range": "38000 km",
        "rain": "3.6 dB",
        "clouds": "0.4 dB",
        "transmitter": {"eirp": "49 dBW"},
        "receiver": {
            "gain": "47.5 dBi",
            "system_temperature": "200 K",
            "medium_temperature": "290 K",
        },
    },
}
"""FCC SAT-PPL-20110112-00012, attachment 861203, downlink in rain."""

KA_UP: dict[str, Any] = {
    "title": "Ka-band GEO, uplink in clear sky",
    "carrier": {"rate": "8448 kbit/s"},
    "satellite": {"altitude": "35786 km"},
    "up": {
        "frequency": "29.8 GHz",
        "elevation": "30 deg",
        "rain": "0 dB",
        "gases": "0.4 dB",
        "transmitter": {"power": "4 W", "gain": "47.2 dBi"},
        "receiver": {"g_t": "15.8 dB/K"},
        "interference": {"co_channel": "15.4 dB"},
    },
}
"""FCC SAT-LOA-20070314-00051, attachment 557807; its Eb/I0 of 15.4 dB stands for C/I."""

KA_UP_IN_RAIN = {"up.transmitter.power": "8 W", "up.rain": "10.2 dB"}
"""The same at 99.8 % of the year: twice the power, 10.6 dB of rain and gases."""

LEO_DOWN: dict[str, Any] = {
    "title": "LEO at UHF, downlink",
    "carrier": {"rate": "1.5 Mbit/s", "required": "11.6 dB"},
    "satellite": {"altitude": "450 km"},
    "down": {
        "frequency": "465 MHz",
        "elevation": "5 deg",
        "other_loss": "1.5 dB",
        "rain": "0 dB",
        "transmitter": {"eirp": "-4 dBW"},
        "receiver": {"g_t": "9.03 dB/K"},
    },
}
"""Baktur, IEEE Antennas and Propagation Magazine 64(6), 2022, table 3, as computed again in
github.com/rgwestcott/leo-link-budget."""


def of_place(place: str, frequency: str, elevation: str, **values: Any) -> dict[str, Any]:
    """A carrier of a place with its weather by ITU-R, linear polarisation."""
    return {
        "carrier": {"rate": "10 Mbaud", "availability": "99.9 %"},
        "down": {
            "frequency": frequency,
            "place": place,
            "elevation": elevation,
            "range": "38000 km",
            "polarisation_tilt": "0 deg",
            "rain": "itu",
            "transmitter": {"eirp": "60 dBW"},
            "receiver": {"g_t": "20 dB/K", "diameter": "1.2 m"},
            **values,
        },
    }
