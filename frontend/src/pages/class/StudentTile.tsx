import { plural, t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useState } from "react";
import { openFork } from "../../actions/looking";
import { api } from "../../api/client";
import { inCluster } from "../../api/fleet";
import type { Role, Tile } from "../../api/schema";
import { sinceStart } from "../../store/time";
import { Failed } from "../../ui/Failed";
import { RoleMark } from "../../ui/RoleMark";
import { useAttempt } from "../../ui/useAttempt";
import { doing, isStuck, linkOf, seen, signOf } from "./wall";

interface Props {
  tile: Tile;
  /** Whether the class is open. */
  open: boolean;
  address: string;
}

/** One student: the cluster as it is now, how far the lab is, and what the instructor can do. */
export function StudentTile({ tile, open, address }: Props) {
  return (
    <li
      className="panel student-tile"
      data-testid={`student-${tile.name}`}
      data-stuck={isStuck(tile)}
      data-absent={tile.absent}
    >
      <h3>
        {tile.name} <span className="soft">{seen(tile)}</span>
      </h3>
      {isStuck(tile) && (
        <p className="student-stuck">
          <Trans>Stuck: {tile.stuck}</Trans>
        </p>
      )}
      {tile.cluster !== null && <Cluster cluster={tile.cluster} />}
      <p>{doing(tile)}</p>
      {tile.steps.length > 0 && <Steps steps={tile.steps} />}
      <p className="soft">
        <Plural value={tile.passed.length} one="# lab passed" other="# labs passed" />
        {tile.verdicts.length > 0 &&
          plural(tile.verdicts.length, { one: ", # verdict handed in", other: ", # verdicts handed in" })}
      </p>
      {open && <Acts tile={tile} address={address} />}
    </li>
  );
}

function Cluster({ cluster }: { cluster: NonNullable<Tile["cluster"]> }) {
  const broken = [...cluster.broken, ...cluster.unserved.map((group) => t`${group} is not served`)];
  return (
    <>
      <p className="student-servers">
        {cluster.servers.map(({ name, role, process }) => (
          <span key={name} data-process={process} title={`${name}: ${role}, ${process}`}>
            <RoleMark role={role as Role} size="2rem" />
            <span className="student-server">{name}</span>
          </span>
        ))}
      </p>
      <p className="figures soft">
        {sinceStart(cluster.now_ns, 0, 0)}
        {!cluster.playing && t` paused`} {cluster.protocol}
      </p>
      {broken.length > 0 && <p className="student-broken">{broken.join(", ")}</p>}
      <Failed why={cluster.trouble} />
    </>
  );
}

function Steps({ steps }: { steps: Tile["steps"] }) {
  return (
    <ul className="student-steps" aria-label={t`Steps`}>
      {steps.map((step) => (
        <li key={step.id} data-state={step.state} title={`${step.id}: ${step.state}`}>
          <span aria-hidden="true">{signOf(step)}</span> {step.id}
          {step.answer !== "" && <span className="soft"> “{step.answer}”</span>}
        </li>
      ))}
    </ul>
  );
}

function Acts({ tile, address }: Omit<Props, "open">) {
  const [link, setLink] = useState("");
  const { busy, failed, attempt } = useAttempt();
  const fork = () => attempt(() => openFork(tile.id));
  const renew = () => attempt(async () => setLink(linkOf(address, (await api.newKey(tile.id)).key)));
  return (
    <>
      <p className="class-acts">
        {tile.cluster !== null && (
          <>
            <a className="pill" href={inCluster("/", tile.cluster.name)}>
              <Trans>Look</Trans>
            </a>
            <button
              type="button"
              className="pill"
              disabled={busy}
              data-testid="fork"
              onClick={() => void fork()}
            >
              <Trans>Fork</Trans>
            </button>
          </>
        )}
        <button type="button" className="pill" disabled={busy} onClick={() => void renew()}>
          <Trans>New link</Trans>
        </button>
      </p>
      {link !== "" && (
        <p className="student-link" role="status">
          {link}
        </p>
      )}
      <Failed why={failed} />
    </>
  );
}
