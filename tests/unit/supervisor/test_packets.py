"""Commands to the kernel for broken links."""

from __future__ import annotations

import pytest

from nodes.real.links import LinkRule
from nodes.supervisor.packets import BANDS_MAX, filter_script, left_to_transport, netem, traffic_commands

ADDRESSES = {"mds2": ["10.0.0.2"], "mds3": ["10.0.0.3"], "zk1": ["10.0.0.9", "10.0.1.9"]}


def test_a_cut_drops_what_comes_and_what_goes() -> None:
    script = filter_script(
        [LinkRule("mds2", "to", True), LinkRule("mds2", "from", True)], ADDRESSES, "eth1", 7700
    )
    assert script.count("counter drop") == 2
    assert "ip saddr 10.0.0.2 counter drop" in script.partition("chain output")[0]
    assert "ip daddr 10.0.0.2 counter drop" in script.partition("chain output")[2]


def test_one_direction_is_one_chain() -> None:
    script = filter_script([LinkRule("zk1", "from", True)], ADDRESSES, "eth1", 7700)
    before, _, after = script.partition("chain output")
    assert before.count("drop") == 2 and "drop" not in after


def test_everybody_is_the_whole_interface_but_never_the_supervisor() -> None:
    script = filter_script([LinkRule("*", "both", True)], {}, "eth1", 7700)
    lines = [line.strip() for line in script.splitlines()]
    assert lines.count("counter drop") == 2
    assert lines.index("tcp dport 7700 accept") < lines.index("counter drop")
    assert lines.index('iifname != "eth1" accept') < lines.index("counter drop")


def test_without_cuts_nothing_is_dropped_and_the_old_rules_go() -> None:
    script = filter_script([LinkRule("mds2", "to", False, 50.0)], ADDRESSES, "eth1", 7700)
    assert "drop" not in script and "delete table inet cloverlab" in script


def test_a_peer_without_an_address_now_has_no_rule() -> None:
    assert "drop" not in filter_script([LinkRule("mds9", "both", True)], {"mds9": []}, "eth1", 7700)


def test_delay_is_one_band_for_each_address() -> None:
    commands = traffic_commands(
        [LinkRule("mds2", "to", False, 50.0), LinkRule("mds3", "to", False, 0, 0.25)], ADDRESSES, "eth1"
    )
    text = [" ".join(command) for command in commands]
    assert text[0].startswith("qdisc add dev eth1 root handle 1: prio bands 16")
    assert "qdisc add dev eth1 parent 1:2 netem delay 50ms loss 0%" in text
    assert "qdisc add dev eth1 parent 1:3 netem delay 0ms loss 25%" in text
    assert any("10.0.0.3/32 flowid 1:3" in line for line in text)


def test_delay_of_everybody_is_the_root() -> None:
    commands = traffic_commands([LinkRule("*", "both", False, 20.0)], ADDRESSES, "eth1")
    assert [" ".join(each) for each in commands] == [
        "qdisc add dev eth1 root handle 1: netem delay 20ms loss 0%"
    ]


def test_no_delay_is_no_command_and_what_comes_is_the_senders_affair() -> None:
    assert (
        traffic_commands(
            [LinkRule("mds2", "from", False, 9.0), LinkRule("mds2", "both", True)], ADDRESSES, "eth1"
        )
        == []
    )


def test_delays_add_up_and_losses_are_independent() -> None:
    assert netem([LinkRule("a", "to", False, 10, 0.5), LinkRule("a", "to", False, 5, 0.5)]) == [
        "netem",
        "delay",
        "15ms",
        "loss",
        "75%",
    ]


def test_more_peers_than_bands_are_refused() -> None:
    many = {f"mds{n}": [f"10.0.0.{n}"] for n in range(BANDS_MAX + 4)}
    with pytest.raises(ValueError, match="the kernel has room for 15"):
        traffic_commands([LinkRule(name, "to", False, 5.0) for name in many], many, "eth1")


def test_damage_is_the_transports_and_what_the_kernel_cannot_do() -> None:
    rules = [
        LinkRule("mds2", "to", True),
        LinkRule("mds3", "to", False, 50.0, 0.25),
        LinkRule("dn1", "to", damage=0.3),
    ]
    assert left_to_transport(rules, netem=True) == [LinkRule("dn1", "to", damage=0.3)]
    assert left_to_transport(rules, netem=False) == [LinkRule("mds3", "to", False, 50.0, 0.25), rules[2]]
