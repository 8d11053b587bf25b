"""How far a question is from an experiment."""

import pytest

from skycell.studies.settings import Setting, differences, distance, is_near

HERE = Setting(20e6, 0.6, 10)


@pytest.mark.parametrize(
    ("asked", "far"),
    [
        (Setting(24e6, 0.5, 12), set()),
        (Setting(30e6, 0.6, 10), {"rate", "packets in flight"}),
        (Setting(20e6, 0.3, 10), {"round trip", "packets in flight"}),
        (Setting(20e6, 0.6, 13), {"users", "packets in flight"}),
        (Setting(20e6, 0.6, 10, loss=0.001), {"loss"}),
        # A tenth of the rate for a tenth of the users: each has as many packets in flight.
        (Setting(2e6, 0.6, 1), {"rate", "users"}),
    ],
)
def test_what_is_not_near_is_named(asked: Setting, far: set[str]) -> None:
    found = differences(asked, HERE)
    assert {one.factor for one in found if not one.is_near} == far
    assert is_near(found) == (not far)


def test_a_loss_is_near_one_that_is_half_as_much_again_and_never_near_none() -> None:
    lossy = Setting(20e6, 0.6, 10, loss=0.001)
    assert is_near(differences(Setting(20e6, 0.6, 10, loss=0.0015), lossy))
    assert not is_near(differences(Setting(20e6, 0.6, 10, loss=0.0016), lossy))
    assert not is_near(differences(HERE, lossy))


def test_outside_is_what_lies_beyond_all_that_is_stored() -> None:
    among = [Setting(4e6, 0.05, 2), HERE]
    outside = {
        one.factor: one.is_outside for one in differences(Setting(50e6, 0.2, 2), HERE, among)
    }
    assert outside == {
        "rate": True,  # 50 Mbit/s, and stored are 4 to 20
        "round trip": False,
        "users": False,
        "loss": False,
        "segment": False,
        "packets in flight": True,  # 417 a user, and stored are 8 and 100
    }


def test_a_user_has_his_share_in_flight() -> None:
    # 20 Mbit/s x 600 ms are 12 Mbit, of ten users 100 packets of 12 000 bits each.
    assert HERE.packets_in_flight == pytest.approx(100)


def test_distance_counts_doublings_and_those_of_losses_half() -> None:
    # One doubling of the rate and two of the users; from 0.001 % of losses to 0.016 % are four.
    assert distance(Setting(40e6, 0.6, 40), HERE) == pytest.approx(3)
    assert distance(Setting(20e6, 0.6, 10, loss=16e-5), HERE) == pytest.approx(2)
