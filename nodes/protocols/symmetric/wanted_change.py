"""The reasons to change a view and the members of the next one. Pure, except for reading the member's state."""

from __future__ import annotations

import msgspec

from nodes.protocols.symmetric.agreement import Agreed
from nodes.protocols.symmetric.member import ViewMember
from nodes.protocols.symmetric.messages import JoinView
from nodes.protocols.symmetric.outsiders import fit_to_join
from nodes.protocols.symmetric.replica import SymmetricReplica
from nodes.replicas.disks import OTHER, WHOLE

NEAR = 64
"""Most groups that a joiner receives while the view changes. A joiner that lacks more catches up first."""


class WantedChange(msgspec.Struct, frozen=True):
    reason: str
    """Reason of the change; empty when the view may stay or too few members are present."""
    invited: list[str]
    """Members of the next view, this server included."""
    turn: int
    """Number of present members before this one."""
    minority: bool
    """Whether fewer than half of the view are present, so that others may have more members."""
    far: list[str]
    """Joiners that have to catch up first, and whose journals the member's leads on."""

    @property
    def changes(self) -> bool:
        return bool(self.reason)


def change_of_member(
    member: ViewMember,
    replica: SymmetricReplica,
    joining: dict[str, JoinView],
    stuck: bool,
    asked: bool = False,
) -> WantedChange:
    """The change that a member of the view wants. `stuck`: an earlier attempt failed. `asked`: an operator wants a new view.

    A doubtful member is invited as long as it is not gone, but keeps nobody out: it may be too slow for every attempt, and then joiners are needed.
    """
    view = member.view.members
    back = [name for name in view if name in joining]
    gone = sorted({*member.gone(), *back})
    stay = [name for name in view if name not in gone]
    doubtful = {*gone, *member.doubtful()}
    firm = [name for name in view if name not in doubtful]
    come = [
        name
        for name, join in joining.items()
        if name not in stay and member.received_joining(name, doubtful) and fit_to_join(join, firm)
    ]
    # A joiner without a common group has to begin from an image, which it reads by itself. Meanwhile others catch up.
    common = {name: sn for name in come if (sn := replica.log.agrees_up_to(joining[name].tails)) is not None}
    near = [name for name, sn in common.items() if sn >= replica.applied_sn - NEAR]
    far = [name for name in common if name not in near]
    reasons = [f"{name} is gone" for name in gone]
    reasons += [f"{name} joins" for name in near if name not in gone]
    if stuck:
        reasons.append("the attempt before came to nothing")
    if asked:
        reasons.append("somebody asked for a new view")
    invited = sorted({*stay, *near})
    standings = [replica.standing(member.view, name, joining[name].disk) for name in near]
    present = len(stay) + len(standings) - standings.count(OTHER)
    certain = len(stay) + standings.count(WHOLE)
    reason = ", ".join(reasons) if member.view.enough(present, certain) else ""
    return WantedChange(reason, invited, stay.index(replica.name), 2 * present < len(view), far)


def change_of_restarted(
    agreed: Agreed, replica: SymmetricReplica, joining: dict[str, JoinView], waited: bool
) -> WantedChange:
    """The change that a member wants after its whole view stopped: a view of all members, or later of those that came back."""
    own = replica.name
    disks = {own: replica.disk, **{name: join.disk for name, join in joining.items() if name != own}}
    standings = {name: replica.standing(agreed, name, disk) for name, disk in disks.items()}
    back = sorted(name for name, standing in standings.items() if standing != OTHER)
    certain = sum(standing == WHOLE for standing in standings.values())
    everybody = len(back) == len(agreed.members)
    enough = everybody or (waited and agreed.enough(len(back), certain))
    reason = f"no member is alive in view {agreed.number}" if enough else ""
    return WantedChange(reason, back, back.index(own), 2 * len(back) < len(agreed.members), [])


def may_revive(agreed: Agreed, replica: SymmetricReplica) -> bool:
    """Whether this server was in the view before a restart, and its disk has the groups that the view began with."""
    own = replica.standing(agreed, replica.name, replica.disk)
    return own != OTHER and replica.has_start(agreed)


def change_of_forced(
    agreed: Agreed, name: str, member: ViewMember | None, joining: dict[str, JoinView]
) -> WantedChange | None:
    """The change that an operator forces: a view of this server and the old members within its reach."""
    if name not in agreed.members:
        return None
    received = [each for each in agreed.members if each in joining]
    if member is not None:
        received += [each for each in member.view.members if each not in member.gone()]
    return WantedChange("a person forces this server", sorted({name, *received}), 0, False, [])
