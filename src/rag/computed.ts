// Computes the figure that a question asks for: a count, the first or last edge, or the most
// frequent node or value. A statement or a measure computes it from all edges of the table that the
// question means, not only from those that were retrieved. The answer names this statement or
// measure.

import type { Database, Table } from '../engine/index.ts';
import { kindOfType } from '../model/column-types.ts';
import { builtInType } from '../model/columns.ts';
import type { KindAndKey } from '../model/node-refs.ts';
import type { StatementRow, EmbeddedStatements as Statements } from '../query/index.ts';
import type { Steps } from '../schedule/steps.ts';
import type { Filter, FilterValue } from './question/question.ts';
import type { StepRunner } from './request.ts';
import { NAME_COLUMN } from './retrieval/bind.ts';
import { holdsWord, keywordStem } from './retrieval/keyword-match.ts';
import type { Member, MemberKeys } from './retrieval/member-keys.ts';
import { type Retrieval, retrieveOne } from './retrieval/retrieve.ts';
import type { RetrievedEdge } from './retrieval/retrieved-edge.ts';
import { quotedText, shownMember } from './stored-text.ts';
import { membersOf, timeOf } from './written-answer.ts';

/** Runs a measure over a table, as POST /v1/analytics does. */
export type RunMeasure = (
  table: string,
  measure: string,
  params: object,
  options: { signal: AbortSignal },
) => Promise<{ result: unknown }>;

export interface ComputeTools {
  readonly database: Database;
  readonly table: Table;
  /** The keys of a named table. */
  readonly keys: MemberKeys | undefined;
  readonly names: Table | undefined;
  readonly statements: Statements;
  /** If undefined, a statement reads the edges, and nodes are counted from these. */
  readonly measure: RunMeasure | undefined;
  readonly runner: StepRunner;
}

export interface Computed {
  /** The statement, or the measure with its parameters. */
  readonly computed_by: string;
  readonly sentence: string;
  /** The edge that the sentence cites. */
  readonly edge: RetrievedEdge | undefined;
}

/**
 * Maximum number of texts that a condition lists. If it would have to list more, no figure is
 * computed.
 */
const MOST_TEXTS = 200;
/**
 * If more texts than this match a word, the condition uses CONTAINS instead of listing them,
 * provided that CONTAINS selects the same texts.
 */
const FEW_TEXTS = 8;
const MOST_DISTINCT = 100_000;

/**
 * Computes the figure. Returns undefined if the question does not ask for a figure or does not
 * bind, if no statement can compute the figure, or if no edge matches (for a count, the figure is
 * then 0).
 */
export async function computeFigure(retrieval: Retrieval, tools: ComputeTools): Promise<Computed | undefined> {
  const { figure } = retrieval.said;
  if (figure === null || figure.kind === 'unknown' || !retrieval.binds) return undefined;
  const where = await conditions(retrieval, tools);
  if (where === undefined) return undefined;
  const from = `MATCH (e:${quoted(tools.table.name)})${where === '' ? '' : ` WHERE ${where}`}`;
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
  const where = await conditions({ ...retrieval, question }, tools);
  if (where === undefined) return '';
  const [row] = await rowsOf(`MATCH (e:${quoted(tools.table.name)}) WHERE ${where} RETURN COUNT(*) AS count`, tools);
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
async function tallied(from: string, { statements, runner }: ComputeTools): Promise<Degrees> {
  const statement = `${from} RETURN e.members AS members`;
  const degrees = new Map<Member, number>();
  const { batches } = await statements.begin(statement, {}, { signal: runner.signal });
  for await (const batch of batches) {
    await runner.run(pause());
    for (const { members } of batch)
      for (const node of members as (Member | KindAndKey)[]) {
        const member = typeof node === 'object' ? `${node.kind}:${node.key}` : node;
        degrees.set(member, (degrees.get(member) ?? 0) + 1);
      }
  }
  return { degrees, by: statement };
}

/** Gives the runner a chance to check the deadline. */
function* pause(): Steps<void> {
  yield;
}

async function rowsOf(
  statement: string,
  { statements, runner }: Pick<ComputeTools, 'statements' | 'runner'>,
): Promise<StatementRow[]> {
  const { batches } = await statements.begin(statement, {}, { signal: runner.signal });
  const rows: StatementRow[] = [];
  for await (const batch of batches) {
    await runner.run(pause());
    rows.push(...batch);
  }
  return rows;
}

/**
 * Returns the edges with these ids in the form in which retrieval returns them. Ids that the table
 * does not contain are skipped.
 */
export async function edgesById(
  table: Table,
  ids: readonly number[],
  statements: Statements,
  runner: StepRunner,
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

/**
 * Returns the WHERE conditions that select the edges that a question means, or undefined if no
 * statement can express them. If the question names several nodes, an edge must contain all of
 * them. If "or" joins the nodes, one of them is enough.
 */
async function conditions(retrieval: Retrieval, tools: ComputeTools): Promise<string | undefined> {
  const { question, hasOr, foundWords } = retrieval;
  const parts: string[] = [];
  const groups = retrieval.said.nodeGroups ?? question.nodes.map((node) => [node]);
  const held = groups.map((nodes) => heldCondition(nodes, hasOr, tools.keys));
  if (held.length > 0) parts.push(hasOr ? `(${held.join(' OR ')})` : held.join(' AND '));
  const window = windowCondition(question.window, tools.table);
  if (window !== '') parts.push(window);
  const { columns } = tools.table.item();
  for (const filter of question.filters) {
    const type = columns.find(({ name }) => name === filter.column)?.type ?? builtInType(filter.column);
    const isText = type !== undefined && kindOfType(type) === 'text';
    const part = isText && filter.value !== null ? await textCondition(filter, tools) : plainCondition(filter);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  const textColumns = [
    'formation',
    ...columns.flatMap(({ name, type }) => (kindOfType(type) === 'text' ? [name] : [])),
  ];
  for (const word of foundWords) {
    const part = await wordCondition(word, [...new Set(textColumns)], tools);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return parts.join(' AND ');
}

/** Returns the condition that an edge has one of the nodes. */
function heldCondition(nodes: readonly number[], isInOr: boolean, keys: MemberKeys | undefined): string {
  const parts = nodes.map((node) => {
    const known = keys?.nodes.nodeOf(node);
    if (keys !== undefined && known === undefined) return 'false';
    if (known === undefined) return `${node} IN e.members`;
    const key = literal(known.key);
    return `${keys!.kinds.length > 1 ? `node(${quoted(known.kind)}, ${key})` : key} IN e.members`;
  });
  return parts.length > 1 && !isInOr ? `(${parts.join(' OR ')})` : parts.join(' OR ');
}

/** In a table with intervals, edges are meant that hold in the window. */
function windowCondition(window: Retrieval['question']['window'], table: Table): string {
  const parts: string[] = [];
  const start = window?.start_ts;
  if (start != null && hasIntervals(table))
    parts.push(`(e.event_ts >= ${start} OR e.end_ts IS NULL OR e.end_ts > ${start})`);
  else if (start != null) parts.push(`e.event_ts >= ${start}`);
  if (window?.end_ts != null) parts.push(`e.event_ts <= ${window.end_ts}`);
  return parts.join(' AND ');
}

function hasIntervals({ columns }: Table): boolean {
  return columns.end !== undefined;
}

function plainCondition({ column, op, value }: Filter): string | undefined {
  const name = `e.${quoted(column)}`;
  if (value === null) return op === '=' ? `${name} IS NULL` : `${name} IS NOT NULL`;
  if (op === 'contains') return undefined;
  if (op === 'in') return `${name} IN [${(value as readonly FilterValue[]).map(literal).join(', ')}]`;
  return `${name} ${op === '!=' ? '<>' : op} ${literal(value as FilterValue)}`;
}

/**
 * Returns a condition on a text column. Statements compare texts exactly, but questions ignore
 * case, so the condition lists all stored texts that match.
 */
async function textCondition({ column, op, value }: Filter, tools: ComputeTools): Promise<string | undefined> {
  const wanted = (Array.isArray(value) ? value : [value]).map((one) => String(one).toLowerCase());
  const isMeant = (text: string) =>
    op === 'contains' ? text.includes(wanted[0]!) : op === '!=' ? text !== wanted[0] : wanted.includes(text);
  const found = await storedTexts(column, isMeant, tools);
  return found && `e.${quoted(column)} IN [${found.texts.map(literal).join(', ')}]`;
}

async function wordCondition(
  word: string,
  columns: readonly string[],
  tools: ComputeTools,
): Promise<string | undefined> {
  const parts: string[] = [];
  for (const column of columns) {
    const stem = keywordStem(word);
    const found = await storedTexts(column, (text) => holdsWord(text, stem), tools, stem);
    if (found === undefined) return undefined;
    const { texts, isPart } = found;
    const name = `e.${quoted(column)}`;
    if (isPart && texts.length > FEW_TEXTS) parts.push(`${name} CONTAINS ${literal(stem)}`);
    else if (texts.length > 0) parts.push(`${name} IN [${texts.map(literal).join(', ')}]`);
  }
  return parts.length === 0 ? 'false' : parts.length === 1 ? parts[0] : `(${parts.join(' OR ')})`;
}

/**
 * Returns the texts in a column for which `passes` returns true. `passes` is called with each text
 * in lower case. Returns undefined if there are too many texts to list or to read. `isPart` in the
 * result means that the texts that pass are exactly those that contain `part`. In that case the
 * list may be incomplete.
 */
export async function storedTexts(
  column: string,
  passes: (text: string) => boolean,
  { table, statements, runner }: Pick<ComputeTools, 'table' | 'statements' | 'runner'>,
  part?: string,
): Promise<{ texts: string[]; isPart: boolean } | undefined> {
  const name = quoted(column);
  const statement = `MATCH (e:${quoted(table.name)}) WHERE e.${name} IS NOT NULL RETURN DISTINCT e.${name} AS text LIMIT ${MOST_DISTINCT + 1}`;
  const texts: string[] = [];
  let seen = 0;
  let isPart = part !== undefined;
  const { batches } = await statements.begin(statement, {}, { signal: runner.signal });
  for await (const batch of batches) {
    await runner.run(pause());
    seen += batch.length;
    for (const row of batch) {
      const text = String(row.text);
      const isMeant = passes(text.toLowerCase());
      isPart &&= isMeant === text.includes(part!);
      if (isMeant && texts.length <= MOST_TEXTS) texts.push(text);
    }
    if ((texts.length > MOST_TEXTS && !isPart) || seen > MOST_DISTINCT) return undefined;
  }
  return { texts: texts.sort(), isPart };
}

function hyperedges(count: number): string {
  return count === 1 ? 'hyperedge' : 'hyperedges';
}

function literal(value: FilterValue): string {
  return typeof value === 'string'
    ? `'${value.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(/\t/g, '\\t')}'`
    : String(value);
}

/** Matches names that must be in backquotes, because they are keywords in statements. */
const RESERVED =
  /^(?:match|where|return|and|or|not|in|is|null|true|false|order|by|asc|desc|limit|skip|offset|distinct|as|contains|starts|ends|with|between|members|hyperedge|count|sum|avg|min|max|collect|size|bucket|shared|intersects|overlaps|follows|exists|e)$/i;

function quoted(name: string): string {
  return RESERVED.test(name) ? `\`${name}\`` : name;
}
