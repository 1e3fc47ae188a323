from backend.fabrics.ledger import FaultLedger
from backend.fabrics.links import COORDINATION, EVERYBODY, LinkFault, relay_rules, transport_rules
from nodes.trace.base import Event
from nodes.trace.events import FaultEnded, FaultInjected

NO_SHARES = {"damage": 0.0, "jitter_ms": 0, "duplicate": 0.0, "reorder": 0.0}


def test_a_cut_is_kept_at_both_ends_in_its_direction() -> None:
    cut = LinkFault("mds1", "mds2", "to", drop=True)
    assert transport_rules([cut], "mds1") == [
        {"peer": "mds2", "direction": "to", "drop": True, "delay_ms": 0, "loss": 0.0} | NO_SHARES
    ]
    assert transport_rules([cut], "mds2") == [
        {"peer": "mds1", "direction": "from", "drop": True, "delay_ms": 0, "loss": 0.0} | NO_SHARES
    ]
    assert transport_rules([cut], "mds3") == []


def test_delay_and_loss_are_the_senders_alone_and_add_up() -> None:
    faults = [
        LinkFault("mds1", "mds2", "both", delay_ms=30),
        LinkFault("mds2", "mds1", "from", delay_ms=20, loss=0.5),
    ]
    assert transport_rules(faults, "mds1") == [
        {"peer": "mds2", "direction": "to", "drop": False, "delay_ms": 50, "loss": 0.5} | NO_SHARES
    ]
    assert transport_rules(faults, "mds2") == [
        {"peer": "mds1", "direction": "to", "drop": False, "delay_ms": 30, "loss": 0.0} | NO_SHARES
    ]


def test_an_isolated_server_loses_everybody_and_coordination() -> None:
    alone = LinkFault("mds1", EVERYBODY, "both", drop=True)
    assert {(rule["peer"], rule["direction"]) for rule in transport_rules([alone], "mds1")} == {
        ("*", "to"),
        ("*", "from"),
    }
    relay = relay_rules([alone], "mds1")
    assert relay["to"].drop and relay["from"].drop
    assert not relay_rules([alone], "mds2")["to"].drop


def test_coordination_is_cut_in_the_relay() -> None:
    cut = LinkFault(COORDINATION, "mds2", "to", drop=True)
    assert transport_rules([cut], "mds2") == []
    relay = relay_rules([cut], "mds2")
    assert relay["from"].drop and not relay["to"].drop


def test_healing_one_link_of_an_island_leaves_the_fault_until_the_last() -> None:
    reported: list[Event] = []
    ledger = FaultLedger(reported.append)
    ledger.begin(
        "cut", ["mds1"], {}, [LinkFault("mds1", "mds2", drop=True), LinkFault("mds1", "mds3", drop=True)]
    )
    assert ledger.heal("mds2", "mds1") == 1 and ledger.links() == [LinkFault("mds1", "mds3", drop=True)]
    assert ledger.heal("mds4", None) == 0
    assert ledger.heal(None, None) == 1 and not ledger.standing
    assert [type(event) for event in reported] == [FaultInjected, FaultEnded]


def test_what_undoes_names_what_it_undid() -> None:
    reported: list[Event] = []
    ledger = FaultLedger(reported.append)
    ledger.begin("crash", ["mds1", "mds2"], {})
    ledger.begin("pause", ["mds3"], {})
    assert ledger.end_of("mds3", "crash", "stop") == 0
    assert ledger.end_of("mds2", "crash", "stop") == 1
    assert reported[-1] == FaultEnded(1, "crash", ["mds1", "mds2"]) and list(ledger.standing) == [2]
