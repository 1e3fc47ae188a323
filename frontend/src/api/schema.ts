/** Made by `python -m backend.page_types --write`; edit the models there, which say what each field means. */
export type Process = "running" | "paused" | "stopped";
export type Role = "active" | "standby" | "junior" | "primary" | "secondary" | "member" | "joining" | "down";
export type Direction = "both" | "to" | "from";
export type Letter = "A" | "S" | "J" | "P" | "M" | "-";
export type CellState = "p" | "c" | "a" | "e" | "x";
export type ReplicaState = "agrees" | "behind" | "damaged" | "disputed" | "repairing" | "repaired";
export type Topic = "call" | "journal" | "takeover" | "renewing" | "crossing" | "view" | "data";
export type MessageLine = [sender: string, to: string, kind: string, at_ns: number, sent: number];
export interface Counters { objects: number; branch_points: number; open: number; done: number; aborted: number; sent: number; log_bytes: number; log_full: boolean; periodic: number; forced: number; protocol: number }
export interface Replicated { messages: Record<string, number>; size: Record<string, number>; records_per_batch: Record<string, number>; log_writes: number; operations: number }
export interface Pipeline { active: number; idle: number; decided: number; waiting: number; read: number; update: number; write: number }
export interface ErrorLine { error: string }
export interface Configuration { number: number; members: string[] }
export interface Group { name: string; epoch: number; active: string; lock_owner: string; commit_sn: number; configuration: Configuration }
export interface CountedGroup extends Group { counters: Counters | null }
export interface NodeProcess { name: string; process: Process; pid: number; address: string; container: string; image: string }
export interface Server { name: string; group: string; role: Role; believes: string; process: Process; epoch: number; sn: number; applied_sn: number; commit_sn: number; lag: number; pid: number; address: string; faults: number[]; warning: string; fenced: boolean; stopped_ns: number; container: string; image: string }
export interface Node { name: string; kind: string; figures: Record<string, number>; process: Process; pid: number; address: string; faults: number[]; warning: string; container: string; image: string }
export interface Fault { fault: number; verb: string; targets: string[]; options: Record<string, unknown>; at_ns: number }
export interface Client extends NodeProcess { rate_per_s: number; paused: boolean; clients: number }
export interface EnsembleServer extends NodeProcess { role: "leader" | "follower" | "looking" | "down" }
export interface Coordination { pid: number; address: string; process: Process; embedded: boolean; servers: EnsembleServer[] }
export interface Link { a: string; b: string; direction: Direction; rule: string }
export interface InvariantStatus { invariant: string; meaning: string; counts: string; state: "grey" | "green" | "red"; checked: number; explanation: string; evidence: [string, number][] }
export interface Cluster { cluster: string; protocol: string; fabric: string; run: number; seq: number; clock: string; now_ns: number; settled: boolean; start_s: number | null; kept_s: number; trouble: string; variant: string; holes: string[]; detection: string; timing: Record<string, number>; groups: CountedGroup[]; replicated: Record<string, Replicated>; pipelines: Record<string, Pipeline>; servers: Server[]; nodes: Node[]; data_nodes: Record<string, unknown>[]; journal_nodes: Record<string, unknown>[]; clients: Client[]; coordination: Coordination; links: Link[]; faults: Fault[]; invariants: InvariantStatus[] }
export interface Status { cluster: string; protocol: string; settled: boolean; problems: string[]; rows: Record<string, unknown>[] }
export interface Picture { at_ns: number; seq: number; servers: Record<string, Server>; groups: Record<string, Group>; nodes: Record<string, Node>; faults: Fault[]; invariants: Record<string, string> }
export interface PictureChanges { at_ns?: number; seq?: number; servers?: Record<string, Server>; groups?: Record<string, Group>; nodes?: Record<string, Node>; faults?: Fault[]; invariants?: Record<string, string> }
export interface WorkloadChange { rate_per_s?: number; paused?: boolean; clients?: number }
export interface WorkloadState { rate_per_s: number; paused: boolean; clients: number }
export interface ClockState { now_ns: number; playing: boolean; speed: number; reached: number; until_ns: number; until_event: string; until_condition: string; met: string }
export interface ClockChange { playing?: boolean; speed?: number; until_ns?: number; until_event?: string; until_condition?: string; step?: "event" | "message" }
export interface Column { field: string; label: string; unit: "count" | "bytes"; summed: boolean; bad: boolean }
export interface Lane { kind: string; label: string; says: string; sign: string; linked: "servers" | "clients"; counted: boolean; columns: Column[] }
export interface Run { run: number; protocol: string; started_at: string; ended_at: string | null; started_ns: number; first_seq: number; last_seq: number; live: boolean; origin: string; lanes: Lane[] }
export interface Failover { group: string; fault_ns: number; detection_ms: number; election_ms: number; switch_ms: number; reconnect_ms: number | null; total_ms: number; old: string; new: string; epoch: number; evidence: string }
export interface Evidence { group: string; epoch: number; old: string; new: string; last_sn: number; last_epoch: number; holders: string[]; acknowledged: number; found: number; from_sn: number; waited: number; answered: number; given_up: number; longest_ms: number }
export interface Stamp { seq: number; server: string; boot: number; number: number; at_ns: number; cause: number; cause_server: string; carrier: string; kind: string; says: string; story: boolean }
export interface EventPage { events: LabEvent[]; next: number; left_out: number }
export interface Span { from_ns: number; to_ns: number; letter: Letter }
export interface Band { server: string; group: string; spans: Span[] }
export interface FaultSpan { fault: number; verb: string; targets: string[]; at_ns: number; ended_ns: number | null }
export interface BarrierMark { name: string; at_ns: number; groups: string[] }
export interface ViewMark { group: string; number: number; members: string[]; at_ns: number }
export interface Timeline { from_ns: number; to_ns: number; bucket_ns: number; ok: number[]; failed: number[]; p50_ms: (number | null)[]; p99_ms: (number | null)[]; bands: Band[]; faults: FaultSpan[]; barriers: BarrierMark[]; views: ViewMark[]; failovers: Failover[] }
export interface JournalRow { name: string; cells: [number, number, number, CellState][] }
export interface Journals { group: string; commit_sn: number; first_sn: number; last_sn: number; servers: JournalRow[]; barriers: [number, string][] }
export interface JournalRecord { server: string; sn: number; group: unknown }
export interface Option { name: string; type: "direction" | "choice" | "whole" | "number" | "share" | "switch" | "names" | "word"; default: unknown; help: string; unit: string; least: number; most: number; step: number; choices: string[]; simulated_choices: string[]; fabrics: ("simulated" | "processes" | "containers")[]; several: boolean; shown: boolean }
export interface Undo { verb: string; options: Record<string, unknown> }
export interface Verb { verb: string; label: string; does: string; targets: string[]; label_one: string; key: string; options: Option[]; undo: Undo | null; danger: string | null; counts: [number, number]; states: Process[]; lasts: boolean; mends: boolean; leaves: Process | null; unseats: boolean; damages: boolean; empties: boolean; drawn: boolean; locked: boolean | null; asks: boolean; fabrics: ("simulated" | "processes" | "containers")[]; alone: string; done: string; done_one: string; undone: string; rule: string }
export interface FaultRequest { verb: string; targets?: string[]; options?: Record<string, unknown> }
export interface FaultDone { fault: number; detail: string | null; added: string | null }
export interface ClusterRequest { name: string; protocol?: string; variant?: string; groups?: number; standbys?: number; placement?: string; granularity?: string; cross_group?: string; order?: string; quorums?: string; holes?: string[]; nodes?: Record<string, number>; seed?: number; rate_per_s?: number }
export interface FleetMember { name: string; cluster: string; protocol: string; fabric: string; settled: boolean; seed: number; now_ns: number; playing: boolean; speed: number; trouble: string }
export interface FsRequest { do: "ls" | "mkdir" | "create" | "touch" | "chmod" | "mv" | "ln" | "rm" | "stat" | "du"; path: string; to?: string; parents?: boolean; recursive?: boolean; overwrite?: boolean; mode?: number; after?: string; limit?: number }
export interface Entry { name: string; kind: "file" | "directory"; home: string; branch_point: boolean; entries: number; length: number; mode: number; owner: string; mtime_ns: number }
export interface Directory { path: string; home: string; entries: Entry[]; more: boolean }
export interface FileBlock { number: string; stamp: number; length: number; health: "whole" | "under" | "over" | "missing"; replicas: Record<string, "good" | "stale" | "damaged" | "writing"> }
export interface FileBlocks { path: string; length: number; replication: number; block_size: number; writing: boolean; more: boolean; blocks: FileBlock[] }
export interface FsAnswer { result: unknown; server: string; epoch: number; sn: number }
export interface Written { size: number }
export interface Checked { objects: number; still: boolean; faults: string[] }
export interface Renewal { phase: string; sn: number; goal_sn: number }
export interface PoolNode { name: string; reported_ns: number; files: number; size: number; refused: string; renewal: Renewal | null; faulted: string }
export interface PoolImage { name: string; sn: number; size: number; partitions: number; writer: string; took_ms: number; whole: string[]; refused: Record<string, string> }
export interface Replica { size: number; valid: number; checksum: number; epoch: number; first_sn: number; last_sn: number; state: ReplicaState; reason: string; behind_by: number; source: string; began: number; offset: number }
export interface Pool { group: string; nodes: Record<string, PoolNode>; images: Record<string, PoolImage>; files: Record<string, Record<string, Replica>> }
export interface PoolOrder { group: string; do: "check" | "image" }
export interface Ordered { server: string }
export interface LookedIn { group: string; server: string; sn: number; partitions: number; loaded: number[]; size: number; of_bytes: number }
export interface Attributes { inode: number; kind: "file" | "directory"; mode: number; owner: string; group: string; mtime_ns: number; atime_ns: number; length: number; replication: number; entries: number; nlink: number }
export interface Looked { path: string; found: Attributes | null; names: string[]; steps: LookedIn[] }
export interface MarkingPart { drain_ns: number; drained_ns: number; written_ns: number; resumed_ns: number; sn: number }
export interface Marking { name: string; time_server: string; began_ns: number; ended_ns: number; outcome: string; reason: string; groups: Record<string, MarkingPart> }
export interface Aside { group: string; groups: number; operations: number; sn: number; at_ns: number }
export interface BlocksAside { blocks: number; size: number }
export interface Recovery { incarnation: number; checkpoint: string; servers: Record<string, Aside>; data_nodes: Record<string, BlocksAside> }
export interface CheckpointStory { markings: Marking[]; recoveries: Recovery[] }
export interface BarrierAt { sn: number; epoch: number; digest: string }
export interface Checkpoint { name: string; number: number; state: "complete" | "void" | "aside"; incarnation: number; time_server: string; stamp_ns: number; barriers: Record<string, BarrierAt> }
export interface Checkpoints { checkpoints: Checkpoint[]; incarnation: number; recovered_to: string }
export interface MarkRequest { name: string }
export interface Behind { name: string; groups: number; operations: number }
export interface Deleted { deleted: string }
export interface RecoverRequest { name: string; confirmed?: boolean }
export interface Recovering extends Behind { incarnation: number }
export interface Kind { count: number; size: number }
export interface Curve { bucket_ns: number; ok: number[]; failed: number[]; p50_ms: (number | null)[]; p99_ms: (number | null)[] }
export interface Measured { calls: number; failed_calls: number; seconds: number; longest_outage_ms: number; p50_ms: number | null; p99_ms: number | null; messages: Record<string, Kind>; messages_per_call: number; bytes_per_call: number; log_writes: number; log_writes_per_call: number; curve: Curve; faults: [number, string, string[]][]; failovers: Failover[]; invariants: Record<string, unknown>[] }
export interface Compared { cluster: Record<string, unknown>; state: "waiting" | "running" | "done" | "failed" | "cancelled"; at_s: number; error: string; measured: Measured | null }
export interface Comparison { comparison: number; scenario: string; seed: number; configurations: Compared[] }
export interface ClusterChange { protocol?: string; variant?: string; groups?: number; standbys?: number; placement?: string; granularity?: string; cross_group?: string; holes?: string[] }
export interface CompareRequest { scenario: string; seed?: number; configurations: ClusterChange[] }
export interface Family { name: string; says: string; groups_max: number; standbys_max: number; holes: string[] }
export interface Scenario { file: string; name: string; teaches: string; paper: string; cluster: Record<string, unknown> }
export interface Choices { families: Family[]; placements: string[]; cross_groups: string[]; scenarios: Scenario[] }
export interface UntilChoice { text: string; means: string }
export interface ConditionNow { holds: boolean; at_ns: number }
export interface TreeNode { path: string; data: string; version: number; session: string; owner: string }
export interface WatchedNode extends TreeNode { cut: number; watchers: string[] }
export interface TreeSession { session: string; server: string; nodes: string[]; watches: number; timeout_ms: number; connected: boolean | null }
export interface TreeView { nodes: WatchedNode[]; left_out: number; sessions: TreeSession[]; sessions_left_out: number; sessions_known: boolean; watches_known: boolean }
export interface ExplainedChange { event: LabEvent; path: string; causes: LabEvent[]; skipped: number; beyond: string }
export interface TreeChanges { changes: ExplainedChange[]; left_out: number }
export interface ScenarioRow { file: string; folder: string; name: string; teaches: string; paper: string; protocol: string; families: string[]; fabrics: string[]; steps: number; variants: number; error: string }
export interface PlannedStep { number: number; line: number; begins: string; does: string }
export interface ScenarioFamily { name: string; refused: string }
export interface ScenarioPlan { name: string; teaches: string; paper: string; protocol: string; seed: number; trial: boolean; variants: string[]; steps: PlannedStep[]; end: string; expects: string[]; families: ScenarioFamily[]; fabrics: string[]; notes: string[] }
export interface WrongLine { line: number | null; reason: string }
export interface ScenarioCheck { plan: ScenarioPlan | null; error: WrongLine | null }
export interface ScenarioFile { file: string; text: string; check: ScenarioCheck }
export interface ScenarioRunRow { run: number; name: string; on: "simulated" | "processes"; protocol: string; seed: number; variant: number; scale: number; state: "running" | "done" | "failed" | "cancelled"; at_s: number; error: string; held: boolean | null }
export interface StepResult { number: number; text: string; state: "waiting" | "done" | "failed"; at_ns: number; why: string }
export interface ExpectationVerdict { expected: string; held: boolean; seen: string }
export interface LetterRow { at_ns: number; letters: string; under_way: boolean }
export interface GroupRows { name: string; servers: string[]; rows: LetterRow[] }
export interface CallCurve { bucket_ns: number; ok: number[]; failed: number[]; outages: [number, number][] }
export interface ScenarioOutcome { name: string; teaches: string; paper: string; on: string; seed: number; scale: number; held: boolean; verdicts: ExpectationVerdict[]; groups: GroupRows[]; started_ns: number; ended_ns: number; calls: number; failed_calls: number; longest_outage_ms: number; invariants: Record<string, unknown>[]; timeline: [number, string, string][]; story: string[]; steps: StepResult[]; curve: CallCurve | null }
export interface PageRun { run: number; name: string; on: "simulated" | "processes"; protocol: string; seed: number; variant: number; scale: number; state: "running" | "done" | "failed" | "cancelled"; at_s: number; error: string; held: boolean | null; text: string; steps: StepResult[]; outcome: ScenarioOutcome | null }
export interface ScenarioText { text: string }
export interface ScenarioRunRequest extends ScenarioText { variant?: number; on?: "simulated" | "processes"; protocol?: string; seed?: number; scale?: number }
export interface LabRow { lab: string; name: string; goal: string; level: "first steps" | "further" | "hard"; papers: string[]; minutes: number; done: boolean }
export interface LabQuestion { unit: string; choices: Record<string, string> }
export interface LabStep { id: string; text: string; question: LabQuestion | null; hints: number }
export interface Lab extends LabRow { page: string; numbers: Record<string, number>; seconds: number; cluster: Record<string, unknown>; workload: Record<string, unknown>; read: Record<string, string>[]; steps: LabStep[] }
export interface LabRunRequest { student: string; answers: Record<string, boolean | number | number | string>; actions: Record<string, unknown>[] }
export interface StepVerdict { id: string; passed: boolean; seen: string; why: string }
export interface LabVerdict { lab: string; student: string; numbers: Record<string, number>; passed: boolean; steps: StepVerdict[]; lost: string[] }
export interface AttemptRequest { lab: string; student: string }
export interface Predictions { answers: Record<string, boolean | number | number | string> }
export interface HintRequest { step: string }
export interface AttemptStep { id: string; state: "open" | "answered" | "passed" | "failed"; seen: string; why: string; answer: string; hints: string[]; hints_left: number }
export interface Attempt { name: string; lab: string; student: string; phase: "predict" | "run" | "over"; passed: boolean; run_s: number; steps: AttemptStep[]; lost: string[]; trouble: string }
export interface ClassRequest { name?: string }
export interface JoiningRequest { joining: boolean }
export interface JoinRequest { code: string; name: string }
export interface Joined { key: string; name: string }
export interface Class { number: number; name: string; code: string; open: boolean; joining: boolean; students: number; began_s: number; ended_s: number; network: boolean; address: string }
export interface HandedIn { lab: string; passed: boolean }
export interface TileStep { id: string; state: "open" | "answered" | "passed" | "failed"; answer: string }
export interface TileServer { name: string; group: string; role: string; process: string }
export interface TileCluster { name: string; protocol: string; now_ns: number; playing: boolean; servers: TileServer[]; unserved: string[]; broken: string[]; trouble: string }
export interface Tile { id: string; name: string; away_s: number; absent: boolean; stuck: string; passed: string[]; verdicts: HandedIn[]; lab: string; phase: "" | "predict" | "run" | "over"; run_s: number; steps: TileStep[]; cluster: TileCluster | null }
export interface Wall extends Class { tiles: Tile[] }
export interface StudentName { id: string; name: string }
export interface Student { class_name: string; name: string; passed: string[]; verdicts: HandedIn[]; cluster: string; free: boolean; looks_at: StudentName | null }
export interface ClusterName { name: string }
export interface StudentKey { key: string }
export interface VerdictRequest { lab: string; student: string; seeds: string; passed: boolean; seed: number; invariant: string; sha256: string; version: string; signature: string }
export interface CurvePoint { at_s: number; seeds: number; coverage: number }
export interface ScheduleStep { when: string; what: string }
export interface Schedule { cluster: string[]; clients: ScheduleStep[]; faults: ScheduleStep[] }
export interface BugScore { family: string; invariant: string; took_s: number; seeds: number; limit_s: number; jobs: number; version: string; measured_at_s: number }
export interface SearchRequest { family?: string; bug?: string; minutes?: number; seeds?: number; first_seed?: number; jobs?: number }
export interface SearchedFamily { name: string; says: string }
export interface SearchedBug { name: string; kind: "hole" | "mutation"; says: string; family: string; families: string[] }
export interface SearchChoices { families: SearchedFamily[]; bugs: SearchedBug[]; jobs: number; jobs_max: number }
export interface FailureRow { number: number; family: string; invariant: string; place: string; count: number; explanation: string; faults: number; calls: number; state: "found" | "shrinking" | "shrunk" | "partly shrunk"; trials: number; note: string }
export interface Search { state: "none" | "running" | "ended" | "stopped" | "failed"; note: string; family: string | null; bug: string | null; minutes: number | null; seeds_asked: number | null; first_seed: number; jobs: number; took_s: number; left_s: number | null; seeds: number; seeds_per_s: number; coverage: number; beyond: number; calls: number; answered: number; checked: number; failed: number; curve: CurvePoint[]; failures: FailureRow[] }
export interface Failure { number: number; seed: number; explanation: string; schedule: Schedule; story: string[]; file: string; yaml: string; command: string }
export interface MechanismRow { paper: string; mechanism: string; name: string; about: string; sections: string[]; protocol: string }
export interface ExperimentRow { name: string; section: string; asks: string; ran_at_s: number }
export interface PaperRow { paper: string; short: string; title: string; authors: string; published: string; about: string; mechanisms: MechanismRow[]; experiments: ExperimentRow[] }
export interface FaultOrder { verb: string; targets: string[]; options: Record<string, unknown> }
export interface LoadOrder { rate_per_s: number | null; paused: boolean | null }
export interface ShownStep { text: string; see: string; fault: FaultOrder | null; load: LoadOrder | null; mark: string; recover: string }
export interface MechanismPage { paper: string; mechanism: string; name: string; about: string; page: string; cites: Record<string, string>[]; protocol: string; servers: number; look: ("journals" | "timeline" | "costs" | "namespace" | "pool" | "checkpoints" | "coordination")[]; steps: ShownStep[]; modelled: string }
export interface BothFigures { figure: string; theirs: number | null; ours: number | null }
export interface ExperimentPage { paper: string; short: string; name: string; section: string; asks: string; saw: string; modelled: string; command: string; ran_at_s: number; quick: boolean; figures: BothFigures[]; notes: string[] }
export interface PaperCluster { name: string; paper: string; mechanism: string; settled: boolean; trouble: string }
export interface PaperClusterRequest { paper: string; mechanism: string }
export interface HelloFrame { type: "hello"; run: number; seq: number; picture: Picture; verbs: Verb[]; lanes: Lane[]; invariants: InvariantStatus[]; now_ns: number; clock: ClockState | null; left_out: number }
export interface EventsFrame { type: "events"; events: LabEvent[]; next: number; left_out: number; picture: PictureChanges }
export interface RateFrame { type: "rate"; at_ns: number; ok: number; failed: number; span_ms: number; p50_ms: number | null; p99_ms: number | null }
export interface ClockFrame { type: "clock"; now_ns: number; playing: boolean; speed: number; reached: number; until_ns: number; until_event: string; until_condition: string; met: string }
export interface MessagesFrame { type: "messages"; lines: MessageLine[]; dropped: number }
export interface ProcessesFrame { type: "processes"; servers: NodeProcess[]; clients: Client[]; coordination: Coordination; links: Link[] }
export interface FailoverFrame { type: "failover"; group: string; fault_ns: number; detection_ms: number; election_ms: number; switch_ms: number; reconnect_ms: number | null; total_ms: number; old: string; new: string; epoch: number; evidence: string }
export interface CountersFrame { type: "counters"; groups: Record<string, Counters>; servers: Record<string, Replicated>; pipelines: Record<string, Pipeline> }
export interface InvariantsFrame { type: "invariants"; invariants: InvariantStatus[] }
export interface CheckFailed extends Stamp { kind: "CheckFailed"; invariant: string; explanation: string; evidence: [string, number][] }
export interface Configured extends Stamp { kind: "Configured"; group: string; of_number: number; members: string[]; disks: Record<string, number> }
export interface Drawn extends Stamp { kind: "Drawn"; group: string; round: number; draws: [string, number, number, number][]; winner: string; by: string }
export interface FaultInjected extends Stamp { kind: "FaultInjected"; fault: number; verb: string; targets: string[]; options: Record<string, unknown> }
export interface LockHeld extends Stamp { kind: "LockHeld"; group: string; owner: string }
export interface LockRemoved extends Stamp { kind: "LockRemoved"; group: string; holder: string; evidence: string; agreed: string[] }
export interface Placed extends Stamp { kind: "Placed"; group: string; of_server: string; state: string; epoch: number; sn: number }
export interface Serving extends Stamp { kind: "Serving"; group: string; epoch: number; sn: number; crc: string; members: string[] }
export interface SessionEnded extends Stamp { kind: "SessionEnded"; of_server: string; session: string; reason: string }
export interface StepTaken extends Stamp { kind: "StepTaken"; procedure: string; step: string; paper: string; detail: string; epoch: number; checkpoint: string; outcome: string; took_ms: number }
export type LabEvent = CheckFailed | Configured | Drawn | FaultInjected | LockHeld | LockRemoved | Placed | Serving | SessionEnded | StepTaken;
export type StreamFrame = HelloFrame | EventsFrame | RateFrame | ClockFrame | MessagesFrame | ProcessesFrame | FailoverFrame | CountersFrame | InvariantsFrame;
export interface Says { term: string; place: string }
export interface States { p: [string, string]; c: [string, string]; a: [string, string]; e: [string, string]; x: [string, string] }
export interface Messages { takeover: string; renewing: string; view: string }
export interface Vocabulary { called: string; term: string; place: string; says: Says; unit: string; batch: string; states: States; settled: string; leads: string; follows: string; behind: string; election: string; elected: string; begins: string; messages: Messages; locked: boolean; lacks: string[] }
export const MESSAGES: Record<string, readonly [Topic, boolean]> = { Request: ["call", false], CheckOperation: ["call", false], Answer: ["call", true], Refused: ["call", true], Referred: ["call", true], Checked: ["call", true], AskView: ["view", false], ViewCopy: ["view", true], Heartbeat: ["data", false], FullReport: ["data", false], Changes: ["data", false], WantReport: ["data", false], Replicate: ["data", false], Remove: ["data", false], Locate: ["data", false], Located: ["data", true], Choose: ["data", false], Chosen: ["data", true], WriteBlock: ["data", false], Packet: ["data", false], AskReplica: ["data", false], ReplicaIs: ["data", true], ReadBlock: ["data", false], BlockRead: ["data", true], HeartbeatAck: ["data", true], WriteOpened: ["data", true], PacketAcked: ["data", true], FinishSegment: ["journal", false], StartSegment: ["journal", false], WriteJournal: ["journal", false], PruneJournal: ["journal", false], AddEntry: ["journal", false], ForgetLedgers: ["journal", false], SegmentFinished: ["journal", true], JournalWritten: ["journal", true], OutOfStep: ["journal", true], EntryAdded: ["journal", true], NewEpoch: ["takeover", false], AcceptJournal: ["takeover", false], EpochPromised: ["takeover", true], HigherEpoch: ["takeover", true], JournalAccepted: ["takeover", true], LedgerFenced: ["takeover", true], ReadJournal: ["renewing", false], JournalRead: ["renewing", true], ReadEntries: ["renewing", false], EntriesRead: ["renewing", true], TakeImage: ["renewing", false], Prune: ["renewing", false], ImageTaken: ["renewing", true], ImageGoesOn: ["renewing", true], OpenImage: ["renewing", false], ImagePacket: ["renewing", false], CloseImage: ["renewing", false], AskImages: ["renewing", false], ImagesReply: ["renewing", true], FetchFile: ["renewing", false], FilePiece: ["renewing", true], AskSums: ["renewing", false], SumsReply: ["renewing", true], AskReport: ["renewing", false], FileReport: ["renewing", true], RecoverFile: ["renewing", false], RemoveFile: ["renewing", false], ImagePacketAcked: ["renewing", true], PacketNotTaken: ["renewing", true], ImageShelved: ["renewing", true], BeginMarking: ["crossing", false], MarkingEnded: ["crossing", true], TimeQuestion: ["crossing", false], TimeReply: ["crossing", true], Drain: ["crossing", false], Drained: ["crossing", true], WriteBarrier: ["crossing", false], BarrierStands: ["crossing", true], CheckpointDecided: ["crossing", false], AskReach: ["crossing", false], Reach: ["crossing", true], OpReq: ["crossing", false], Ack: ["crossing", false], DecisionReq: ["crossing", false], VoteReq: ["crossing", false], Decision: ["crossing", false], OutcomeReq: ["crossing", false], LookUp: ["crossing", false], RecoverBegin: ["crossing", false], RecoverBegun: ["crossing", false], RecoverEnd: ["crossing", false], RecoverEnded: ["crossing", false], CommitReq: ["crossing", true], AbortReq: ["crossing", true], Vote: ["crossing", true], Decided: ["crossing", true], Found: ["crossing", true], AskGrant: ["view", false], AskSilence: ["view", false], Granted: ["view", true], Silent: ["view", true], Prepare: ["journal", false], Commit: ["journal", false], CommitDecision: ["journal", false], Prepared: ["journal", true], Mismatch: ["journal", true], DecisionLogged: ["journal", true], Recover: ["takeover", false], HandOver: ["takeover", false], HandOverReply: ["takeover", true], Promise: ["takeover", true], Stale: ["takeover", true], FetchGroups: ["renewing", false], Groups: ["renewing", true], Register: ["renewing", false], Renew: ["renewing", false], Renewed: ["renewing", true], Accept: ["journal", false], Success: ["journal", false], Accepted: ["journal", true], PaxosPrepare: ["takeover", false], PaxosPromise: ["takeover", true], Outbid: ["takeover", true], LogBegins: ["renewing", false], PaxosJoin: ["renewing", false], AskLease: ["view", false], LeaseGranted: ["view", true], Broadcast: ["journal", false], Missing: ["journal", false], Held: ["journal", true], Flush: ["takeover", false], Flushed: ["takeover", true], Fetch: ["takeover", false], Fetched: ["takeover", true], Settle: ["takeover", false], Settled: ["takeover", true], Alive: ["view", false], Leaving: ["view", false], JoinView: ["view", false], Installed: ["view", false], Welcome: ["view", true] };
export const LETTERS: Record<Role, Letter> = { active: "A", standby: "S", junior: "J", primary: "P", secondary: "S", member: "M", joining: "J", down: "-" };
export const FAMILIES = {
  "mams": {"called":"MAMS","term":"epoch","place":"sn","says":{"term":"counts the actives of a group: each takeover begins the next one","place":"serial number of a journal group: all servers write the same groups in the same order"},"unit":"group","batch":"group","states":{"p":["prepared","durable here, not known to be committed"],"c":["committed","committed for good, not in the namespace here yet"],"a":["applied","committed, and in the namespace of this server"],"e":["other epoch","conflicts with the committed entry; will be removed"],"x":["missing","others have it, this server has not"]},"settled":"committed","leads":"active","follows":"standby","behind":"junior","election":"Each standby drew a number; the largest one takes the lock.","elected":"upgrading","begins":"as a junior","messages":{"takeover":"takeover","renewing":"renewing, images","view":"view"},"locked":true,"lacks":[]},
  "single": {"called":"single server","term":"epoch","place":"sn","says":{"term":"counts the actives of a group: each takeover begins the next one","place":"serial number of a journal group: all servers write the same groups in the same order"},"unit":"group","batch":"group","states":{"p":["prepared","durable here, not known to be committed"],"c":["committed","committed for good, not in the namespace here yet"],"a":["applied","committed, and in the namespace of this server"],"e":["other epoch","conflicts with the committed entry; will be removed"],"x":["missing","others have it, this server has not"]},"settled":"committed","leads":"active","follows":"standby","behind":"junior","election":"Each standby drew a number; the largest one takes the lock.","elected":"upgrading","begins":"as a junior","messages":{"takeover":"takeover","renewing":"renewing, images","view":"view"},"locked":true,"lacks":[]},
  "2pc": {"called":"two-phase commit","term":"epoch","place":"sn","says":{"term":"counts the actives of a group: each takeover begins the next one","place":"serial number of a journal group: all servers write the same groups in the same order"},"unit":"group","batch":"group","states":{"p":["prepared","durable here, not known to be committed"],"c":["committed","committed for good, not in the namespace here yet"],"a":["applied","committed, and in the namespace of this server"],"e":["other epoch","conflicts with the committed entry; will be removed"],"x":["missing","others have it, this server has not"]},"settled":"committed","leads":"active","follows":"standby","behind":"junior","election":"Each standby drew a number; the largest one takes the lock.","elected":"upgrading","begins":"as a junior","messages":{"takeover":"takeover","renewing":"renewing, images","view":"view"},"locked":true,"lacks":[]},
  "backupnode": {"called":"BackupNode","term":"epoch","place":"sn","says":{"term":"counts the actives of a group: each takeover begins the next one","place":"serial number of a journal group: all servers write the same groups in the same order"},"unit":"group","batch":"group","states":{"p":["prepared","durable here, not known to be committed"],"c":["committed","committed for good, not in the namespace here yet"],"a":["applied","committed, and in the namespace of this server"],"e":["other epoch","conflicts with the committed entry; will be removed"],"x":["missing","others have it, this server has not"]},"settled":"committed","leads":"active","follows":"standby","behind":"junior","election":"Each standby drew a number; the largest one takes the lock.","elected":"upgrading","begins":"as a junior","messages":{"takeover":"takeover","renewing":"renewing, images","view":"view"},"locked":true,"lacks":[]},
  "qjm": {"called":"QJM","term":"epoch","place":"sn","says":{"term":"counts the actives of a group: each takeover begins the next one","place":"serial number of a journal group: all servers write the same groups in the same order"},"unit":"group","batch":"group","states":{"p":["written","in this server's own journal, not known to be committed"],"c":["committed","committed for good, not in the namespace here yet"],"a":["applied","committed, and in the namespace of this server"],"e":["other epoch","conflicts with the committed entry; will be removed"],"x":["missing","others have it, this server has not"]},"settled":"committed","leads":"active","follows":"standby","behind":"junior","election":"The standby that is first takes it, and shuts the old active out of the journal.","elected":"taking over","begins":"as a junior","messages":{"takeover":"takeover","renewing":"reading the journal","view":"view"},"locked":true,"lacks":[]},
  "bookkeeper": {"called":"BookKeeper","term":"epoch","place":"sn","says":{"term":"counts the actives of a group: each takeover begins the next one","place":"serial number of a journal group: all servers write the same groups in the same order"},"unit":"group","batch":"group","states":{"p":["written","in this server's own journal, not known to be committed"],"c":["committed","committed for good, not in the namespace here yet"],"a":["applied","committed, and in the namespace of this server"],"e":["other epoch","conflicts with the committed entry; will be removed"],"x":["missing","others have it, this server has not"]},"settled":"committed","leads":"active","follows":"standby","behind":"junior","election":"The standby that is first takes it, and shuts the old active out of the journal.","elected":"taking over","begins":"as a junior","messages":{"takeover":"takeover","renewing":"reading the journal","view":"view"},"locked":true,"lacks":[]},
  "avatar": {"called":"AvatarNode","term":"epoch","place":"sn","says":{"term":"counts the actives of a group: each takeover begins the next one","place":"serial number of a journal group: all servers write the same groups in the same order"},"unit":"group","batch":"group","states":{"p":["written","in this server's own journal, not known to be committed"],"c":["committed","committed for good, not in the namespace here yet"],"a":["applied","committed, and in the namespace of this server"],"e":["other epoch","conflicts with the committed entry; will be removed"],"x":["missing","others have it, this server has not"]},"settled":"committed","leads":"active","follows":"standby","behind":"junior","election":"The standby that is first takes it, and shuts the old active out of the journal.","elected":"taking over","begins":"as a junior","messages":{"takeover":"takeover","renewing":"reading the journal","view":"view"},"locked":true,"lacks":[]},
  "hadoop-ha": {"called":"Hadoop HA","term":"epoch","place":"sn","says":{"term":"counts the actives of a group: each takeover begins the next one","place":"serial number of a journal group: all servers write the same groups in the same order"},"unit":"group","batch":"group","states":{"p":["written","in this server's own journal, not known to be committed"],"c":["committed","committed for good, not in the namespace here yet"],"a":["applied","committed, and in the namespace of this server"],"e":["other epoch","conflicts with the committed entry; will be removed"],"x":["missing","others have it, this server has not"]},"settled":"committed","leads":"active","follows":"standby","behind":"junior","election":"The standby that is first takes it, and shuts the old active out of the journal.","elected":"taking over","begins":"as a junior","messages":{"takeover":"takeover","renewing":"reading the journal","view":"view"},"locked":true,"lacks":[]},
  "packed-paxos": {"called":"Packed Multi-Paxos","term":"ballot","place":"slot","says":{"term":"the number of an elected primary; the next one has a larger number","place":"a place in the order of writes; in the end it holds the same record on all servers"},"unit":"record","batch":"message","states":{"p":["accept","accepted and durable here, not known to be decided"],"c":["success","decided, not executed here yet"],"a":["executed","success: decided, and in the namespace of this server"],"e":["other record","another record than the decided one: it will be replaced"],"x":["empty","no record here, though a later slot has one somewhere"]},"settled":"decided","leads":"primary","follows":"secondary","behind":"joining","election":"Each secondary drew a number; the largest one takes the lock.","elected":"taking over","begins":"joining","messages":{"takeover":"takeover","renewing":"joining","view":"leases, view"},"locked":true,"lacks":[]},
  "multi-paxos": {"called":"Multi-Paxos","term":"ballot","place":"slot","says":{"term":"the number of an elected primary; the next one has a larger number","place":"a place in the order of writes; in the end it holds the same record on all servers"},"unit":"record","batch":"message","states":{"p":["accept","accepted and durable here, not known to be decided"],"c":["success","decided, not executed here yet"],"a":["executed","success: decided, and in the namespace of this server"],"e":["other record","another record than the decided one: it will be replaced"],"x":["empty","no record here, though a later slot has one somewhere"]},"settled":"decided","leads":"primary","follows":"secondary","behind":"joining","election":"Each secondary drew a number; the largest one takes the lock.","elected":"taking over","begins":"joining","messages":{"takeover":"takeover","renewing":"joining","view":"leases, view"},"locked":true,"lacks":[]},
  "symmetric": {"called":"symmetric","term":"view","place":"sn","says":{"term":"who is a member now, by number: when somebody comes or goes, the next view begins","place":"serial number of a journal group: all servers write the same groups in the same order"},"unit":"group","batch":"group","states":{"p":["delivered","in its place of the order and durable here, not known to be on every member"],"c":["stable","on every member, not carried out here yet"],"a":["carried out","on every member, and in the namespace of this one"],"e":["other view","of an attempt at a view that failed; will be removed"],"x":["missing","others have it, this server has not"]},"settled":"on all members","leads":"first member","follows":"member","behind":"joining","election":"","elected":"joining","begins":"outside the view and joins it","messages":{"takeover":"view change","renewing":"joining","view":"leases, view"},"locked":false,"lacks":["checkpoints"]},
} satisfies Record<string, Vocabulary>;
