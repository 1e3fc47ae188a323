import { useEffect, useState } from "react";
import { api, lineOf } from "../../api/client";
import type { SearchChoices } from "../../api/schema";
import { isConnected, useLab } from "../../store/store";
import { proposal, type Wish } from "./wish";

export interface Chosen {
  choices: SearchChoices;
  wish: Wish;
}

/** What can be searched, read once, and what a person has chosen of it; null until it is known. */
export function useWish() {
  const connected = useLab(isConnected);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [failed, setFailed] = useState("");
  useEffect(() => {
    if (!connected || chosen !== null) return;
    api.searchChoices().then(
      (choices) => {
        setChosen({ choices, wish: proposal(choices) });
        setFailed("");
      },
      (error: unknown) => setFailed(lineOf(error)),
    );
  }, [connected, chosen]);
  const put = (wish: Wish): void => setChosen((now) => (now === null ? null : { ...now, wish }));
  return { chosen, failed, put };
}
