// Draws a result as hulls, as lines from edges to their members, or by stretches of time. Nodes can
// be pinned, and their other edges fetched.

import { Hyperedges } from '../../client/hyperedges.ts';
import type { Table } from '../../client/index.ts';
import { Empty, Failure } from '../failure.tsx';
import { countText } from '../format.ts';
import { useNodeNames } from '../node-names.ts';
import { useMemo, useRef, useState } from '../preact.ts';
import { momentOf, withMoment } from '../query/moment-condition.ts';
import type { Result } from '../query/run-statement.ts';
import { connection } from '../session.ts';
import { tables, timeWindow } from '../state.ts';
import '../style/graph.css';
import '../style/views.css';
import { BucketPicture } from './bucket-picture.tsx';
import { ChoicePanel } from './choice-panel.tsx';
import { DrawnNodes } from './drawn-nodes.ts';
import { EdgeList } from './edge-list.tsx';
import { edgesOf, type FoundEdge } from './found-edges.ts';
import { type Choice, type Graph, graphOf, hullsAreClear, MOST_DRAWN } from './graph-model.ts';
import { type Form, GraphPicture, halfWidthOf } from './graph-picture.tsx';
import { layOut, type Placement, type Point } from './layout.ts';
import { LookPanel } from './look-panel.tsx';
import { useNodeLooks } from './node-looks.ts';

/** Maximum number of edges fetched for one node. */
const MOST_EXPANDED = 100;

interface Props {
  readonly rows: Result['rows'];
  readonly statement: string;
  readonly isCut: boolean;
  /** The LIMIT of the statement, if the result has reached it. */
  readonly limit: number | undefined;
  readonly table: string;
}

export function GraphView({ rows, statement, isCut, limit, table: tableName }: Props) {
  const table = tables.value.find(({ name }) => name.toLowerCase() === tableName.toLowerCase());
  // Results that differ only in the moment belong together: nodes keep their places.
  const family = useMemo(() => withMoment(statement, undefined), [statement]);
  const { nodes, graph, names, note, error, expand } = useGraph(rows, family, tableName, table, momentOf(statement));
  const looks = useNodeLooks({ graph, nodes, table });
  const [pinned, setPinned] = useState<Choice | undefined>(undefined);
  const [wanted, setWanted] = useState<Form | undefined>(undefined);
  const [marked, setMarked] = useState<string | undefined>(undefined);
  const halfWidth = useMemo(
    () => halfWidthOf(names, looks),
    [names, looks.radiusOf, looks.colouring === undefined, looks.sizing === undefined],
  );
  const placement = usePlacement(graph, halfWidth, family);
  if (graph.edgeCount === 0) {
    return (
      <Empty title="No edges in this result">
        Return whole edges to see them drawn: RETURN e, RETURN *, or e.id, e.event_ts and e.members.
      </Empty>
    );
  }
  const form = wanted ?? (hullsAreClear(graph) ? 'hulls' : 'links');
  // A node or edge that was pinned may be missing from a newer result.
  const isThere =
    pinned?.kind === 'node' ? graph.degree.has(pinned.node) : graph.drawn.some(({ key }) => key === pinned?.key);
  const isMarked = looks.colouring?.legend.some(({ look }) => look === marked);
  const roleNames = table?.roles ?? [];
  const picture = {
    graph,
    names,
    looks,
    roleNames,
    marked: isMarked ? marked : undefined,
    pinned: isThere ? pinned : undefined,
    onPin: setPinned,
  };
  const isEach = graph.kind === 'edges';
  return (
    <div class="graph">
      <div class="bar graph-bar">
        <Summary graph={graph} note={note} isCut={isCut} limit={limit} />
        {isEach && <FormSwitch form={form} onChange={setWanted} />}
      </div>
      <Failure error={error} title="The edges of the node were not fetched" />
      <div class="graph-frame">
        {isEach ? (
          <GraphPicture {...picture} placement={placement} form={form} />
        ) : (
          <BucketPicture
            {...picture}
            onStretch={(window) => {
              timeWindow.value = window;
            }}
          />
        )}
        <div class="graph-side">
          <LookPanel
            {...picture}
            roleNames={isEach && graph.drawn.some(({ roles }) => roles !== undefined) ? roleNames : []}
            hasSizes={isEach}
            onMark={setMarked}
          />
          <ChoicePanel {...picture} nodes={nodes} table={tableName} onExpand={isEach ? expand : undefined} />
        </div>
      </div>
      <EdgeList {...picture} table={tableName} />
    </div>
  );
}

/** Edges that were fetched for nodes of a result. */
interface Added {
  readonly rows: Result['rows'];
  readonly edges: readonly FoundEdge[];
  readonly note: string;
}

/** Returns the graph of a result, and a function that adds the edges of a node to it. */
function useGraph(
  rows: Result['rows'],
  family: string,
  tableName: string,
  table: Table | undefined,
  at: number | undefined,
) {
  const namesOfTable = useNodeNames(tableName);
  const nodes = useMemo(() => new DrawnNodes(), [family]);
  const roleNames = table?.roles;
  const found = useMemo(() => edgesOf(rows, nodes, roleNames), [rows, nodes, roleNames?.join(' ')]);
  const [added, setAdded] = useState<Added>({ rows, edges: [], note: '' });
  const [error, setError] = useState<unknown>(undefined);
  const isOfThese = added.rows === rows;
  const more = isOfThese ? added.edges : [];
  const graph = useMemo(() => graphOf([...found, ...more]), [found, added, isOfThese]);
  const names = useMemo(() => nodes.names(namesOfTable), [nodes, namesOfTable, graph]);
  const expand = async (node: number) => {
    const { key, kind } = nodes.nodeOf(node);
    const query = { table: tableName, limit: MOST_EXPANDED, kind, at };
    try {
      const { hyperedges } = await new Hyperedges(connection()).node(key, query);
      const edges = edgesOf(hyperedges, nodes, roleNames);
      const note = edges.length < MOST_EXPANDED ? '' : ` The first ${MOST_EXPANDED} edges of the node were fetched.`;
      setAdded({ rows, edges: [...more, ...edges], note });
      setError(undefined);
    } catch (failed) {
      setError(failed);
    }
  };
  return { nodes, graph, names, note: isOfThese ? added.note : '', error, expand };
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

function Summary({ graph, note, isCut, limit }: Pick<Props, 'isCut' | 'limit'> & { graph: Graph; note: string }) {
  return (
    <p class="quiet graph-summary" aria-live="polite">
      {summaryOf(graph)}
      {note}
      {isCut && ' The result has more rows than are drawn; narrow the window of time to see all of it.'}
      {limit !== undefined && ` Drawn from the first ${countText(limit, 'row')}: the statement has LIMIT ${limit}.`}
    </p>
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
 * Returns the positions of nodes and edges. When edges are added to a result, or only its moment
 * changes, the nodes that were already drawn keep their positions unless they overlap others, so
 * that the picture grows instead of jumping.
 */
function usePlacement(graph: Graph, halfWidth: (node: number) => number, family: string): Placement {
  const last = useRef<{ family: string; points: ReadonlyMap<number, Point> }>({ family, points: new Map() });
  return useMemo(() => {
    if (graph.kind === 'buckets') return { nodes: new Map(), edges: new Map() };
    const before = last.current.family === family ? last.current.points : new Map<number, Point>();
    const placement = layOut({ nodes: graph.nodes, edges: graph.drawn, before, halfWidth, aspect: aspectOfFrame() });
    // Nodes that are missing at this moment come back to where they were.
    last.current = { family, points: new Map([...before, ...placement.nodes]) };
    return placement;
  }, [graph, halfWidth, family]);
}

/** Returns width / height of the frame: it is wide beside its panel, and tall on narrow screens. */
function aspectOfFrame(): number {
  return matchMedia('(min-width: 800px)').matches ? 1.25 : 0.75;
}
