import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
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
              <strong>{each.server || t`not of a server in a view`}</strong>
              <code className="soft">{each.session}</code>
              {watches_known && (
                <span className="soft figures">
                  <Trans>watches {nodeWords(each.watches)}</Trans>
                </span>
              )}
            </p>
            <State session={each} />
            {each.nodes.map((path) => (
              <code key={path}>{path}</code>
            ))}
          </li>
        ))}
      </ul>
      {sessions_left_out > 0 && (
        <p className="soft">
          <Trans>{count(sessions_left_out)} more are left out.</Trans>
        </p>
      )}
      {!sessions_known && (
        <p className="soft" data-testid="sessions-unknown">
          <Trans>
            A ZooKeeper ensemble reports to its clients neither sessions nor watches: these are the sessions
            that own a node.
          </Trans>
        </p>
      )}
    </>
  );
}

function State({ session: { connected, timeout_ms } }: { session: TreeSession }) {
  if (connected === null) return null;
  const limit = t`${milliseconds(timeout_ms)} after its last message`;
  return connected ? (
    <p className="soft">
      <Trans>connected; would end {limit}</Trans>
    </p>
  ) : (
    <p className="session-lost">
      <Trans>not connected: its nodes stay until it ends, {limit}</Trans>
    </p>
  );
}

function nodeWords(number: number): string {
  return number === 1 ? t`1 node` : t`${count(number)} nodes`;
}
