/** The keys of each page but the cluster page, for the help. */

import type { KeyLine } from "../actions/keys";
import type { PageName } from "../store/store";
import { ACTS } from "./namespace/acts";
import { ORDERS } from "./pool/orders";

const ANYWHERE: KeyLine[] = [
  { keys: ["Ctrl", "K"], does: "All commands: type a few letters" },
  { keys: ["?"], does: "These keys and words" },
  { keys: ["Tab"], does: "The next button, link or field" },
  { keys: ["Esc"], does: "Close a dialog" },
];

export const PAGE_KEYS: Record<Exclude<PageName, "cluster">, KeyLine[]> = {
  namespace: [
    { keys: ["↑", "↓"], does: "Go through the names" },
    { keys: ["→", "←"], does: "Open or close a directory" },
    { keys: ["Enter"], does: "Open or close; read more names" },
    ...ACTS.map(({ key, label }) => ({ keys: [key], does: label })),
    { keys: ["G"], does: "Download the selected file" },
    { keys: ["U"], does: "Read the open directories again" },
    ...ANYWHERE,
  ],
  pool: [
    { keys: ["↑", "↓", "→", "←"], does: "Go through the files and nodes" },
    ...ORDERS.map(({ key, label }) => ({ keys: [key], does: label })),
    { keys: ["B"], does: "Damage the journal or the newest image on the selected node" },
    ...ANYWHERE,
  ],
  checkpoints: [{ keys: ["Enter"], does: "Mark a checkpoint, in the field of its name" }, ...ANYWHERE],
  coordination: ANYWHERE,
  scenarios: ANYWHERE,
  compare: ANYWHERE,
  explore: ANYWHERE,
  labs: ANYWHERE,
  papers: ANYWHERE,
  class: ANYWHERE,
};
