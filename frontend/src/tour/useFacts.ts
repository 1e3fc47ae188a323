import { useEffect, useRef, useState } from "react";
import { serves } from "../families/roles";
import { vocabularyOf } from "../families/vocabulary";
import { events, type LabState, useLab } from "../store/store";
import { type Facts, NOTHING, received, receivedOfMembers, type Scene } from "./facts";

const SESSION_TIMEOUT_MS = 5_000;

/** The first group; a lost leader is remembered until another one serves. */
export function sceneOf({ live, cluster, verbs }: LabState): Scene {
  const groups = Object.values(live.groups);
  const [first] = groups;
  const servers = Object.values(live.servers).filter(({ group }) => group === first?.name);
  return {
    leader: first?.active ?? "",
    served: servers.some(serves),
    servers: servers.map(({ name }) => name),
    session_timeout_ms: cluster?.timing.session_timeout_ms ?? SESSION_TIMEOUT_MS,
    grant_ms: cluster?.detection === "members" ? (cluster.timing.grant_ms ?? null) : null,
    group: first?.name ?? "",
    several: groups.length > 1,
    verbs,
  };
}

/** What the tour has learnt from the cluster's events since it opened. */
export function useFacts(): Facts {
  const [facts, setFacts] = useState(NOTHING);
  const seen = useRef(-1);
  /** State before the next events, which may change the leader. */
  const before = useRef<Scene | null>(null);
  const beat = useLab((state) => state.beat);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the beat shows that events came
  useEffect(() => {
    const last = events.last()?.seq ?? -1;
    if (seen.current < 0) seen.current = last;
    const fresh = events.from(events.firstIndex((event) => event.seq > seen.current));
    const state = useLab.getState();
    const now = sceneOf(state);
    const scene = before.current ?? now;
    before.current = now;
    if (fresh.length === 0) return;
    seen.current = last;
    const { locked, follows } = vocabularyOf(state.cluster?.protocol);
    setFacts((old) =>
      fresh.reduce(
        (soFar, event) =>
          locked ? received(soFar, event, scene, follows) : receivedOfMembers(soFar, event, scene),
        old,
      ),
    );
  }, [beat]);
  return facts;
}
