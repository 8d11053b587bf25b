"""What a modem's code leaves: Eb/N0, or Es/N0, to bit errors and the law of their bursts."""

from skycell.coding.convolutional import RATES, after_viterbi, uncoded
from skycell.coding.dvb_s2 import after_dvb_s2, bits_per_symbol, threshold_db
from skycell.coding.errors import OutOfRange, ResidualErrors
from skycell.coding.reed_solomon import after_reed_solomon

__all__ = [
    "RATES",
    "OutOfRange",
    "ResidualErrors",
    "after_dvb_s2",
    "after_reed_solomon",
    "after_viterbi",
    "bits_per_symbol",
    "threshold_db",
    "uncoded",
]
