/** What may be written at a place of a scenario, by its JSON Schema: pure. */

import { FAMILIES } from "../../api/schema";
import { type Place, placeAt } from "./cursor";

/** The parts of a JSON Schema that the schema of scenarios uses. */
export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  anyOf?: Schema[];
  allOf?: { if: Schema; then: Schema }[];
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  type?: string;
  default?: unknown;
  description?: string;
}

export interface Proposal {
  label: string;
  /** What stands behind the label: the default of a key. */
  detail?: string;
  info?: string;
  /** What is written, where it is more than the label. */
  apply?: string;
}

const SERVERS = [
  "active of g1",
  "standby of g1",
  "standby 1 of g1",
  "standby 2 of g1",
  "last down of g1",
  "target of step 1",
  "elected of g1",
  "time server",
  ...[1, 2, 3, 4].map((number) => `mds${number}`),
  ...[1, 2, 3].map((number) => `dn${number}`),
];
const CONDITIONS = ["settled", "active of g1 serves", "junior in g1", "3 standbys in g1", "blocks whole"];
const OPERATIONS = [
  ...["create", "mkdir", "stat", "list", "rename", "link", "move", "delete", "rmdir", "move_directory"],
  ...["set_permission", "put", "append", "get"],
];
/** Words of keys whose schema says no more than "a text". */
const WORDS: Record<string, readonly string[]> = {
  protocol: Object.keys(FAMILIES),
  target: SERVERS,
  when: CONDITIONS,
};

/** Proposals for the end of a text, and how much of the word is there. */
export function proposals(schema: Schema, before: string): { typed: string; found: Proposal[] } {
  const place = placeAt(before);
  const { key, path, typed } = place;
  if (key === null) return { typed, found: keysAt(schema, place) };
  const parts = at(schema, key === "[]" ? path : [...path, key], place.fault);
  const named = key === "[]" ? (path.at(-2) ?? "") : key;
  const words = [...(WORDS[named] ?? []), ...parts.flatMap(valuesOf)];
  return { typed, found: [...new Set(words)].map((label) => ({ label })) };
}

function keysAt(schema: Schema, { path, fault }: Place): Proposal[] {
  if (path.at(-1) === "mix") return OPERATIONS.map((label) => ({ label, apply: `${label}: ` }));
  return at(schema, path, fault).flatMap(({ properties }) =>
    Object.entries(properties ?? {}).map(([label, part]) => ({
      label,
      apply: `${label}: `,
      ...(part.default === undefined || part.default === null || typeof part.default === "object"
        ? {}
        : { detail: `default ${part.default}` }),
      ...(part.description === undefined ? {} : { info: part.description }),
    })),
  );
}

/** The schemas that are possible at a path. */
function at(schema: Schema, path: readonly string[], fault: string): Schema[] {
  const resolved = (part: Schema): Schema[] => {
    if (part.$ref !== undefined) return resolved(schema.$defs?.[part.$ref.slice("#/$defs/".length)] ?? {});
    return part.anyOf === undefined ? [part] : part.anyOf.flatMap(resolved);
  };
  let parts = resolved(schema);
  for (const name of path) {
    parts = parts.flatMap((part) => below(part, name, fault)).flatMap(resolved);
  }
  return parts;
}

function below(part: Schema, name: string, fault: string): Schema[] {
  if (name === "[]") return part.items === undefined ? [] : [part.items];
  const ofFault = (part.allOf ?? [])
    .filter((each) => each.if.properties?.fault?.const === fault)
    .flatMap((each) => each.then.properties?.[name] ?? []);
  if (ofFault.length > 0) return ofFault;
  return part.properties?.[name] === undefined ? [] : [part.properties[name]];
}

function valuesOf({ enum: choices, type }: Schema): string[] {
  if (choices !== undefined) return choices.filter((each) => each !== null).map(String);
  return type === "boolean" ? ["true", "false"] : [];
}
