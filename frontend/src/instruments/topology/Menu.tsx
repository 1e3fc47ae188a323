import { Popover } from "@mantine/core";
import { VerbList } from "../../actions/VerbList";
import { useLab } from "../../store/store";
import { groupActs, linkActs, processActs, serverActs } from "./acts";
import { along, COORDINATION, centre, type Geometry, type Point } from "./layout";
import { stateOf } from "./rules";

/** What a menu is open for. */
export type Pointed =
  | { kind: "server"; name: string }
  | { kind: "link"; a: string; b: string }
  | { kind: "group"; name: string }
  | { kind: "process"; name: string };

interface Props {
  pointed: Pointed | null;
  geometry: Geometry;
  onPoint: (pointed: Pointed | null) => void;
}

function anchorOf(pointed: Pointed, geometry: Geometry): Point {
  if (pointed.kind === "link") {
    const link = geometry.links.find(({ a, b }) => a === pointed.a && b === pointed.b);
    if (link !== undefined) return along(link.curve, 0.5);
    return centre(geometry.cards[pointed.a] ?? geometry.coordination);
  }
  if (pointed.kind === "group") {
    const lane = geometry.lanes.find(({ name }) => name === pointed.name);
    return { x: (lane?.box.x ?? 0) + 80, y: (lane?.box.y ?? 0) + 36 };
  }
  const box = geometry.cards[pointed.name] ?? geometry.clients[pointed.name] ?? geometry.coordination;
  return { x: box.x + box.width / 2, y: box.y + Math.min(box.height, 90) };
}

/** The menu of a server, link, group or other process, where the hand is. */
export function Menu({ pointed, geometry, onPoint }: Props) {
  const close = (): void => onPoint(null);
  const at = pointed === null ? { x: 0, y: 0 } : anchorOf(pointed, geometry);
  return (
    <Popover
      opened={pointed !== null}
      onChange={(opened) => !opened && close()}
      trapFocus
      returnFocus
      withArrow
      position="right-start"
      middlewares={{ flip: true, shift: { padding: 8 } }}
      shadow="lg"
      width="19rem"
    >
      <Popover.Target>
        <div className="anchor" style={{ left: at.x, top: at.y }} />
      </Popover.Target>
      <Popover.Dropdown className="menu" aria-label={pointed === null ? "menu" : titleOf(pointed)}>
        {pointed !== null && (
          <>
            <h3 className="menu-title">{titleOf(pointed)}</h3>
            <MenuBody key={titleOf(pointed)} pointed={pointed} onPoint={onPoint} />
          </>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}

function titleOf(pointed: Pointed): string {
  return pointed.kind === "link" ? `Link ${pointed.a} – ${pointed.b}` : pointed.name;
}

function MenuBody({ pointed, onPoint }: { pointed: Pointed; onPoint: (pointed: Pointed | null) => void }) {
  const { verbs, links, live, clients, coordination } = useLab();
  const close = (): void => onPoint(null);
  if (verbs.length === 0) return <p className="soft">The control plane has not told its verbs yet.</p>;
  if (pointed.kind === "link")
    return <VerbList acts={linkActs(verbs, pointed.a, pointed.b, links)} onDone={close} />;
  if (pointed.kind === "group") return <VerbList acts={groupActs(verbs, pointed.name)} onDone={close} />;
  if (pointed.kind === "process") {
    const client = clients.find(({ name }) => name === pointed.name);
    const process = client?.process ?? coordination?.process ?? "stopped";
    const own = ["crash", "restart", "pause", "resume", "cut", "heal"];
    return <VerbList acts={processActs(verbs, pointed.name, process, own)} onDone={close} />;
  }
  const server = live.servers[pointed.name];
  if (server === undefined) return <p className="soft">{pointed.name} is not part of the live run.</p>;
  const peers = [COORDINATION, ...clients.map(({ name }) => name), ...Object.keys(live.servers)];
  return (
    <>
      {server.warning && <p className="menu-warning">{server.warning}</p>}
      <ServerVerbs name={pointed.name} close={close} />
      <h4 className="menu-section">Its links</h4>
      <div className="chips">
        {peers
          .filter((peer) => peer !== pointed.name)
          .map((peer) => {
            const { kind } = stateOf(links, pointed.name, peer);
            return (
              <button
                type="button"
                key={peer}
                className={`chip chip-${kind}`}
                onClick={() => onPoint({ kind: "link", a: pointed.name, b: peer })}
              >
                {peer}
                {kind !== "open" && <span className="soft"> {kind}</span>}
              </button>
            );
          })}
      </div>
    </>
  );
}

function ServerVerbs({ name, close }: { name: string; close: () => void }) {
  const { verbs, links, live, processes } = useLab();
  const server = live.servers[name];
  if (server === undefined) return null;
  const process = processes.find((each) => each.name === name)?.process ?? server.process;
  return <VerbList acts={serverActs(verbs, { ...server, process }, links)} onDone={close} />;
}
