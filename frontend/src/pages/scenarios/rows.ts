/** The list of scenarios, by folder and as the search leaves it: pure. */

import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { ScenarioRow } from "../../api/schema";

const FOLDERS: Partial<Record<string, MessageDescriptor>> = {
  faults: msg`Faults in one group`,
  groups: msg`Several groups`,
  recovery: msg`Checkpoints and recovery`,
  data: msg`Files and data nodes`,
  pool: msg`Storage pool`,
  papers: msg`Experiments of the papers`,
  labs: msg`Holes: writes that a paper's text loses`,
  baselines: msg`Baselines`,
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
    .map((folder) => {
      const title = FOLDERS[folder];
      return {
        folder,
        title: title === undefined ? folder : i18n._(title),
        rows: rows.filter((row) => row.folder === folder),
      };
    })
    .filter((each) => each.rows.length > 0);
}

const FEW = 3;

/** Where a scenario can run, in a few words. */
export function whereOf({ families, fabrics }: ScenarioRow, all: readonly string[]): string {
  const missing = all.filter((family) => !families.includes(family));
  const but = missing.length === 0 ? t`every family` : t`every family but ${missing.join(", ")}`;
  const by = missing.length <= FEW && families.length > FEW ? but : families.join(", ");
  return [by, fabrics.length === 1 ? t`simulator only` : ""].filter(Boolean).join(" · ");
}
