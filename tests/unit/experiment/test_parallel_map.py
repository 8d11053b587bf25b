"""One function over many items: every result in its place, whoever worked it out."""

import os
import subprocess
import sys
import time
from functools import partial

import pytest

from skycell.experiment.parallel_map import parallel_map


def noted(item: int) -> tuple[int, int]:
    time.sleep(0.01)
    return item, os.getpid()


def refused(parent: int, faulty: frozenset[int], item: int) -> int:
    time.sleep(0.01)
    if item in faulty:
        raise ValueError(f"{item} in {'the parent' if os.getpid() == parent else 'another'}")
    return item


def dying(parent: int, item: int) -> int:
    if os.getpid() != parent:
        os._exit(3)
    time.sleep(0.01)
    return item


def test_results_keep_the_order_of_the_items_and_two_processes_work() -> None:
    results = parallel_map(noted, range(150), least=100, jobs=2)
    assert [item for item, _ in results] == list(range(150))
    workers = {pid for _, pid in results}
    assert os.getpid() in workers
    assert len(workers) == 2


@pytest.mark.parametrize(("items", "jobs"), [(99, 2), (150, 1)])
def test_few_items_and_one_job_start_no_process(items: int, jobs: int) -> None:
    results = parallel_map(noted, range(items), least=100, jobs=jobs)
    assert {pid for _, pid in results} == {os.getpid()}


def test_the_first_item_that_is_refused_is_told_wherever_it_was_worked_on() -> None:
    work = partial(refused, os.getpid(), frozenset({120, 125, 149}))
    with pytest.raises(ValueError, match=r"^120 in the parent$"):
        parallel_map(work, range(150), least=100, jobs=2)


def test_what_a_process_that_dies_has_not_done_is_done_here() -> None:
    work = partial(dying, os.getpid())
    assert parallel_map(work, range(150), least=100, jobs=2) == list(range(150))


def test_a_worker_process_loads_no_scenario_to_make_a_run() -> None:
    script = "import sys, skycell.experiment.processes\nprint('pydantic' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
