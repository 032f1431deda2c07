// Computes the figure that a question asks for: a count, the first or last edge, or the most
// frequent node or value. A statement or a measure computes it from all edges of the table that the
// question means, not only from those that were retrieved. The answer names this statement or
// measure.

import type { Table } from '../engine/index.ts';
import type { KindAndKey } from '../model/node-refs.ts';
import { wellFormed } from '../model/text.ts';
import { conditions, hasIntervals, windowCondition } from './figure-conditions.ts';
import { batchesOf, type ComputeTools, quoted, rowsOf } from './figure-statements.ts';
import type { Filter, Ignored } from './question/question.ts';
import { NAME_COLUMN } from './retrieval/bind.ts';
import type { Member, MemberKeys } from './retrieval/member-keys.ts';
import { type Retrieval, retrieveOne } from './retrieval/retrieve.ts';
import type { RetrievedEdge } from './retrieval/retrieved-edge.ts';
import { quotedText, shownMember } from './stored-text.ts';
import { membersOf, timeOf } from './written-answer.ts';

export type { ComputeTools, RunMeasure } from './figure-statements.ts';

export interface Computed {
  /** The statement, or the measure with its parameters. */
  readonly computed_by: string;
  readonly sentence: string;
  /** The edge that the sentence cites. */
  readonly edge: RetrievedEdge | undefined;
}

const NO_EDGE = 'No edge of the table meets all conditions of the question.';

/** What an answer is written from if a question asks for a figure. */
export interface Figured {
  /**
   * Undefined if the question does not ask for a figure or does not bind, if no statement can
   * compute the figure, or if no edge matches (for a count, the figure is then 0).
   */
  readonly figure: Computed | undefined;
  /**
   * The retrieval. If a question that binds has no figure, it has no edges, and the reason is among
   * the ignored parts: an answer from other edges would state another first, last or number than
   * the true one.
   */
  readonly retrieval: Retrieval;
}

/** Computes the figure for which a question asks, if it asks for one. */
export async function computeFigure(retrieval: Retrieval, tools: ComputeTools): Promise<Figured> {
  const { figure } = retrieval.said;
  if (figure === null || figure.kind === 'unknown' || !retrieval.binds) return { figure: undefined, retrieval };
  const found = await conditions(retrieval, tools);
  if ('unmet' in found) return abstained(retrieval, found.unmet);
  const { where, indexed } = found;
  const from = `MATCH (e:${quoted(tools.table.name)})${where === '' ? '' : ` WHERE ${where}`}`;
  const figured = await figureOf(retrieval, from, where, tools);
  const bound = withBound(retrieval, indexed);
  return figured === undefined ? abstained(bound, unmatched(bound)) : { figure: figured, retrieval: bound };
}

async function figureOf(
  retrieval: Retrieval,
  from: string,
  where: string,
  tools: ComputeTools,
): Promise<Computed | undefined> {
  const figure = retrieval.said.figure!;
  if (figure.kind === 'first' || figure.kind === 'last') return anEnd(figure.kind, from, tools);
  if (figure.kind === 'most' && figure.column !== null) return mostOfColumn(figure.column, from, tools);
  if (figure.kind === 'most' || (figure.kind === 'count' && figure.of === 'nodes'))
    return ofNodes(figure.kind, retrieval, from, where, tools);
  const statement = `${from} RETURN COUNT(*) AS count`;
  const [row] = await rowsOf(statement, tools);
  const count = Number(row?.count ?? 0);
  const without = await withoutValue(retrieval, tools);
  const sentence = `${count} ${count === 1 ? 'hyperedge matches' : 'hyperedges match'} in table ${tools.table.name}${without}.`;
  return { computed_by: statement, sentence, edge: undefined };
}

function abstained(retrieval: Retrieval, reason: Ignored): Figured {
  const { question } = retrieval;
  const ignored = [...question.ignored, reason];
  return { figure: undefined, retrieval: { ...retrieval, edges: [], question: { ...question, ignored } } };
}

/** Returns the words of a question of which no edge matches. */
function unmatched({ question, foundWords }: Retrieval): Ignored {
  const words = [...foundWords].join(' ');
  return { text: words === '' ? wellFormed(question.query.slice(0, MOST_SHOWN)) : words, reason: NO_EDGE };
}

/** Maximum number of characters of a question that an answer shows as ignored. */
const MOST_SHOWN = 120;

/** Returns a retrieval of whose question some words are not ignored: its figure has them. */
function withBound(retrieval: Retrieval, words: ReadonlySet<string>): Retrieval {
  const { question, said } = retrieval;
  const written = new Set([...words].map((word) => said.keywords.get(word)));
  const ignored = question.ignored.filter(({ text }) => !written.has(text));
  return { ...retrieval, question: { ...question, ignored } };
}

/**
 * Returns the words about edges that have no value in a column that must differ from a value. As in
 * statements, such edges do not match.
 */
async function withoutValue(retrieval: Retrieval, tools: ComputeTools): Promise<string> {
  const { filters } = retrieval.question;
  const [differing, ...others] = filters.filter(({ op, value }) => op === '!=' && value !== null);
  if (differing === undefined || others.length > 0) return '';
  const missing: Filter = { ...differing, op: '=', value: null };
  const question = { ...retrieval.question, filters: filters.map((one) => (one === differing ? missing : one)) };
  const found = await conditions({ ...retrieval, question }, tools);
  if ('unmet' in found) return '';
  const [row] = await rowsOf(
    `MATCH (e:${quoted(tools.table.name)}) WHERE ${found.where} RETURN COUNT(*) AS count`,
    tools,
  );
  const count = Number(row?.count ?? 0);
  return count === 0 ? '' : `, not counting ${count} ${hyperedges(count)} without ${differing.column}`;
}

async function anEnd(kind: 'first' | 'last', from: string, tools: ComputeTools): Promise<Computed | undefined> {
  const order = kind === 'first' ? 'e.event_ts, e.id' : 'e.event_ts DESC, e.id';
  const statement = `${from} RETURN e.id AS id, e.event_ts AS event_ts ORDER BY ${order} LIMIT 1`;
  const [row] = await rowsOf(statement, tools);
  if (row === undefined) return undefined;
  const key = { id: Number(row.id), eventTs: Number(row.event_ts) };
  const edge = await tools.runner.run(retrieveOne(tools.table, key, tools.keys));
  if (edge === undefined) return undefined;
  const sentence = `The ${kind} matching hyperedge links ${membersOf(edge)} at ${timeOf(edge)} [${edge.hedge_tag}].`;
  return { computed_by: statement, sentence, edge };
}

async function mostOfColumn(column: string, from: string, tools: ComputeTools): Promise<Computed | undefined> {
  const name = quoted(column);
  const condition = from.includes(' WHERE ') ? ' AND' : ' WHERE';
  const statement = `${from}${condition} e.${name} IS NOT NULL RETURN e.${name} AS value, COUNT(*) AS count ORDER BY count DESC, value LIMIT 1`;
  const [row] = await rowsOf(statement, tools);
  if (row === undefined) return undefined;
  const value = typeof row.value === 'string' ? quotedText(row.value) : String(row.value);
  const count = Number(row.count);
  const sentence = `The most common ${column} is ${value}: ${count} ${hyperedges(count)} in table ${tools.table.name}.`;
  return { computed_by: statement, sentence, edge: undefined };
}

/**
 * Computes the number of distinct nodes, or the node that is in the most edges. Nodes that the
 * question names are left out.
 */
async function ofNodes(
  kind: 'count' | 'most',
  { question }: Retrieval,
  from: string,
  where: string,
  tools: ComputeTools,
): Promise<Computed | undefined> {
  const { window, nodes } = question;
  const { keys } = tools;
  // A measure has the edges that begin in the window.
  const isOfTimes = window?.start_ts == null || !hasIntervals(tools.table);
  const isPlain =
    isOfTimes && nodes.length === 0 && question.filters.length === 0 && where === windowCondition(window, tools.table);
  const counts = isPlain && tools.measure ? await measured(kind, window, tools) : await tallied(from, tools);
  const members: readonly Member[] = keys === undefined ? nodes : nodes.map((node) => keys.memberOf(node));
  for (const member of members) counts.degrees.delete(member);
  const { name } = tools.table;
  if (kind === 'count') {
    const count = counts.degrees.size;
    const sentence = `${count} different ${count === 1 ? 'node is' : 'nodes are'} in the matching hyperedges of table ${name}${nodes.length > 0 ? ', not counting those that were named' : ''}.`;
    return { computed_by: counts.by, sentence, edge: undefined };
  }
  // On ties the least number is taken: in a named table, the node that was created first.
  const rank = (member: Member) => (keys === undefined ? (member as number) : (keys.numberOf(member) ?? Infinity));
  let best: [node: Member, count: number] | undefined;
  for (const [node, count] of counts.degrees)
    if (best === undefined || count > best[1] || (count === best[1] && rank(node) < rank(best[0])))
      best = [node, count];
  if (best === undefined) return undefined;
  const together =
    nodes.length === 0
      ? ''
      : ` together with ${nodes.length === 1 ? 'node' : 'nodes'} ${members.map(shownMember).join(', ')}`;
  const sentence = `Node ${shownMember(best[0])}${await nameOf(best[0], tools)} is in the most hyperedges of table ${name}${together}: ${best[1]}.`;
  return { computed_by: counts.by, sentence, edge: undefined };
}

interface Degrees {
  readonly degrees: Map<Member, number>;
  readonly by: string;
}

async function measured(
  kind: 'count' | 'most',
  window: Retrieval['question']['window'],
  { table, keys, measure, runner }: ComputeTools,
): Promise<Degrees> {
  const params = {
    ...(window?.start_ts == null ? {} : { start_ts: window.start_ts }),
    ...(window?.end_ts == null ? {} : { end_ts: window.end_ts }),
    ...(kind === 'most' ? { limit: 1 } : {}),
  };
  const { result } = await measure!(table.name, 'node_degree', params, { signal: runner.signal });
  // Only keys that are texts are not numbers; with several kinds all nodes are texts.
  const isText = keys !== undefined && (keys.kinds.length > 1 || !keys.kinds[0]!.isInteger);
  const degrees = new Map<Member, number>(
    Object.entries(result as object).map(([node, degree]) => [isText ? node : Number(node), Number(degree)]),
  );
  return { degrees, by: `node_degree ${JSON.stringify(params)}` };
}

/** Counts for each node the matching edges that contain the node. */
async function tallied(from: string, tools: ComputeTools): Promise<Degrees> {
  const statement = `${from} RETURN e.members AS members`;
  const degrees = new Map<Member, number>();
  for await (const batch of batchesOf(statement, tools)) {
    for (const { members } of batch)
      for (const node of members as (Member | KindAndKey)[]) {
        const member = typeof node === 'object' ? `${node.kind}:${node.key}` : node;
        degrees.set(member, (degrees.get(member) ?? 0) + 1);
      }
  }
  return { degrees, by: statement };
}

/**
 * Returns the edges with these ids in the form in which retrieval returns them. Ids that the table
 * does not contain are skipped.
 */
export async function edgesById(
  table: Table,
  ids: readonly number[],
  statements: ComputeTools['statements'],
  runner: ComputeTools['runner'],
  keys: MemberKeys | undefined,
): Promise<RetrievedEdge[]> {
  if (ids.length === 0) return [];
  const statement = `MATCH (e:${quoted(table.name)}) WHERE e.id IN [${[...new Set(ids)].join(', ')}] RETURN e.id AS id, e.event_ts AS event_ts`;
  const edges: RetrievedEdge[] = [];
  for (const { id, event_ts } of await rowsOf(statement, { statements, runner })) {
    const edge = await runner.run(retrieveOne(table, { id: Number(id), eventTs: Number(event_ts) }, keys));
    if (edge !== undefined) edges.push(edge);
  }
  return edges;
}

/** Returns the name of a node, like ` ("Ada")`, or an empty text if it has no name. */
async function nameOf(node: Member, tools: ComputeTools): Promise<string> {
  if (tools.names === undefined) return '';
  const statement = `MATCH (n:${quoted(tools.names.name)}) WHERE ${node} IN n.members RETURN n.${NAME_COLUMN} AS name LIMIT 1`;
  const [row] = await rowsOf(statement, tools);
  return typeof row?.name === 'string' ? ` (${quotedText(row.name)})` : '';
}

function hyperedges(count: number): string {
  return count === 1 ? 'hyperedge' : 'hyperedges';
}
