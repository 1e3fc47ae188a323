"""The page against containers: the tests of the page on processes, and what only containers show."""

from __future__ import annotations

from tests.browser.test_faults import (  # noqa: F401
    test_a_crashed_active_is_followed_by_a_standby_and_comes_back_as_one,
    test_a_cut_link_is_shown_and_healed,
    test_a_server_dragged_to_the_island_is_cut_off_and_dragged_back_is_healed,
    test_the_page_shows_what_the_cluster_says,
    test_what_is_impossible_is_told_in_one_line,
)
