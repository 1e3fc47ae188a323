"""Virtual time follows the wall clock at a speed, and forgets what it could not reach."""

from hypothesis import given
from hypothesis import strategies as st

from backend.simulated.pace import FASTEST, LAG_NS, SLOWEST, Pace

SECOND = 1_000_000_000
SPEEDS = st.floats(SLOWEST, FASTEST)
TIMES = st.integers(0, 10**15)


def test_virtual_time_runs_speed_times_as_fast_as_the_wall_clock() -> None:
    pace = Pace(10.0, 5 * SECOND, 100 * SECOND)
    assert pace.due_ns(5 * SECOND) == 100 * SECOND
    assert pace.due_ns(7 * SECOND) == 120 * SECOND
    assert Pace(0.1, 0, 0).due_ns(SECOND) == SECOND // 10


@given(SPEEDS, TIMES, TIMES, TIMES, TIMES)
def test_virtual_time_never_goes_back(
    speed: float, wall_ns: int, virtual_ns: int, first: int, second: int
) -> None:
    pace = Pace(speed, wall_ns, virtual_ns)
    earlier, later = sorted((first, second))
    assert virtual_ns <= pace.due_ns(earlier) <= pace.due_ns(later)


@given(SPEEDS, TIMES, st.integers(0, LAG_NS - 1_000_000))
def test_a_small_lag_is_caught_up(speed: float, wall_ns: int, late_ns: int) -> None:
    pace = Pace(speed, 0, 0)
    reached = pace.due_ns(max(0, wall_ns - late_ns))
    assert pace.kept(wall_ns, reached) is pace


@given(SPEEDS, st.integers(SECOND, 10**12))
def test_a_large_lag_is_forgotten(speed: float, late_ns: int) -> None:
    pace = Pace(speed, 0, 0)
    kept = pace.kept(late_ns, 7)
    assert kept == Pace(speed, late_ns, 7)
    assert kept.due_ns(late_ns) == 7 and kept.lag_ns(late_ns, 7) == 0
