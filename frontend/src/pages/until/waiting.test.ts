import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError, api } from "../../api/client";
import { useLab } from "../../store/store";
import { stopWaiting, useWaiting, waitUntil } from "./waiting";

const now = vi.spyOn(api, "conditionNow");
const waiting = () => useWaiting.getState().waiting;
const no = { holds: false, at_ns: 1 };

beforeEach(() => {
  vi.useFakeTimers();
  now.mockReset();
});

afterEach(() => {
  stopWaiting();
  vi.useRealTimers();
});

describe("waiting for a condition", () => {
  it("goes on until it holds, and tells when and after how long", async () => {
    now.mockResolvedValueOnce(no).mockResolvedValueOnce(no).mockResolvedValueOnce({ holds: true, at_ns: 7 });
    await waitUntil("settled");
    expect(waiting()).toEqual({ text: "settled", held: null });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(waiting()?.held?.at_ns).toBe(7);
    expect(waiting()?.held?.after_ms).toBeGreaterThanOrEqual(250);
    expect(now).toHaveBeenCalledTimes(3);
  });

  it("does not begin with what holds already or is no condition", async () => {
    now.mockResolvedValueOnce({ holds: true, at_ns: 1 });
    await expect(waitUntil("settled")).rejects.toThrow("holds already: settled");
    now.mockRejectedValueOnce(new ApiError(422, "'happy' is not a condition"));
    await expect(waitUntil("happy")).rejects.toThrow("'happy' is not a condition");
    expect(waiting()).toBeNull();
  });

  it("survives a control plane that starts again, and ends with its cluster", async () => {
    now.mockResolvedValueOnce(no).mockRejectedValueOnce(new ApiError(0, "away")).mockResolvedValue(no);
    await waitUntil("settled");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(waiting()).toEqual({ text: "settled", held: null });
    now.mockRejectedValue(new ApiError(404, "no cluster is called gone"));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(waiting()).toBeNull();
    expect(useLab.getState().toasts.at(-1)?.text).toBe("no cluster is called gone");
  });

  it("asks no more when it is stopped", async () => {
    now.mockResolvedValue(no);
    await waitUntil("settled");
    stopWaiting();
    const asked = now.mock.calls.length;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(now.mock.calls.length).toBe(asked);
    expect(waiting()).toBeNull();
  });
});
