import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useEffect } from "react";
import { useShallow } from "zustand/react/shallow";
import { isConnected, useLab } from "../../store/store";
import { count } from "../../store/time";
import { GroupBadge } from "../../ui/GroupBadge";
import { Frame } from "../Frame";
import { ActDialog } from "./ActDialog";
import { beginAct } from "./acts";
import { Details } from "./Details";
import { againAll, show, useTree } from "./store";
import { Tree } from "./Tree";
import "./namespace.css";

/** The namespace as any client sees it, with the home of every object. */
export function NamespacePage() {
  const connected = useLab(isConnected);
  useEffect(() => {
    if (!connected) return;
    againAll();
    void show(useLab.getState().path, true);
  }, [connected]);
  useEffect(() => {
    const onBack = (): void => void show(useLab.getState().path, true);
    window.addEventListener("popstate", onBack);
    return () => window.removeEventListener("popstate", onBack);
  }, []);
  return (
    <Frame>
      <main className="namespace">
        <section className="panel" aria-label={t`Namespace`}>
          <header className="instrument-head">
            <h2>
              <Trans>Namespace</Trans>
            </h2>
            <Groups />
            <button
              type="button"
              className="plain"
              disabled={!connected}
              title={t`Read the open directories again (U)`}
              onClick={againAll}
            >
              <Trans>Read again</Trans>
            </button>
          </header>
          <Missing />
          <Tree />
        </section>
        <Details onAct={beginAct} />
      </main>
      <ActDialog />
    </Frame>
  );
}

/** The groups with the counters of their actives: a legend for the badges in the tree. */
function Groups() {
  const groups = useLab(useShallow((state) => Object.keys(state.live.groups)));
  const counters = useLab((state) => state.counters);
  const current = useLab(isConnected);
  return (
    <ul className="namespace-groups" aria-label={t`Groups`}>
      {groups.map((name) => {
        const counted = current ? counters[name] : undefined;
        return (
          <li key={name}>
            <GroupBadge name={name} groups={groups} />
            {counted !== undefined && (
              <span className="figures">
                <Trans>
                  {count(counted.objects)} objects, {count(counted.branch_points)} branch points
                </Trans>
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Missing() {
  const missing = useTree((state) => state.missing);
  return missing === "" ? null : (
    <p className="namespace-missing" role="alert" data-testid="missing">
      {missing}
    </p>
  );
}
