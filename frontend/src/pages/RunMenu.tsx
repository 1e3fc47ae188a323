import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Menu } from "@mantine/core";
import { useRef, useState } from "react";
import { api, runAddress } from "../api/client";
import type { Run } from "../api/schema";
import { goLive, openRun } from "../store/moment";
import { onlyLooks, shownRun, useLab } from "../store/store";
import { complain } from "../store/toasts";
import { Dialog } from "../ui/Dialog";

async function readRuns(): Promise<void> {
  try {
    useLab.setState({ runs: await api.runs() });
  } catch (error) {
    complain(error);
  }
}

function startedWords({ started_at }: Run): string {
  const at = new Date(started_at);
  const sameDay = at.toDateString() === new Date().toDateString();
  const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return sameDay ? time : `${at.toLocaleDateString([], { day: "numeric", month: "short" })}, ${time}`;
}

function lengthWords({ started_at, ended_at, live }: Run): string {
  if (live) return t`running now`;
  if (ended_at === null) return t`end not known`;
  const minutes = (Date.parse(ended_at) - Date.parse(started_at)) / 60_000;
  return minutes < 1 ? `${Math.round(minutes * 60)} s` : t`${Math.round(minutes)} min`;
}

function keptWords(seconds: number): string {
  const hours = seconds / 3600;
  return hours % 24 === 0
    ? plural(hours / 24, { one: "# day", other: "# days" })
    : plural(hours, { one: "# hour", other: "# hours" });
}

/** All runs of this cluster; a past run, also one from a file, is shown like the present. */
export function RunMenu() {
  const file = useRef<HTMLInputElement>(null);
  const [opening, setOpening] = useState(false);
  const [removes, setRemoves] = useState(false);
  const student = useLab((state) => state.student);
  const looks = useLab(onlyLooks);
  const runs = useLab((state) => state.runs);
  const shown = useLab(shownRun);
  const liveRun = useLab((state) => state.liveRun);
  const keptS = useLab((state) => state.cluster?.kept_s ?? 0);
  if (shown === null) return null;
  const open = async (chosen: File | undefined): Promise<void> => {
    if (chosen === undefined) return;
    setOpening(true);
    try {
      const { run } = await api.importRun(chosen);
      await readRuns();
      await openRun(run);
    } catch (error) {
      complain(error);
    } finally {
      setOpening(false);
    }
  };
  const remove = async (): Promise<void> => {
    try {
      await api.removeRun(shown);
      goLive();
    } catch (error) {
      complain(error);
    }
    setRemoves(false);
  };
  return (
    <>
      <Menu position="bottom-start" shadow="lg" onOpen={() => void readRuns()}>
        <Menu.Target>
          <button type="button" className="pill" data-testid="run" data-run={shown}>
            <Trans>Run {shown}</Trans>
            <span className="soft"> {shown === liveRun ? t`now` : t`past`}</span>
            <span aria-hidden="true"> ▾</span>
          </button>
        </Menu.Target>
        <Menu.Dropdown className="runs">
          <Menu.Label data-testid="runs-kept">
            <Trans>Runs, newest first; kept for {keptWords(keptS)}</Trans>
          </Menu.Label>
          {runs.map((run) => (
            <Menu.Item
              key={run.run}
              data-testid={`run-${run.run}`}
              aria-current={run.run === shown || undefined}
              onClick={() => void openRun(run.run)}
            >
              <span className="run-line">
                <strong>
                  <Trans>Run {run.run}</Trans>
                </strong>
                <span>{startedWords(run)}</span>
                <span className="soft">{lengthWords(run)}</span>
                {run.origin !== "" && <span className="soft">{run.origin}</span>}
              </span>
            </Menu.Item>
          ))}
          {student === "" && (
            <>
              <Menu.Divider />
              <Menu.Item component="a" href={runAddress(shown)} download data-testid="run-export">
                <Trans>Export run {shown}</Trans>
              </Menu.Item>
              {!looks && (
                <Menu.Item disabled={opening} data-testid="run-import" onClick={() => file.current?.click()}>
                  {opening ? t`Opening the file…` : t`Open a run from a file…`}
                </Menu.Item>
              )}
              {!looks && shown !== liveRun && (
                <Menu.Item data-testid="run-remove" onClick={() => setRemoves(true)}>
                  <Trans>Remove run {shown} …</Trans>
                </Menu.Item>
              )}
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <Dialog opened={removes} title={t`Remove run ${shown}?`} onClose={() => setRemoves(false)}>
        <p>
          <Trans>Its pictures, events and takeovers are removed for good.</Trans>
        </p>
        <button
          type="button"
          className="primary danger"
          data-testid="do-run-remove"
          onClick={() => void remove()}
        >
          <Trans>Remove run {shown}</Trans>
        </button>
      </Dialog>
      <input
        ref={file}
        type="file"
        accept=".cloverrun"
        hidden
        data-testid="run-file"
        onChange={({ currentTarget }) => {
          void open(currentTarget.files?.[0]);
          currentTarget.value = "";
        }}
      />
    </>
  );
}
