/** Messages as dots on their way, on a canvas over the links. */

import { along, type Curve } from "./layout";

export interface Dot {
  curve: Curve;
  /** Whether the dot moves from the curve's end to its start. */
  back: boolean;
  family: Family;
  reply: boolean;
  /** Number of messages behind the dot. */
  count: number;
  /** `performance.now()` at its departure. */
  left_ms: number;
}

export type Family = "call" | "journal" | "takeover" | "renewing" | "crossing" | "view" | "data" | "other";
export type Palette = Record<Family | "surface", string>;

export const TRAVEL_MS = 520;

const FAMILIES: Record<Exclude<Family, "other">, string[]> = {
  call: ["Request", "Answer", "Refused", "Referred"],
  journal: [
    ...["Prepare", "Prepared", "Commit", "Mismatch", "CommitDecision", "DecisionLogged"],
    ...["StartSegment", "WriteJournal", "JournalWritten", "OutOfStep", "FinishSegment", "SegmentFinished"],
    ...["AddEntry", "EntryAdded", "Accept", "Accepted", "Success"],
    ...["Broadcast", "Held", "Missing"],
  ],
  takeover: [
    ...["Recover", "Promise", "Stale", "PaxosPrepare", "PaxosPromise", "Outbid"],
    ...["NewEpoch", "EpochPromised", "HigherEpoch", "AcceptJournal", "JournalAccepted", "LedgerFenced"],
    ...["Flush", "Flushed", "Fetch", "Fetched", "Settle", "Settled"],
  ],
  renewing: [
    "PaxosJoin",
    "LogBegins",
    ...["Register", "Renew", "Renewed", "FetchGroups", "Groups"],
    ...["TakeImage", "ImageGoesOn", "ImageTaken", "Prune"],
    ...["ReadJournal", "JournalRead", "ReadEntries", "EntriesRead"],
    ...["OpenImage", "ImagePacket", "ImagePacketAcked", "PacketNotTaken", "CloseImage", "ImageShelved"],
    ...["AskImages", "ImagesReply", "FetchFile", "FilePiece", "AskSums", "SumsReply"],
    ...["AskReport", "FileReport", "RecoverFile", "RemoveFile"],
  ],
  crossing: [
    ...["OpReq", "CommitReq", "AbortReq", "Ack", "DecisionReq", "VoteReq", "Vote"],
    ...["Decision", "Decided", "OutcomeReq", "LookUp", "Found"],
    ...["RecoverBegin", "RecoverBegun", "RecoverEnd", "RecoverEnded"],
    ...["BeginMarking", "MarkingEnded", "TimeQuestion", "TimeReply", "Drain", "Drained"],
    ...["WriteBarrier", "BarrierStands", "CheckpointDecided"],
  ],
  view: [
    ...["AskView", "ViewCopy", "Ping", "AskLease", "LeaseGranted"],
    ...["Alive", "JoinView", "Leaving", "Welcome", "Installed"],
  ],
  data: [
    ...["Heartbeat", "HeartbeatAck", "FullReport", "Changes", "WantReport", "Replicate", "Remove"],
    ...["Locate", "Located", "Choose", "Chosen", "WriteBlock", "WriteOpened", "Packet", "PacketAcked"],
    ...["AskReplica", "ReplicaIs", "ReadBlock", "BlockRead"],
  ],
};
const REPLIES = new Set([
  "Answer",
  "Refused",
  "Prepared",
  "Mismatch",
  "Promise",
  "Stale",
  "Groups",
  "Renewed",
  "Referred",
  "ImageGoesOn",
  "ImageTaken",
  "ImagePacketAcked",
  "PacketNotTaken",
  "ImageShelved",
  "ImagesReply",
  "FilePiece",
  "SumsReply",
  "FileReport",
  "CommitReq",
  "AbortReq",
  "Vote",
  "Decided",
  "Found",
  "Checked",
  "ViewCopy",
  "DecisionLogged",
  "JournalWritten",
  "OutOfStep",
  "SegmentFinished",
  "EntryAdded",
  "EpochPromised",
  "HigherEpoch",
  "JournalAccepted",
  "LedgerFenced",
  "JournalRead",
  "EntriesRead",
  "MarkingEnded",
  "TimeReply",
  "Drained",
  "BarrierStands",
  "HeartbeatAck",
  "Located",
  "Chosen",
  "WriteOpened",
  "PacketAcked",
  "ReplicaIs",
  "BlockRead",
  "Accepted",
  "PaxosPromise",
  "Outbid",
  "LeaseGranted",
  "Held",
  "Flushed",
  "Fetched",
  "Settled",
  "Welcome",
]);

const BY_KIND = new Map(
  Object.entries(FAMILIES).flatMap(([family, kinds]) =>
    kinds.map((kind) => [kind, family as Family] as const),
  ),
);

export function familyOf(kind: string): Family {
  return BY_KIND.get(kind) ?? "other";
}

export function isReply(kind: string): boolean {
  return REPLIES.has(kind);
}

function eased(share: number): number {
  return share < 0.5 ? 2 * share * share : 1 - 2 * (1 - share) * (1 - share);
}

/** Draws the dots under way at `now_ms`; a reply is hollow, and several messages make a bigger dot. */
export function draw(
  context: CanvasRenderingContext2D,
  dots: readonly Dot[],
  now_ms: number,
  rem: number,
  palette: Palette,
): void {
  for (const { curve, back, family, reply, count, left_ms } of dots) {
    const share = (now_ms - left_ms) / TRAVEL_MS;
    if (share < 0 || share > 1) continue;
    const { x, y } = along(curve, back ? 1 - eased(share) : eased(share));
    const radius = rem * Math.min(0.5, 0.24 + 0.06 * Math.log2(count));
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = reply ? palette.surface : palette[family];
    context.fill();
    context.lineWidth = rem * 0.13;
    context.strokeStyle = reply ? palette[family] : palette.surface;
    context.stroke();
  }
}
