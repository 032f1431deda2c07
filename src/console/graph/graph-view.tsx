// A result drawn: nodes as circles, edges as hulls around their members. Nodes can be pinned and expanded.

import { EdgeTag } from '../edge-dialog.tsx';
import { Empty, Failure } from '../failure.tsx';
import { countText, timeText } from '../format.ts';
import { useMemo, useRef, useState } from '../preact.ts';
import type { Result } from '../query/run-statement.ts';
import { Scrolling } from '../scrolling.tsx';
import { client } from '../session.ts';
import { tableName } from '../state.ts';
import { BucketPicture } from './bucket-picture.tsx';
import { edgesOf, type FoundEdge, type Graph, graphOf, MOST_DRAWN } from './graph-model.ts';
import { GraphPicture } from './graph-picture.tsx';
import { layOut, type Point } from './layout.ts';

/** A node's edges come in at most this number. */
const MOST_EXPANDED = 100;

export function GraphView({ rows, isCut }: { rows: Result['rows']; isCut: boolean }) {
  const table = tableName.value;
  const found = useMemo(() => edgesOf(rows), [rows]);
  const [added, setAdded] = useState<{ rows: Result['rows']; edges: readonly FoundEdge[] }>({ rows, edges: [] });
  const [pinned, setPinned] = useState<number | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const more = added.rows === rows ? added.edges : [];
  const graph = useMemo(() => graphOf([...found, ...more]), [found, more]);
  const points = usePoints(graph);
  if (found.length === 0) {
    return (
      <Empty title="No edges in this result">
        Return whole edges to see them drawn: RETURN e, RETURN *, or e.id, e.event_ts and e.members.
      </Empty>
    );
  }
  const expand = async (node: number) => {
    try {
      const { hyperedges } = await client().hyperedges.node(node, { table, limit: MOST_EXPANDED });
      const edges = hyperedges.map(({ id, event_ts: ts, members }) => ({ id, ts, members }));
      setAdded({ rows, edges: [...more, ...edges] });
      setError(undefined);
    } catch (failed) {
      setError(failed);
    }
  };
  return (
    <div class="graph">
      <p class="quiet graph-summary" aria-live="polite">
        {summaryOf(graph)}
        {isCut && ' The result has more rows than are drawn; narrow the window of time to see all of it.'}
      </p>
      <Failure error={error} />
      <div class="graph-frame">
        {graph.kind === 'buckets' ? (
          <Scrolling label="Picture" height="whole">
            <BucketPicture graph={graph} pinned={pinned} onPin={setPinned} />
          </Scrolling>
        ) : (
          <GraphPicture graph={graph} points={points} pinned={pinned} onPin={setPinned} />
        )}
        <NodePanel graph={graph} pinned={pinned} table={table} onPin={setPinned} onExpand={expand} />
      </div>
    </div>
  );
}

function summaryOf({ kind, nodes, edgeCount, drawn, nodesLeftOut }: Graph): string {
  const edges = countText(edgeCount, 'edge');
  if (kind === 'edges') {
    const sets = drawn.length === edgeCount ? '' : ` (${countText(drawn.length, 'member set')})`;
    return `${countText(nodes.length, 'node')} in ${edges}${sets}.`;
  }
  const left = nodesLeftOut === 0 ? '' : `, ${countText(nodesLeftOut, 'other node')} left out`;
  return `${edges} have more than ${MOST_DRAWN} member sets: drawn by stretches of time over the ${nodes.length} busiest nodes${left}.`;
}

/** Nodes that were there keep their places, so that a picture grows instead of jumping. */
function usePoints(graph: Graph): ReadonlyMap<number, Point> {
  const last = useRef<ReadonlyMap<number, Point>>(new Map());
  return useMemo(() => {
    const points = layOut({ nodes: graph.nodes, edges: graph.drawn, before: last.current });
    last.current = points;
    return points;
  }, [graph]);
}

interface PanelProps {
  readonly graph: Graph;
  readonly pinned: number | undefined;
  readonly table: string;
  readonly onPin: (node: number | undefined) => void;
  readonly onExpand: (node: number) => Promise<void>;
}

const MOST_LISTED = 12;

function NodePanel({ graph, pinned, table, onPin, onExpand }: PanelProps) {
  const edges = graph.drawn
    .flatMap((drawn) => drawn.edges)
    .filter(({ members }) => pinned !== undefined && members.includes(pinned));
  return (
    <div class="node-panel">
      <label>
        Node{' '}
        <select
          value={pinned ?? ''}
          onChange={({ currentTarget: { value } }) => onPin(value === '' ? undefined : Number(value))}
        >
          <option value="">none pinned</option>
          {graph.nodes.map((node) => (
            <option key={node} value={node}>
              {node}
            </option>
          ))}
        </select>
      </label>
      {pinned === undefined ? (
        <p class="quiet">Choose a node here or in the picture to pin it and see its edges.</p>
      ) : (
        <>
          <p>
            In {countText(graph.degree.get(pinned) ?? 0, 'edge')} of this picture.{' '}
            <button type="button" onClick={() => onExpand(pinned)}>
              Expand: fetch its edges
            </button>
          </p>
          <ul class="plain-list">
            {edges.slice(0, MOST_LISTED).map((edge, at) => (
              <li key={edge.id ?? `at ${at}`}>
                {edge.id === undefined ? 'edge' : <EdgeTag table={table} id={edge.id} />}{' '}
                <span class="quiet">
                  {edge.members.join(', ')}
                  {edge.ts !== undefined && <time>{timeText(edge.ts)}</time>}
                </span>
              </li>
            ))}
          </ul>
          {edges.length > MOST_LISTED && (
            <p class="quiet">and {countText(edges.length - MOST_LISTED, 'more', 'more')}</p>
          )}
        </>
      )}
    </div>
  );
}
