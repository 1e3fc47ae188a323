/** The keys of each page but the cluster page, for the help. */

import { msg } from "@lingui/core/macro";
import type { KeyLine } from "../actions/keys";
import type { PageName } from "../store/store";
import { ACTS } from "./namespace/acts";
import { ORDERS } from "./pool/orders";

const ANYWHERE: KeyLine[] = [
  { keys: ["Ctrl", "K"], does: msg`All commands: type a few letters` },
  { keys: ["?"], does: msg`These keys and words` },
  { keys: ["Tab"], does: msg`The next button, link or field` },
  { keys: ["Esc"], does: msg`Close a dialog` },
];

export const PAGE_KEYS: Record<Exclude<PageName, "cluster">, KeyLine[]> = {
  namespace: [
    { keys: ["↑", "↓"], does: msg`Go through the names` },
    { keys: ["→", "←"], does: msg`Open or close a directory` },
    { keys: ["Enter"], does: msg`Open or close; read more names` },
    ...ACTS.map(({ key, label }) => ({ keys: [key], does: label })),
    { keys: ["G"], does: msg`Download the selected file` },
    { keys: ["U"], does: msg`Read the open directories again` },
    ...ANYWHERE,
  ],
  pool: [
    { keys: ["↑", "↓", "→", "←"], does: msg`Go through the files and nodes` },
    ...ORDERS.map(({ key, label }) => ({ keys: [key], does: label })),
    { keys: ["B"], does: msg`Damage the journal or the newest image on the selected node` },
    ...ANYWHERE,
  ],
  checkpoints: [{ keys: ["Enter"], does: msg`Mark a checkpoint, in the field of its name` }, ...ANYWHERE],
  coordination: ANYWHERE,
  scenarios: ANYWHERE,
  compare: ANYWHERE,
  explore: ANYWHERE,
  labs: ANYWHERE,
  papers: ANYWHERE,
  class: ANYWHERE,
};
