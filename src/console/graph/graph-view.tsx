// Draws a result as hulls, as lines from edges to their members, or by stretches of time. Nodes can
// be pinned, and their other edges fetched.

import { Hyperedges } from '../../client/hyperedges.ts';
import { Empty, Failure } from '../failure.tsx';
import { countText } from '../format.ts';
import { useNodeNames } from '../node-names.ts';
import { useMemo, useRef, useState } from '../preact.ts';
import type { Result } from '../query/run-statement.ts';
import { connection } from '../session.ts';
import { timeWindow } from '../state.ts';
import '../style/graph.css';
import '../style/views.css';
import { BucketPicture } from './bucket-picture.tsx';
import { ChoicePanel } from './choice-panel.tsx';
import { DrawnNodes } from './drawn-nodes.ts';
import { EdgeList } from './edge-list.tsx';
import { type Choice, edgesOf, type FoundEdge, type Graph, graphOf, hullsAreClear, MOST_DRAWN } from './graph-model.ts';
import { type Form, GraphPicture, halfWidthOf } from './graph-picture.tsx';
import { layOut, type Placement, type Point } from './layout.ts';

/** Maximum number of edges fetched for one node. */
const MOST_EXPANDED = 100;
interface Props {
  readonly rows: Result['rows'];
  readonly isCut: boolean;
  /** The LIMIT of the statement, if the result has reached it. */
  readonly limit: number | undefined;
  readonly table: string;
}

async function edgesAt(node: number, nodes: DrawnNodes, table: string): Promise<FoundEdge[]> {
  const { key, kind } = nodes.nodeOf(node);
  const query = { table, limit: MOST_EXPANDED, ...(kind !== undefined && { kind }) };
  return edgesOf((await new Hyperedges(connection()).node(key, query)).hyperedges, nodes);
}

export function GraphView({ rows, isCut, limit, table }: Props) {
  const namesOfTable = useNodeNames(table);
  const nodes = useMemo(() => new DrawnNodes(), [rows]);
  const found = useMemo(() => edgesOf(rows, nodes), [rows, nodes]);
  const [added, setAdded] = useState<{ rows: Result['rows']; edges: readonly FoundEdge[]; note: string }>({
    rows,
    edges: [],
    note: '',
  });
  const [pinned, setPinned] = useState<Choice | undefined>(undefined);
  const [wanted, setWanted] = useState<Form | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const isOfThese = added.rows === rows;
  const more = isOfThese ? added.edges : [];
  const graph = useMemo(() => graphOf([...found, ...more]), [found, added, isOfThese]);
  const names = useMemo(() => nodes.names(namesOfTable), [nodes, namesOfTable, added]);
  const halfWidth = useMemo(() => halfWidthOf(names, graph.degree), [names, graph]);
  const placement = usePlacement(graph, halfWidth, rows);
  if (found.length === 0) {
    return (
      <Empty title="No edges in this result">
        Return whole edges to see them drawn: RETURN e, RETURN *, or e.id, e.event_ts and e.members.
      </Empty>
    );
  }
  const expand = async (node: number) => {
    try {
      const edges = await edgesAt(node, nodes, table);
      const note = edges.length < MOST_EXPANDED ? '' : ` The first ${MOST_EXPANDED} edges of the node were fetched.`;
      setAdded({ rows, edges: [...more, ...edges], note });
      setError(undefined);
    } catch (failed) {
      setError(failed);
    }
  };
  const form = wanted ?? (hullsAreClear(graph) ? 'hulls' : 'links');
  // A node or edge that was pinned may be missing from a newer result.
  const isThere =
    pinned?.kind === 'node' ? graph.degree.has(pinned.node) : graph.drawn.some(({ key }) => key === pinned?.key);
  const choice = isThere ? pinned : undefined;
  const picture = { graph, names, nodes, pinned: choice, onPin: setPinned };
  return (
    <div class="graph">
      <div class="bar graph-bar">
        <p class="quiet graph-summary" aria-live="polite">
          {summaryOf(graph)}
          {isOfThese && added.note}
          {isCut && ' The result has more rows than are drawn; narrow the window of time to see all of it.'}
          {limit !== undefined && ` Drawn from the first ${countText(limit, 'row')}: the statement has LIMIT ${limit}.`}
        </p>
        {graph.kind === 'edges' && <FormSwitch form={form} onChange={setWanted} />}
      </div>
      <Failure error={error} title="The edges of the node were not fetched" />
      <div class="graph-frame">
        {graph.kind === 'buckets' ? (
          <BucketPicture
            {...picture}
            onStretch={(window) => {
              timeWindow.value = window;
            }}
          />
        ) : (
          <GraphPicture {...picture} placement={placement} form={form} />
        )}
        <ChoicePanel {...picture} table={table} onExpand={graph.kind === 'edges' ? expand : undefined} />
      </div>
      <EdgeList graph={graph} names={names} table={table} />
    </div>
  );
}

const FORMS = [
  ['hulls', 'Hulls', 'A shape around the members of each edge'],
  ['links', 'Links', 'A square for each edge, with lines to its members'],
] as const;

function FormSwitch({ form, onChange }: { form: Form; onChange: (form: Form) => void }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would show a frame and a legend.
    <div class="switch" role="group" aria-label="How edges are drawn">
      {FORMS.map(([name, title, about]) => (
        <button key={name} type="button" title={about} aria-pressed={form === name} onClick={() => onChange(name)}>
          {title}
        </button>
      ))}
    </div>
  );
}

function summaryOf({ kind, nodes, edgeCount, drawn, nodesLeftOut }: Graph): string {
  const edges = countText(edgeCount, 'edge');
  if (kind === 'edges') {
    const sets = drawn.length === edgeCount ? '' : `; equal ones are drawn as one, ${countText(drawn.length, 'shape')}`;
    return `${countText(nodes.length, 'node')} in ${edges}${sets}.`;
  }
  const left = nodesLeftOut === 0 ? '' : `, ${countText(nodesLeftOut, 'other node')} left out`;
  return `${edges} with more than ${MOST_DRAWN} member sets: drawn by stretches of time, over the ${nodes.length} busiest nodes${left}.`;
}

/**
 * Returns the positions of nodes and edges. When edges are added to a result, the nodes that were
 * already drawn keep their positions unless they overlap others, so that the picture grows instead
 * of jumping.
 */
function usePlacement(graph: Graph, halfWidth: (node: number) => number, rows: Result['rows']): Placement {
  const last = useRef<{ rows: Result['rows']; points: ReadonlyMap<number, Point> }>({ rows, points: new Map() });
  return useMemo(() => {
    if (graph.kind === 'buckets') return { nodes: new Map(), edges: new Map() };
    const before = last.current.rows === rows ? last.current.points : new Map<number, Point>();
    const placement = layOut({ nodes: graph.nodes, edges: graph.drawn, before, halfWidth, aspect: aspectOfFrame() });
    last.current = { rows, points: placement.nodes };
    return placement;
  }, [graph, halfWidth, rows]);
}

/** Returns width / height of the frame: it is wide beside its panel, and tall on narrow screens. */
function aspectOfFrame(): number {
  return matchMedia('(min-width: 800px)').matches ? 1.25 : 0.75;
}
