// Fetches the values by which nodes are coloured and sized.

import type { Table } from '../../client/index.ts';
import { client } from '../session.ts';
import type { TimeWindow } from '../state.ts';
import { quoted } from '../statement-words.ts';
import type { DrawnNodes } from './drawn-nodes.ts';
import type { NodeValue } from './scales.ts';
import { nodeId, type ValueSource } from './value-sources.ts';

/** Values by the text of a node (`nodeId`). */
export interface FetchedValues {
  readonly values: ReadonlyMap<string, NodeValue>;
  /** True if there are more values than were asked for; the largest ones are known then. */
  readonly isCut: boolean;
}

/** Maximum number of values of a measure that are fetched. */
export const MOST_MEASURED = 20_000;
/** Number of keys in one statement. */
const KEYS_AT_ONCE = 1000;

interface Request {
  readonly table: Table;
  readonly nodes: DrawnNodes;
  readonly drawn: readonly number[];
  readonly window: TimeWindow | undefined;
  readonly signal: AbortSignal;
}

/** Fetches the values of a source that is an attribute or a measure. */
export async function fetchValues({ from }: ValueSource, request: Request): Promise<FetchedValues> {
  if (from.kind === 'attribute') return attributeValues(from, request);
  if (from.kind === 'measure') return measureValues(from, request);
  return { values: new Map(), isCut: false };
}

type Attribute = Extract<ValueSource['from'], { kind: 'attribute' }>;

async function attributeValues({ table: kind, column }: Attribute, request: Request): Promise<FetchedValues> {
  const keys = request.drawn.flatMap((drawn) => {
    const node = request.nodes.nodeOf(drawn);
    return (node.kind ?? request.table.member_tables[0]) === kind.name ? [node.key] : [];
  });
  const values = new Map<string, NodeValue>();
  const statement = `MATCH (n:${quoted(kind.name)}) WHERE n.${quoted(kind.key.name)} IN $keys RETURN n.${quoted(kind.key.name)} AS node, n.${quoted(column)} AS value`;
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
    const options = { signal: request.signal };
    const answer = await client().query.run(statement, { keys: keys.slice(at, at + KEYS_AT_ONCE) }, options);
    for (const { node, value } of answer.rows) values.set(nodeId(request.table, kind.name, node), value as NodeValue);
  }
  return { values, isCut: false };
}

type Measured = Extract<ValueSource['from'], { kind: 'measure' }>;

async function measureValues({ measure, params }: Measured, request: Request): Promise<FetchedValues> {
  const { table, window, signal } = request;
  const bounds = window === undefined ? {} : { start_ts: window.start, end_ts: window.end };
  const { result } = await client().analytics.run(
    table.name,
    measure,
    { ...params, ...bounds, limit: MOST_MEASURED },
    { timeoutMs: 0, signal },
  );
  const values = new Map(Object.entries(result as Readonly<Record<string, number | null>>));
  return { values, isCut: values.size >= MOST_MEASURED };
}
