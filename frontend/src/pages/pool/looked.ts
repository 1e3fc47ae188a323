/** The content of an image in words. */

import type { Looked } from "../../api/schema";
import { count } from "../../store/time";
import { formatBytes } from "../../ui/bytes";

const NS_PER_MS = 1_000_000;

export function foundWords({ found }: Pick<Looked, "found">): string {
  if (found === null) return "the image does not have it";
  const changed = new Date(found.mtime_ns / NS_PER_MS).toLocaleString();
  if (found.kind === "directory")
    return `a directory of ${count(found.entries)} ${found.entries === 1 ? "name" : "names"}, changed ${changed}`;
  const links = found.nlink > 1 ? ` under ${count(found.nlink)} names` : "";
  return `a file of ${formatBytes(found.length)}${links}, changed ${changed}`;
}
