/** What groups and servers count, as the control plane tells it once in a while. */

/** What the active of a group counts; what is of several groups, since it began to serve. */
export interface Counters {
  objects: number;
  /** Names whose object is at home in another group. */
  branch_points: number;
  /** Operations on several groups that are not ended in this one. */
  open: number;
  done: number;
  aborted: number;
  /** Messages to other groups. */
  sent: number;
  /** Octets of the journal behind the newest image. */
  log_octets: number;
  /** Writes wait until an image is taken. */
  log_full: boolean;
  periodic: number;
  forced: number;
  protocol: number;
}

/** What one life of a metadata server, journal node or bookie spent on replication. */
export interface Replicated {
  /** By kind; so are the octets. */
  messages: Record<string, number>;
  octets: Record<string, number>;
  /** How many batches, messages in Multi-Paxos and journal groups elsewhere, had so many records. */
  records_per_batch: Record<string, number>;
  log_writes: number;
  /** Clients' writes that were carried out and that it answered. */
  operations: number;
}

/** What is under way at one server whose family has jobs and locks. */
export interface Pipeline {
  /** Jobs that wait for nothing but to be scheduled. */
  active: number;
  /** Jobs that wait for disks, locks or a lease. */
  idle: number;
  /** Transactions that wait for the disks of all. */
  decided: number;
  /** Transactions that wait for locks. */
  waiting: number;
  /** Locks held, by mode. */
  read: number;
  update: number;
  write: number;
}
