import { useState } from "react";
import { lineOf } from "../api/client";

/** The work of a form: whether it is under way, and why it was refused. */
export function useAttempt() {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState("");
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setFailed("");
    try {
      await work();
    } catch (error) {
      setFailed(lineOf(error));
    } finally {
      setBusy(false);
    }
  };
  return { busy, failed, setFailed, attempt };
}
