import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type FormEvent, useCallback, useState } from "react";
import { api } from "../../api/client";
import type { Wall } from "../../api/schema";
import { Failed } from "../../ui/Failed";
import { TextField } from "../../ui/TextField";
import { useAsked } from "../../ui/useAsked";
import { useAttempt } from "../../ui/useAttempt";
import { Frame } from "../Frame";
import { ClassHead } from "./ClassHead";
import { StudentTile } from "./StudentTile";
import { attentionFirst, summary } from "./wall";
import "./class.css";

const EVERY_MS = 1_000;

/** The instructor's wall: every student's cluster as it is now, the lab, and who is stuck. */
export function ClassPage() {
  const ask = useCallback(() => api.wall(), []);
  const { answer: wall, failed } = useAsked(ask, EVERY_MS);
  return (
    <Frame>
      <main className="class">
        <Failed why={failed} />
        {wall === null && failed === "" && (
          <p className="waiting">
            <Trans>Reading the class…</Trans>
          </p>
        )}
        {wall !== null && wall.number > 0 && <ClassHead wall={wall} />}
        {wall !== null && !wall.open && <StartForm again={wall.number > 0} />}
        {wall !== null && wall.number > 0 && <Tiles wall={wall} />}
      </main>
    </Frame>
  );
}

function StartForm({ again }: { again: boolean }) {
  const [name, setName] = useState("");
  const { busy, failed, attempt } = useAttempt();
  const start = (event: FormEvent): void => {
    event.preventDefault();
    void attempt(async () => {
      await api.startClass(name.trim());
    });
  };
  return (
    <form className="panel class-start fields" aria-label={t`Start a class`} onSubmit={start}>
      <h2>{again ? t`Start another class` : t`Start a class`}</h2>
      <p>
        <Trans>
          Students join with a code, each with a simulated cluster of their own. Nobody reaches anything else
          of this control plane.
        </Trans>
      </p>
      <TextField
        label={t`Name of the class`}
        value={name}
        onChange={setName}
        maxLength={60}
        required
        testId="class-name"
      />
      <Failed why={failed} testId="class-failed" />
      <button
        type="submit"
        className="primary"
        disabled={busy || name.trim() === ""}
        data-testid="class-start"
      >
        <Trans>Start the class</Trans>
      </button>
    </form>
  );
}

function Tiles({ wall }: { wall: Wall }) {
  if (wall.tiles.length === 0)
    return (
      <p className="waiting">
        <Trans>Nobody has joined yet.</Trans>
      </p>
    );
  return (
    <>
      <p className="soft" data-testid="class-summary">
        {summary(wall.tiles)}
      </p>
      <ol className="class-tiles">
        {attentionFirst(wall.tiles).map((tile) => (
          <StudentTile key={tile.id} tile={tile} open={wall.open} address={wall.address} />
        ))}
      </ol>
    </>
  );
}
