import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Menu } from "@mantine/core";
import { useState } from "react";
import { api } from "../api/client";
import { freeName, inCluster, MAIN, shownCluster } from "../api/fleet";
import type { FleetMember } from "../api/schema";
import { onlyLooks, useLab, useWords } from "../store/store";
import { sinceStart } from "../store/time";
import { complain } from "../store/toasts";
import { Dialog } from "../ui/Dialog";

function open(name: string): void {
  location.assign(inCluster("/", name));
}

function timeWords({ fabric, now_ns, playing }: FleetMember): string {
  if (fabric !== "simulated") return fabric;
  const at = sinceStart(now_ns, 0, 0);
  return playing ? t`simulated, ${at}` : t`simulated, ${at} paused`;
}

/** Which cluster is shown, the other ones, and a new simulated one; a student has one alone. */
export function ClusterMenu() {
  const cluster = useLab((state) => state.cluster);
  const words = useWords();
  const student = useLab((state) => state.student);
  const looks = useLab(onlyLooks);
  const [members, setMembers] = useState<FleetMember[]>([]);
  const [deletes, setDeletes] = useState(false);
  if (cluster === null) return null;
  const read = async (): Promise<void> => {
    try {
      setMembers(await api.clusters());
    } catch (error) {
      complain(error);
    }
  };
  const create = async (): Promise<void> => {
    try {
      const taken = (await api.clusters()).map(({ name }) => name);
      open((await api.createCluster({ name: freeName(taken), protocol: cluster.protocol })).name);
    } catch (error) {
      complain(error);
    }
  };
  const remove = async (): Promise<void> => {
    try {
      await api.deleteCluster(shownCluster);
      open(MAIN);
    } catch (error) {
      complain(error);
    }
  };
  const shown = (
    <>
      <span className="brand-which">{shownCluster === MAIN ? cluster.cluster : shownCluster}: </span>
      <Trans>
        <b>{words.called}</b> on <b>{cluster.fabric}</b>
      </Trans>
    </>
  );
  if (student !== "")
    return (
      <span className="brand-cluster" data-cluster={shownCluster}>
        {shown}
      </span>
    );
  return (
    <>
      <Menu position="bottom-start" shadow="lg" onOpen={() => void read()}>
        <Menu.Target>
          <button
            type="button"
            className="brand-cluster"
            title={t`${cluster.cluster}; other clusters`}
            data-testid="clusters"
            data-cluster={shownCluster}
          >
            {shown} <span aria-hidden="true">▾</span>
          </button>
        </Menu.Target>
        <Menu.Dropdown className="runs">
          <Menu.Label>
            <Trans>Clusters of this control plane</Trans>
          </Menu.Label>
          {members.map((member) => (
            <Menu.Item
              key={member.name}
              data-testid={`cluster-${member.name}`}
              aria-current={member.name === shownCluster || undefined}
              onClick={() => open(member.name)}
            >
              <span className="run-line">
                <strong>{member.name}</strong>
                <span>{member.protocol}</span>
                <span className="soft">{timeWords(member)}</span>
              </span>
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item data-testid="cluster-new" onClick={() => void create()}>
            <Trans>New simulated cluster</Trans>
          </Menu.Item>
          {shownCluster !== MAIN && !looks && (
            <Menu.Item data-testid="cluster-delete" onClick={() => setDeletes(true)}>
              <Trans>Delete {shownCluster} …</Trans>
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <Dialog opened={deletes} title={t`Delete ${shownCluster}?`} onClose={() => setDeletes(false)}>
        <p>
          <Trans>Its servers, files, runs and events are deleted for good.</Trans>
        </p>
        <button
          type="button"
          className="primary danger"
          data-testid="do-cluster-delete"
          onClick={() => void remove()}
        >
          <Trans>Delete {shownCluster}</Trans>
        </button>
      </Dialog>
    </>
  );
}
