/** The list of scenarios, by folder and as the search leaves it: pure. */

import type { ScenarioRow } from "../../api/schema";

const FOLDERS: Record<string, string> = {
  faults: "Faults in one group",
  groups: "Several groups",
  recovery: "Checkpoints and recovery",
  data: "Files and data nodes",
  pool: "Storage pool",
  papers: "Experiments of the papers",
  labs: "Holes: writes that a paper's text loses",
  baselines: "Baselines",
};

export interface Folder {
  folder: string;
  title: string;
  rows: ScenarioRow[];
}

/** Rows with every word of the search, in any order. */
export function found(rows: readonly ScenarioRow[], search: string): ScenarioRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    const text = [row.file, row.name, row.teaches, row.paper, row.protocol].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Folders in the order of the table above; others follow by name. */
export function byFolder(rows: readonly ScenarioRow[]): Folder[] {
  const names = [...new Set([...Object.keys(FOLDERS), ...rows.map(({ folder }) => folder)])];
  return names
    .map((folder) => ({
      folder,
      title: FOLDERS[folder] ?? folder,
      rows: rows.filter((row) => row.folder === folder),
    }))
    .filter((each) => each.rows.length > 0);
}

const FEW = 3;

/** Where a scenario can run, in a few words. */
export function whereOf({ families, fabrics }: ScenarioRow, all: readonly string[]): string {
  const missing = all.filter((family) => !families.includes(family));
  const but = missing.length === 0 ? "every family" : `every family but ${missing.join(", ")}`;
  const by = missing.length <= FEW && families.length > FEW ? but : families.join(", ");
  return [by, fabrics.length === 1 ? "simulator only" : ""].filter(Boolean).join(" · ");
}
