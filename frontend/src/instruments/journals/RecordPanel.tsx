import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import { api } from "../../api/client";
import { useLab, useRunWords } from "../../store/store";

interface Group {
  sn: number;
  groupid: number;
  epoch: number;
  commit_sn: number;
  at_ns: number;
  previous: [number, number, number, number];
  records: Record<string, unknown>[];
}

const MOST = 200;

/** The content of a server's disk under one serial number, read by the server itself. */
export function RecordPanel({ server, sn }: { server: string; sn: number }) {
  const [group, setGroup] = useState<Group | null>(null);
  const [line, setLine] = useState("");
  const { term, place, unit } = useRunWords();
  useEffect(() => {
    const stop = new AbortController();
    setGroup(null);
    setLine("");
    api
      .record(server, sn, stop.signal)
      .then((record) => (record.group === null ? setLine(t`nothing there`) : setGroup(record.group as Group)))
      .catch((error: unknown) => {
        if (!stop.signal.aborted) setLine(error instanceof Error ? error.message : String(error));
      });
    return () => stop.abort();
  }, [server, sn]);
  const close = (): void => useLab.setState({ selection: null });
  return (
    <section className="record" aria-label={t`${place} ${sn} of ${server}`} data-testid="record">
      <header>
        <b>
          {server}, {place} {sn}
        </b>
        {group !== null && (
          <span>{onDisk(unit === "group" ? t`group ${group.groupid}` : unit, term, group)}</span>
        )}
        <button type="button" className="plain" onClick={close} aria-label={t`Close`}>
          ✕
        </button>
      </header>
      {line !== "" && <p className="quiet">{line}</p>}
      {group !== null && (
        <ol>
          {group.records.slice(0, MOST).map((record) => (
            <li key={String(record.op_id)}>
              <Fields record={record} />
            </li>
          ))}
          {group.records.length > MOST && (
            <li className="quiet">
              <Trans>… and {group.records.length - MOST} records more</Trans>
            </li>
          )}
          {group.records.length === 0 && (
            <li className="quiet">
              <Trans>
                empty: written at the beginning of {term} {group.epoch}
              </Trans>
            </li>
          )}
        </ol>
      )}
    </section>
  );
}

function onDisk(what: string, term: string, { epoch, records }: Group): string {
  const many = plural(records.length, { one: "# record", other: "# records" });
  return t`as on its disk now: ${what} of ${term} ${epoch}, ${many}`;
}

function Fields({ record }: { record: Record<string, unknown> }) {
  const { kind, op_id, at_ns, lowest_open, ...rest } = record;
  void at_ns;
  void lowest_open;
  return (
    <>
      <b>{String(kind)}</b>{" "}
      <span className="by">
        {Array.isArray(op_id) ? t`call ${String(op_id[1])} of ${String(op_id[0])}` : ""}
      </span>{" "}
      <code>
        {Object.entries(rest)
          .filter(([, value]) => value !== null)
          .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
          .join(" ")}
      </code>
    </>
  );
}
