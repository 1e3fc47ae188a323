import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useShallow } from "zustand/react/shallow";
import { contentAddress } from "../../api/client";
import { isConnected, onlyLooks, useLab } from "../../store/store";
import { count } from "../../store/time";
import { formatBytes } from "../../ui/bytes";
import { Fact } from "../../ui/Fact";
import { GroupBadge } from "../../ui/GroupBadge";
import { KeyCap } from "../../ui/KeyCap";
import { ACTS, type ActName, PUTS } from "./acts";
import { Blocks } from "./Blocks";
import { useTree } from "./store";
import { nameOf, parentOf, ROOT } from "./tree";

const NS_PER_MS = 1e6;

/** "rwxr-xr-x" from the low nine bits. */
export function modeWords(mode: number): string {
  return [..."rwxrwxrwx"].map((letter, index) => ((mode >> (8 - index)) & 1 ? letter : "-")).join("");
}

/** The selected object and its actions. */
export function Details({ onAct }: { onAct: (act: ActName) => void }) {
  const path = useLab((state) => state.path);
  const enabled = useLab(isConnected);
  const acts = useLab(onlyLooks) ? [] : ACTS;
  const groups = useLab(useShallow((state) => Object.keys(state.live.groups)));
  const parent = useTree((state) => state.dirs[parentOf(path)]?.read);
  const entry = path === ROOT ? undefined : parent?.entries.find(({ name }) => name === nameOf(path));
  const home = path === ROOT ? (parent?.home ?? "") : (entry?.home ?? "");
  return (
    <section className="panel details" aria-label={t`The entry under the pointer`} data-testid="details">
      <h2 className="details-path">{path}</h2>
      <dl>
        {home !== "" && (
          <div>
            <dt>
              <Trans>home</Trans>
            </dt>
            <dd>
              <GroupBadge name={home} groups={groups} />
            </dd>
          </div>
        )}
        {entry !== undefined && (
          <>
            <Fact name="kind" value={entry.kind} />
            {entry.kind === "directory" && <Fact name="names" value={count(entry.entries)} />}
            {entry.kind === "file" && <Fact name="length" value={formatBytes(entry.length)} />}
            <Fact name="owner" value={entry.owner} />
            <Fact name="mode" value={modeWords(entry.mode)} />
            <Fact name="changed" value={new Date(entry.mtime_ns / NS_PER_MS).toLocaleString()} />
          </>
        )}
      </dl>
      {entry?.branch_point && (
        <p className="details-branch">
          <Trans>
            A branch point: the name is in a directory of {parent?.home}, the object in {entry.home}. Making
            and deleting it takes both groups.
          </Trans>
        </p>
      )}
      {entry?.kind === "file" && <Blocks path={path} />}
      <div className="details-acts">
        {entry?.kind === "file" && (
          <a
            className="pill"
            href={contentAddress(path)}
            download={entry.name}
            aria-disabled={!enabled}
            data-testid="download"
          >
            <Trans>
              Download <KeyCap>G</KeyCap>
            </Trans>
          </a>
        )}
        {acts.map(({ act, label, key }) => (
          <button
            key={act}
            type="button"
            className={act === "delete" ? "pill danger" : "pill"}
            disabled={!enabled || (path === ROOT && !PUTS.has(act))}
            data-testid={`act-${act}`}
            onClick={() => onAct(act)}
          >
            {i18n._(label)} <KeyCap>{key}</KeyCap>
          </button>
        ))}
      </div>
      <p className="soft details-keys">
        <Trans>
          <KeyCap>↑</KeyCap> <KeyCap>↓</KeyCap> go through the names, <KeyCap>→</KeyCap> opens,{" "}
          <KeyCap>←</KeyCap> closes or goes up, <KeyCap>U</KeyCap> reads again.
        </Trans>
      </p>
    </section>
  );
}
