/** The content of an image in words. */

import { plural, t } from "@lingui/core/macro";
import type { Looked } from "../../api/schema";
import { count } from "../../store/time";
import { formatBytes } from "../../ui/bytes";

const NS_PER_MS = 1_000_000;

export function foundWords({ found }: Pick<Looked, "found">): string {
  if (found === null) return t`the image does not have it`;
  const changed = new Date(found.mtime_ns / NS_PER_MS).toLocaleString();
  if (found.kind === "directory")
    return plural(found.entries, {
      one: `a directory of # name, changed ${changed}`,
      other: `a directory of # names, changed ${changed}`,
    });
  const size = formatBytes(found.length);
  return found.nlink > 1
    ? t`a file of ${size} under ${count(found.nlink)} names, changed ${changed}`
    : t`a file of ${size}, changed ${changed}`;
}
