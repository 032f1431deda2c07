// Turns edges into a bipartite graph, for formats whose edges join two nodes: every member and
// every hyperedge is a node of that graph, and every incidence, a member in a hyperedge, is an
// edge.

import { isoTime } from '../../iso-time.ts';
import type { ResultColumn } from '../../query/copy/index.ts';
import type { Row } from '../run/runner.ts';
import { checkEdgeColumns, type Edges } from './edge-rows.ts';
import { type Attribute, type AttributeValue, GraphAttributes, valueText } from './graph-attributes.ts';
import { GraphMembers, type Member } from './graph-members.ts';
import type { NodeRows } from './hif-bytes.ts';
import { type Interval, intervalOf } from './interval.ts';
import { checkTypes } from './rows.ts';

export interface GraphNode {
  /** A member's id (graph-members.ts), or `e<number>` for a hyperedge. */
  readonly id: string;
  readonly label: string;
  /** In the order of the attributes; without those that are null. */
  readonly values: readonly AttributeValue[];
  /** Undefined for a member, which is always there. */
  readonly interval: Interval | undefined;
}

export interface Incidence {
  /** Ids of nodes, which are in the same part or in an earlier one. */
  readonly hyperedge: string;
  readonly member: string;
  readonly interval: Interval;
  /** The roles of the member, separated by commas; undefined if it has none. */
  readonly role: string | undefined;
}

export interface GraphPart {
  readonly nodes: readonly GraphNode[];
  readonly incidences: readonly Incidence[];
}

export interface BipartiteGraph {
  /** The attributes of nodes. Those of hyperedges are null for members, and the reverse. */
  readonly attributes: readonly Attribute[];
  /** Whether incidences have roles. */
  readonly hasRoles: boolean;
  /** Nodes of node tables, then the nodes and edges in the order of the rows and their members. */
  readonly parts: AsyncIterable<GraphPart>;
}

interface GraphRows extends Edges {
  readonly roles: readonly string[];
  /** The nodes of a named table, by node table. */
  readonly nodes?: readonly NodeRows[] | undefined;
}

const KIND: Attribute = { name: 'kind', type: 'string' };
const KIND_OF_MEMBER: AttributeValue = [0, 'node'];
const KIND_OF_EDGE: AttributeValue = [0, 'hyperedge'];
const TIMES: readonly ResultColumn[] = [
  { name: 'event_ts', type: 'integer' },
  { name: 'event_time', type: 'text' },
];

/**
 * Returns the graph, whose nodes have the attribute `kind`, `node` or `hyperedge`. Those of
 * hyperedges also have `event_ts` in seconds since 1970, `event_time` in ISO 8601, and the other
 * columns under their names; lists are written as JSON. Nodes of node tables have their attributes
 * and `node_table`; they are all in the graph, and come first. Needs up to 22 bytes of memory for
 * each member that is a number, and while that memory grows half as much again; some 100 bytes for
 * a key. `format` is the name of the format in messages. Throws an Error when the columns are not
 * those of edges; iterating throws one for a row that is not an edge or does not fit the columns.
 */
export function bipartiteGraph(rows: GraphRows, format: string): BipartiteGraph {
  const { columns, areEdges, roles, nodes = [] } = rows;
  checkEdgeColumns(columns, format);
  const isOther = ({ name }: ResultColumn) =>
    name !== 'event_ts' && name !== 'members' && !(areEdges && (name === 'id' || roles.includes(name)));
  const others = columns.filter(isOther);
  const attributes = new GraphAttributes(KIND);
  const [time, ...ofEdges] = attributes.add([...TIMES, ...others]);
  const ofTable = nodes.length === 0 ? [] : attributes.add([{ name: 'node_table', type: 'text' }]);
  const ofNodes = nodes.map((table) => attributes.share(table.columns, others));
  const plan: Plan = { others, places: [time!, ...ofEdges], ofTable: ofTable[0], ofNodes };
  return { attributes: attributes.all, hasRoles: areEdges && roles.length > 0, parts: partsOf(rows, plan, format) };
}

/** Indexes of attributes. */
interface Plan {
  readonly others: readonly ResultColumn[];
  /** Of the times, then of the other columns. */
  readonly places: readonly number[];
  readonly ofTable: number | undefined;
  /** Of the columns of each node table. */
  readonly ofNodes: readonly (readonly number[])[];
}

async function* partsOf(
  { batches, areEdges, roles, nodes: tables = [] }: GraphRows,
  plan: Plan,
  format: string,
): AsyncGenerator<GraphPart, void, undefined> {
  const members = new GraphMembers(tables.length === 1 ? tables[0]!.name : undefined);
  for (const [index, table] of tables.entries())
    for await (const batch of table.rows()) {
      const nodes = batch.flatMap((row) => {
        const member = members.ofTable(table.name, row[table.key] as string | number);
        return members.add(member) ? [memberNode(member, plan, tableValues(row, table, plan.ofNodes[index]!))] : [];
      });
      yield { nodes, incidences: [] };
    }
  let number = 0;
  for await (const batch of batches) {
    checkTypes(batch, plan.others, format);
    const nodes: GraphNode[] = [];
    const incidences: Incidence[] = [];
    for (const row of batch) {
      const given = members.of(row, number, format);
      const interval = intervalOf(row);
      const hyperedge = `e${areEdges ? Number(row.id) : number}`;
      number++;
      const roleOf = areEdges ? members.rolesIn(row, roles) : undefined;
      const added = new Set<string>();
      for (const member of given) {
        if (members.add(member)) nodes.push(memberNode(member, plan, []));
        // The members of a table are distinct; a statement may return any list.
        if (!areEdges && added.has(member.id)) continue;
        if (!areEdges) added.add(member.id);
        incidences.push({ hyperedge, member: member.id, interval, role: roleOf?.get(member.id) });
      }
      nodes.push({ id: hyperedge, label: hyperedge, values: edgeValues(row, plan), interval });
    }
    yield { nodes, incidences };
  }
}

function memberNode({ id, label, kind }: Member, { ofTable }: Plan, values: readonly AttributeValue[]): GraphNode {
  const table: AttributeValue[] = kind === undefined || ofTable === undefined ? [] : [[ofTable, kind]];
  return { id, label, values: [KIND_OF_MEMBER, ...table, ...values], interval: undefined };
}

function tableValues(row: Row, { columns }: NodeRows, places: readonly number[]): AttributeValue[] {
  return columns.flatMap(({ name }, index): AttributeValue[] => {
    const value = row[name];
    return value === null || value === undefined ? [] : [[places[index]!, valueText(value)]];
  });
}

function edgeValues(row: Row, { others, places }: Plan): AttributeValue[] {
  const time = row.event_ts as number;
  const values: AttributeValue[] = [KIND_OF_EDGE, [places[0]!, String(time)], [places[1]!, isoTime(time)]];
  others.forEach(({ name }, index) => {
    const value = row[name];
    if (value !== null && value !== undefined) values.push([places[index + 2]!, valueText(value)]);
  });
  return values;
}
