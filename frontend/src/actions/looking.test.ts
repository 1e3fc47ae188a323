import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { api } from "../api/client";
import type { ClockState } from "../api/schema";
import { beginAct, useAct } from "../pages/namespace/acts";
import { order } from "../pages/pool/orders";
import { canAct, canChange, hasClock, isLive, useLab } from "../store/store";
import { row } from "../testing/verbs";
import { press } from "./keys";
import { perform } from "./perform";

const before = useLab.getState();
const WORDS = "You look at Ada's cluster. Fork it to try something.";

function shown(looksAt: { id: string; name: string } | null): void {
  useLab.setState({
    ...before,
    looksAt,
    liveRun: 1,
    connection: { state: "live", since_ms: 0, retry_at_ms: 0 },
    virtual: { now_ns: 0, playing: true, speed: 1 } as ClockState,
    verbs: [row("crash", { key: "C" }), row("heal", { key: "A", targets: ["cluster"] })],
    selection: { kind: "server", name: "mds1" },
    toasts: [],
  });
}
const said = (): string[] => useLab.getState().toasts.map(({ text }) => text);

describe("who looks at a student's cluster", () => {
  const fault = vi.spyOn(api, "fault").mockResolvedValue({ fault: 1, detail: null, added: null });
  const clock = vi.spyOn(api, "clock").mockResolvedValue({} as ClockState);
  const pool = vi.spyOn(api, "orderPool").mockResolvedValue({ server: "mds1" });
  beforeEach(() => shown({ id: "1", name: "Ada" }));
  afterEach(() => {
    vi.clearAllMocks();
    useAct.setState({ target: null });
    useLab.setState(before);
  });

  it("causes no fault, by no key and no button", async () => {
    press("c");
    press("a");
    await perform("crash", ["mds1"]);
    expect(fault).not.toHaveBeenCalled();
    expect(new Set(said())).toEqual(new Set([WORDS]));
  });

  it("freezes the picture with Space and leaves the clock alone", () => {
    press(" ");
    expect([isLive(useLab.getState()), clock.mock.calls.length]).toEqual([false, 0]);
  });

  it("changes neither files nor the storage pool", async () => {
    beginAct("make");
    await order("g1", "check");
    expect([useAct.getState().target, pool.mock.calls.length]).toEqual([null, 0]);
    expect(said()).toContain(WORDS);
  });

  it("finds nothing possible, and everything where the cluster is the own one", () => {
    const possible = () => [canAct, canChange, hasClock].map((is) => is(useLab.getState()));
    expect(possible()).toEqual([false, false, false]);
    shown(null);
    expect(possible()).toEqual([true, true, true]);
    press("c");
    press(" ");
    beginAct("make");
    expect([fault.mock.calls.length, clock.mock.calls.length, said()]).toEqual([1, 1, []]);
    expect(useAct.getState().target?.act).toBe("make");
  });
});
