import { describe, expect, it } from "vitest";
import { pipelineWords } from "./ServerCard";

const idle = { active: 0, idle: 0, decided: 0, waiting: 0, read: 0, update: 0, write: 0 };

describe("jobs and locks of a server", () => {
  it("are told in one line", () => {
    const busy = { ...idle, active: 2, idle: 5, decided: 3, read: 7, update: 4, write: 2 };
    expect(pipelineWords(busy)).toBe("jobs: 2 active, 5 idle; locks: 7 read, 4 update, 2 write");
  });

  it("name the calls that wait for locks when there are any", () => {
    expect(pipelineWords({ ...idle, waiting: 3 })).toBe(
      "jobs: 0 active, 0 idle; locks: 0 read, 0 update, 0 write; 3 calls wait for locks",
    );
  });
});
