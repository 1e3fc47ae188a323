import { expect, it } from "vitest";
import type { Attributes } from "../../api/schema";
import { foundWords } from "./looked";

const file: Attributes = {
  ...{ kind: "file", mode: 0o644, owner: "clover", group: "clover", mtime_ns: 1e18, length: 3 },
  ...{ inode: 1, atime_ns: 0, replication: 3, entries: 0, nlink: 1 },
};

it("tells what an image says of a path", () => {
  expect(foundWords({ found: null })).toBe("the image does not have it");
  expect(foundWords({ found: file })).toMatch(/^a file of 3 .*, changed /);
  expect(foundWords({ found: { ...file, nlink: 2 } })).toContain("under 2 names");
  const directory: Attributes = { ...file, kind: "directory", entries: 1 };
  expect(foundWords({ found: directory })).toMatch(/^a directory of 1 name, changed /);
  expect(foundWords({ found: { ...directory, entries: 1200 } })).toContain("of 1,200 names");
});
