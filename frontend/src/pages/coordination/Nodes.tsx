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
            <span className="soft figures">version {count(node.version)}</span>
            {node.session !== "" && (
              <span className="znode-mark" title={`Ephemeral: it goes with the session ${node.session}`}>
                session of {node.owner || node.session}
              </span>
            )}
            {noticed.has(node.path) && <span className="znode-mark znode-changed">changed</span>}
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
      {cut > 0 && <span className="soft">… and {count(cut)} more characters</span>}
    </p>
  );
}

function Watchers({ names }: { names: readonly string[] }) {
  const more = names.length - WATCHERS_MOST;
  return names.length === 0 ? null : (
    <p className="soft znode-last">
      watched by {names.slice(0, WATCHERS_MOST).join(", ")}
      {more > 0 && ` and ${count(more)} more`}
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
