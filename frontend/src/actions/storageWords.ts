/** Events of the storage pool, of data nodes and of checkpoints as whole phrases. */

import { count } from "../store/time";
import { octetWords } from "../ui/octets";

interface Told {
  server: string;
}

type Tell<Own> = (event: Told & Own) => string;

function listed(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? "nobody") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** "sn 416" of "000000-0000000001-00000000000000000416-829ec90c". */
function imageSn(image: string): string {
  return `sn ${count(Number(image.split("-")[2] ?? 0))}`;
}

/** "p03 of the image at sn 416", or "the journal". */
function fileWords(file: string): string {
  if (file === "journal") return "the journal";
  const name = file.replace(/^image\//, "");
  const dot = name.lastIndexOf(".");
  return `${name.slice(dot + 1)} of the image at ${imageSn(name.slice(0, dot))}`;
}

function block(number: string): string {
  return `block ${number.padStart(16, "0").replace(/^(....)0*(?=.)/, "$1·")}`;
}

const ImageWritten: Tell<{ sn: number; octets: number; holders: string[]; took_ms: number }> = (event) =>
  `${event.server} took an image at sn ${count(event.sn)}, ${octetWords(event.octets)} in ${count(event.took_ms)} ms; ${listed(event.holders)} have it`;
const ImageShelved: Tell<{ sn: number }> = (event) =>
  `${event.server} has a whole image at sn ${count(event.sn)}`;
const ImageRefused: Tell<{ image: string; reason: string }> = (event) =>
  `${event.server} does not believe the image at ${imageSn(event.image)}: ${event.reason}`;
const PacketRefused: Tell<{ partition: number; reason: string }> = (event) =>
  `${event.server} did not take a packet of partition ${event.partition}: ${event.reason}`;
const JournalPruned: Tell<{ first_sn: number }> = (event) =>
  `${event.server} keeps its journal from sn ${count(event.first_sn)} on: an image holds the rest`;
const PoolReported: Tell<{ node: string; files: number; octets: number }> = (event) =>
  `${event.node} reported ${count(event.files)} files, ${octetWords(event.octets)}`;
const ReportRefused: Tell<{ node: string; reason: string }> = (event) =>
  `${event.server} does not believe the report of ${event.node}: ${event.reason}`;
const ReplicasDisagree: Tell<{ file: string; node: string; remedy: string; reason: string }> = (event) => {
  const remedies: Record<string, string> = { recover: "it is repaired", remove: "it is removed" };
  return `${fileWords(event.file)} on ${event.node}: ${event.reason}; ${remedies[event.remedy] ?? "nobody can say who is right"}`;
};
const Repairing: Tell<{ file: string; source: string; began: number; offset: number; size: number }> = (
  event,
) => {
  const from = `${fileWords(event.file)} from ${event.source}, from octet ${count(event.began)} on`;
  if (event.offset >= event.size) return `${event.server} repaired ${from}`;
  return `${event.server} repairs ${from}: ${octetWords(event.offset)} of ${octetWords(event.size)}`;
};

const ReplicaStored: Tell<{ block: string; length: number }> = (event) =>
  `${event.server} keeps ${block(event.block)}, ${octetWords(event.length)}`;
const ReplicaDamaged: Tell<{ block: string; why: string }> = (event) =>
  `${event.server} gives ${block(event.block)} out no more: ${event.why}`;
const ReplicaRemoved: Tell<{ block: string; reason: string }> = (event) =>
  `${event.server} removed ${block(event.block)}: ${event.reason}`;
const ReplicasFound: Tell<{ blocks: unknown[] }> = (event) =>
  `${event.server} found ${count(event.blocks.length)} blocks on its disk`;
const NodeHolds: Tell<{ blocks: number; octets: number }> = (event) =>
  `${event.server} has ${count(event.blocks)} blocks, ${octetWords(event.octets)}`;
const BlockHealth: Tell<{ block: string; health: string; holders: string[] }> = (event) => {
  const words: Record<string, string> = {
    whole: "has all its replicas again",
    under: `has too few replicas: ${listed(event.holders)}`,
    over: `has too many replicas: ${listed(event.holders)}`,
    missing: "is missing: no data node that lives has it",
    freed: "is in no file any more",
  };
  return `${block(event.block)} ${words[event.health] ?? event.health}`;
};
const DataNodeLost: Tell<{ group: string; node: string }> = (event) =>
  `${event.server} has not heard ${event.node} for too long: its replicas do not count in ${event.group}`;

const BlocksSetAside: Tell<{ group: string; blocks: number; octets: number }> = (event) =>
  `${event.server} went back with ${event.group}: ${count(event.blocks)} blocks set aside, ${octetWords(event.octets)}`;

const JournalStored: Tell<{ sn: number }> = (event) =>
  `${event.server} keeps the journal up to sn ${count(event.sn)}`;
const WriterFenced = (event: Told & { epoch: number }, words: { journalTerm: string }): string =>
  `${event.server} refuses earlier writers from now on: ${words.journalTerm} ${event.epoch}`;

const BarrierWritten: Tell<{ group: string; name: string; sn: number }> = (event) =>
  `${event.group} wrote the barrier of ${event.name} at sn ${count(event.sn)}`;
const BlocksAtBarrier: Tell<{ group: string; name: string; blocks: unknown[] }> = (event) =>
  `${event.group} names ${count(event.blocks.length)} blocks at the barrier of ${event.name}`;
const CheckpointOutcome: Tell<{ name: string; outcome: string }> = (event) =>
  event.outcome === ""
    ? `${event.server} could not learn what became of checkpoint ${event.name}`
    : `checkpoint ${event.name} is ${event.outcome}`;
const TakenBack: Tell<{ checkpoint: string; incarnation: number; operations: number; sn: number }> = (
  event,
) =>
  event.sn === 0
    ? `${event.server} does not have ${event.checkpoint}: it begins incarnation ${event.incarnation} anew`
    : `${event.server} went back to ${event.checkpoint}, sn ${count(event.sn)}: ${count(event.operations)} operations set aside`;

export const STORAGE_TOLD = {
  ...{ ImageWritten, ImageShelved, ImageRefused, PacketRefused, JournalPruned },
  ...{ PoolReported, ReportRefused, ReplicasDisagree, Repairing },
  ...{
    ReplicaStored,
    ReplicaDamaged,
    ReplicaRemoved,
    ReplicasFound,
    NodeHolds,
    BlockHealth,
    BlocksSetAside,
    DataNodeLost,
  },
  ...{ JournalStored, WriterFenced },
  ...{ BarrierWritten, BlocksAtBarrier, CheckpointOutcome, TakenBack },
};

/** Too many, or nothing new, for a line of their own. */
const QUIET = new Set([
  ...["PoolReported", "ReplicaStored", "ReplicaRemoved", "ReplicasFound", "NodeHolds"],
  ...["SharedStep", "Delivered", "FileCalled", "JournalStored", "BlocksAtBarrier"],
]);

/** Whether an event about stored things is worth a line by itself. */
export function isQuiet(event: { kind: string }): boolean {
  const { kind, file, health, offset, size } = event as Record<string, unknown>;
  if (kind === "ReplicasDisagree") return file === "journal";
  if (kind === "BlockHealth") return health !== "missing";
  if (kind === "Repairing") return Number(offset) < Number(size);
  return QUIET.has(String(kind));
}
