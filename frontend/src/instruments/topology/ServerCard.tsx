import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { memo, type PointerEvent } from "react";
import type { Pipeline, Server, Vocabulary } from "../../api/schema";
import { lagWords } from "../../families/glossary";
import { isLost, ROLES, shownRole } from "../../families/roles";
import { useLab } from "../../store/store";
import { count } from "../../store/time";
import { RoleMark } from "../../ui/RoleMark";
import type { Box } from "./layout";

/** Sn from which the digits need smaller type. */
const MANY = 1_000_000;

interface Props {
  server: Server;
  box: Box;
  compact: boolean;
  selected: boolean;
  holdsLock: boolean;
  words: Vocabulary;
  /** Whether the server counts in its group's quorum; with members, whether it is in the view. */
  members: readonly string[];
  /** Faults with which it runs, in words; empty without any. */
  marks: string;
  dragged: { x: number; y: number } | null;
  onOpen: (name: string) => void;
  onFocus: (name: string) => void;
  onGrab: (event: PointerEvent<HTMLButtonElement>, name: string) => void;
}

/** The role that a server reports when the global view has another one; with members, that it is outside the view. */
export function disagreement(
  { name, role, believes, process }: Server,
  words: Vocabulary,
  members: readonly string[],
): string {
  if (process === "stopped" || believes === "none") return "";
  if (!words.locked && role !== "joining" && !members.includes(name)) return t`outside`;
  if (believes === role) return "";
  if (believes === "elected") return words.elected;
  return t`says ${believes}`;
}

function processWord({ process }: Server): string {
  if (process === "paused") return t`paused`;
  return process === "stopped" ? t`stopped` : "";
}

/** Container of a process, in full. */
export function whereWords({ container, image, address, pid }: Where): string {
  const process = pid || "–";
  if (container) return t`container ${container} of ${image}, ${address}, process ${process}`;
  return address ? t`process ${process}, ${address}` : t`process ${process}`;
}

/** Jobs of the server, and its locks by mode, in one line. */
export function pipelineWords({ active, idle, waiting, read, update, write }: Pipeline): string {
  const jobs = t`jobs: ${active} active, ${idle} idle`;
  const locks = t`locks: ${read} read, ${update} update, ${write} write`;
  return waiting ? t`${jobs}; ${locks}; ${waiting} calls wait for locks` : `${jobs}; ${locks}`;
}

type Where = Pick<Server, "container" | "image" | "address" | "pid">;

export const ServerCard = memo(function ServerCard(props: Props) {
  const {
    server,
    box,
    compact,
    selected,
    holdsLock,
    words,
    members,
    marks,
    dragged,
    onOpen,
    onFocus,
    onGrab,
  } = props;
  const { name, sn, epoch, applied_sn, lag } = server;
  const [state, says] = [processWord(server), disagreement(server, words, members)];
  const role = shownRole(server, members);
  const place = dragged ?? box;
  const dead = server.process === "stopped";
  const kept = holdsLock && isLost(server);
  const leased = useLab(({ cluster }) => cluster?.detection === "members");
  return (
    <button
      type="button"
      id={`card-${name}`}
      data-server-card=""
      data-testid={`card-${name}`}
      className={`card card-${ROLES[role].tone} ${compact ? "card-compact" : ""} ${dragged ? "card-dragged" : ""}`}
      data-process={server.process}
      data-dead={dead || undefined}
      data-selected={selected || undefined}
      title={`${name}, ${role}: ${i18n._(ROLES[role].says)}`}
      aria-haspopup="dialog"
      style={{ width: box.width, height: box.height, transform: `translate(${place.x}px, ${place.y}px)` }}
      onClick={() => onOpen(name)}
      onFocus={() => onFocus(name)}
      onPointerDown={(event) => onGrab(event, name)}
    >
      <span className="card-head">
        <RoleMark role={role} size={compact ? "2.15rem" : "3.1rem"} />
        <span className="card-title">
          <span className="card-name">{name}</span> <span className="card-role">{says || state || role}</span>
        </span>
        {holdsLock && !dead && (
          <span className="card-lock" title={t`holds the lock`}>
            <svg viewBox="0 0 16 16" width="1.1rem" height="1.1rem" aria-hidden="true">
              <path d="M4 7V5a4 4 0 0 1 8 0v2h1v8H3V7Zm2 0h4V5a2 2 0 0 0-4 0Z" />
            </svg>
          </span>
        )}
      </span>
      {kept && (
        <span className="card-kept" data-testid={`kept-${name}`}>
          {leased ? (
            <Trans>lock kept until its lease runs out</Trans>
          ) : (
            <Trans>lock kept until its session ends</Trans>
          )}
        </span>
      )}
      {marks !== "" && (
        <span className="card-marks" data-testid={`marks-${name}`} title={t`Fault in force: ${marks}`}>
          {marks}
        </span>
      )}
      <span
        className="card-sn"
        title={`${words.place}: ${words.says.place}`}
        data-long={sn >= MANY || undefined}
        aria-hidden="true"
      >
        <small>{words.place}</small>
        {count(sn)}
      </span>
      {!compact && (
        <span className="card-numbers" aria-hidden="true">
          <Figure label={words.term} says={words.says.term} value={epoch} />
          <Figure
            label={t`lag`}
            says={lagWords(words)}
            value={lag}
            loud={lag > 0 && server.process !== "stopped"}
          />
          {!kept && <Figure label={words.states.a[0]} says={words.states.a[1]} value={applied_sn} wide />}
          {!dead && !kept && marks === "" && <Where server={server} />}
        </span>
      )}
      {server.process === "paused" && <span className="card-veil" aria-hidden="true" />}
    </button>
  );
});

/** The process or container of a server. */
function Where({ server }: { server: Server }) {
  const { pid, container } = server;
  return (
    <span className="figure figure-wide" title={whereWords(server)}>
      <small>{container ? t`container` : t`pid`}</small>
      {container ? container.slice(0, 6) : pid || "–"}
    </span>
  );
}

interface FigureProps {
  label: string;
  says: string;
  value: number;
  loud?: boolean;
  wide?: boolean;
}

function Figure({ label, says, value, loud = false, wide = false }: FigureProps) {
  return (
    <span
      className={`figure ${loud ? "figure-loud" : ""} ${wide ? "figure-wide" : ""}`}
      title={`${label}: ${says}`}
    >
      <small>{label}</small>
      {count(value)}
    </span>
  );
}
