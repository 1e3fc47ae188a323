import { useEffect, useState } from "react";
import { api } from "../../api/client";
import type { TreeChanges } from "../../api/schema";
import { type Followed, useFollowed } from "../../store/useFollowed";

const KINDS = new Set(["Configured", "EpochRaised", "LockHeld", "LockRemoved", "Placed", "SessionEnded"]);
/** Within this time a server's own events, which are the causes of changes, have arrived as well. */
const CAUSES_MS = 1_000;

/** The newest changes of the global view; they are read once more when the causes of the newest one have arrived. */
export function useChanges(): Followed<TreeChanges> {
  const [again, setAgain] = useState(0);
  const followed = useFollowed(api.treeChanges, KINDS, again);
  const newest = followed.answer?.changes[0]?.event.seq;
  useEffect(() => {
    if (newest === undefined) return;
    const timer = setTimeout(() => setAgain((count) => count + 1), CAUSES_MS);
    return () => clearTimeout(timer);
  }, [newest]);
  return followed;
}
