import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { ExplainedChange, WatchedNode } from "../../api/schema";
import { count } from "../../store/time";
import { fieldsOf, type Reading, splitPath } from "./rows";
import { EventLine } from "./Why";

const WATCHERS_MOST = 8;

interface Props {
  nodes: readonly WatchedNode[];
  noticed: Reading["noticed"];
  newest: ReadonlyMap<string, ExplainedChange>;
}

/** Every node with its data; of an ephemeral one, whose session owns it. */
export function Nodes({ nodes, noticed, newest }: Props) {
  return (
    <ul className="znodes" data-testid="znodes">
      {nodes.map((node) => (
        <li
          key={node.path}
          data-testid={`znode-${node.path}`}
          data-owner={node.owner}
          data-changed={noticed.has(node.path)}
        >
          <p className="znode-line">
            <Path path={node.path} />
            <span className="soft figures">
              <Trans>version {count(node.version)}</Trans>
            </span>
            {node.session !== "" && (
              <span className="znode-mark" title={t`Ephemeral: it goes with the session ${node.session}`}>
                <Trans>session of {node.owner || node.session}</Trans>
              </span>
            )}
            {noticed.has(node.path) && (
              <span className="znode-mark znode-changed">
                <Trans>changed</Trans>
              </span>
            )}
          </p>
          <Data data={node.data} cut={node.cut} />
          <Watchers names={node.watchers} />
          <LastChange change={newest.get(node.path)} />
        </li>
      ))}
    </ul>
  );
}

function Path({ path }: { path: string }) {
  const [above, name] = splitPath(path);
  return (
    <code className="znode-path">
      <span className="soft">{above}</span>
      <b>{name}</b>
    </code>
  );
}

function Data({ data, cut }: { data: string; cut: number }) {
  const fields = fieldsOf(data);
  if (data === "") return null;
  return (
    <p className="znode-data">
      {fields === null
        ? data
        : fields.map(([name, value]) => (
            <span key={name}>
              <span className="soft">{name}</span> {value}
            </span>
          ))}
      {cut > 0 && (
        <span className="soft">
          <Trans>… and {count(cut)} more characters</Trans>
        </span>
      )}
    </p>
  );
}

function Watchers({ names }: { names: readonly string[] }) {
  const more = names.length - WATCHERS_MOST;
  const some = names.slice(0, WATCHERS_MOST).join(", ");
  return names.length === 0 ? null : (
    <p className="soft znode-last">
      {more > 0 ? (
        <Trans>
          watched by {some} and {count(more)} more
        </Trans>
      ) : (
        <Trans>watched by {some}</Trans>
      )}
    </p>
  );
}

function LastChange({ change }: { change: ExplainedChange | undefined }) {
  return change === undefined ? null : (
    <p className="znode-last">
      <EventLine event={change.event} />
    </p>
  );
}
