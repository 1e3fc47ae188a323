import type { TreeSession, TreeView } from "../../api/schema";
import { count, milliseconds } from "../../store/time";

/** The open sessions, those of servers first: what each owns, and what becomes of it without a connection. */
export function Sessions({ view }: { view: TreeView }) {
  const { sessions, sessions_left_out, sessions_known, watches_known } = view;
  return (
    <>
      <ul className="tree-sessions" data-testid="sessions">
        {sessions.map((each) => (
          <li
            key={each.session}
            data-testid={`session-${each.server || each.session}`}
            data-connected={each.connected ?? "unknown"}
          >
            <p className="znode-line">
              <strong>{each.server || "not of a server in a view"}</strong>
              <code className="soft">{each.session}</code>
              {watches_known && <span className="soft figures">watches {nodeWords(each.watches)}</span>}
            </p>
            <State session={each} />
            {each.nodes.map((path) => (
              <code key={path}>{path}</code>
            ))}
          </li>
        ))}
      </ul>
      {sessions_left_out > 0 && <p className="soft">{count(sessions_left_out)} more are left out.</p>}
      {!sessions_known && (
        <p className="soft" data-testid="sessions-unknown">
          A ZooKeeper ensemble reports to its clients neither sessions nor watches: these are the sessions
          that own a node.
        </p>
      )}
    </>
  );
}

function State({ session: { connected, timeout_ms } }: { session: TreeSession }) {
  if (connected === null) return null;
  const limit = `${milliseconds(timeout_ms)} after its last message`;
  return connected ? (
    <p className="soft">connected; would end {limit}</p>
  ) : (
    <p className="session-lost">not connected: its nodes stay until it ends, {limit}</p>
  );
}

function nodeWords(number: number): string {
  return number === 1 ? "1 node" : `${count(number)} nodes`;
}
