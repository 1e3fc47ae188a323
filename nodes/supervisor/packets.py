"""Kernel rules for broken links: nftables rules for cuts, traffic control for delay and loss. Pure."""

from __future__ import annotations

from nodes.real.links import EVERYBODY, LinkRule

TABLE = "cloverlab"
BANDS_MAX = 16
"""Number of bands of the kernel's `prio` discipline; the first takes packets without delay."""

OF_TRANSPORT = ("delay_ms", "loss", "damage", "jitter_ms", "duplicate", "reorder")

Addresses = dict[str, list[str]]
"""IPv4 addresses of each peer on the data network."""


def left_to_transport(rules: list[LinkRule], netem: bool) -> list[LinkRule]:
    """Rules that a process must apply to its own messages: always damage, which the kernel's checksums would detect, and what happens to whole
    messages; without netem also delay and loss."""
    left = [
        LinkRule(
            rule.peer,
            rule.direction,
            delay_ms=0 if netem else rule.delay_ms,
            loss=0 if netem else rule.loss,
            damage=rule.damage,
            jitter_ms=rule.jitter_ms,
            duplicate=rule.duplicate,
            reorder=rule.reorder,
        )
        for rule in rules
    ]
    return [rule for rule in left if any(getattr(rule, fault) for fault in OF_TRANSPORT)]


def filter_script(rules: list[LinkRule], addresses: Addresses, interface: str, port: int) -> str:
    """Script for `nft -f` that replaces all rules of the supervisor. Only packets of the data interface are dropped, never those of the
    supervisor's own port."""
    lines = [
        f"table inet {TABLE}",
        f"delete table inet {TABLE}",
        f"table inet {TABLE} {{",
        *chain("input", "iifname", interface, port, drops(rules, addresses, "from", "saddr")),
        *chain("output", "oifname", interface, port, drops(rules, addresses, "to", "daddr")),
        "}",
    ]
    return "\n".join(lines) + "\n"


def chain(hook: str, name: str, interface: str, port: int, dropped: list[str]) -> list[str]:
    return [
        f" chain {hook} {{",
        f"  type filter hook {hook} priority 0; policy accept;",
        f'  {name} != "{interface}" accept',
        f"  tcp dport {port} accept",
        f"  tcp sport {port} accept",
        *(f"  {match}counter drop" for match in dropped),
        " }",
    ]


def drops(rules: list[LinkRule], addresses: Addresses, direction: str, field: str) -> list[str]:
    found: list[str] = []
    for rule in rules:
        if rule.drop and rule.direction in (direction, "both"):
            found += (
                [""] if rule.peer == EVERYBODY else [f"ip {field} {a} " for a in addresses.get(rule.peer, [])]
            )
    return list(dict.fromkeys(found))


def traffic_commands(rules: list[LinkRule], addresses: Addresses, interface: str) -> list[list[str]]:
    """Commands for `tc`, in order, after the previous discipline is removed. Each host delays its outgoing packets only.

    Raises ValueError for more delayed addresses than the kernel has bands.
    """
    slow = [rule for rule in rules if (rule.delay_ms or rule.loss) and rule.direction in ("to", "both")]
    everybody = [rule for rule in slow if rule.peer == EVERYBODY]
    if everybody:
        return [["qdisc", "add", "dev", interface, "root", "handle", "1:", *netem(everybody)]]
    harmed = {address: rule for rule in slow for address in addresses.get(rule.peer, [])}
    if not harmed:
        return []
    if len(harmed) >= BANDS_MAX:
        raise ValueError(f"{len(harmed)} delayed peers; the kernel has room for {BANDS_MAX - 1}")
    first_band = ["0"] * 16
    commands = [
        [
            "qdisc",
            "add",
            "dev",
            interface,
            "root",
            "handle",
            "1:",
            "prio",
            "bands",
            str(BANDS_MAX),
            "priomap",
            *first_band,
        ]
    ]
    for band, (address, rule) in enumerate(harmed.items(), 2):
        ours = [each for each in slow if each.peer == rule.peer]
        commands.append(["qdisc", "add", "dev", interface, "parent", f"1:{band:x}", *netem(ours)])
        commands.append(
            ["filter", "add", "dev", interface, "parent", "1:", "protocol", "ip", "u32", "match", "ip", "dst",
             f"{address}/32", "flowid", f"1:{band:x}"]
        )  # fmt: skip
    return commands


def netem(rules: list[LinkRule]) -> list[str]:
    """Arguments for all rules at once: delays add up, losses are independent."""
    delay_ms = sum(rule.delay_ms for rule in rules)
    passes = 1.0
    for rule in rules:
        passes *= 1 - rule.loss
    return ["netem", "delay", f"{delay_ms:g}ms", "loss", f"{100 * (1 - passes):g}%"]
