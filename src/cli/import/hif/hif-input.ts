// Reads HIF as an input of an import. The members of an edge come from the incidences. Its time and
// its properties come from its `attrs`.

import type { ColumnType } from '../../../engine/index.ts';
import { HedgerowError } from '../../../errors.ts';
import { MOST_ROLES } from '../../../model/shape.ts';
import { commonType } from '../../../tabular/cell-types.ts';
import type { BatchLimits, LineBatch, Position } from '../line-batches.ts';
import type { Members } from '../node-keys.ts';
import type { LookedInto, PlannedInput } from '../planned-input.ts';
import { jsonText } from '../rows/cell-types.ts';
import { RowBatches, type RowForm } from '../rows/row-batches.ts';
import { rowEdges } from '../rows/row-edges.ts';
import { plannedRows } from '../rows/row-input.ts';
import type { RowFlags } from '../rows/row-plan.ts';
import type { Source } from '../source.ts';
import type { TableColumn } from '../targets/target.ts';
import { HifAttrs, plainAttr } from './hif-attrs.ts';
import { type EdgeColumns, edgeColumns, TIME, WEIGHT } from './hif-edge-columns.ts';
import { HifLosses } from './hif-losses.ts';
import { HifNodes, isNodeName } from './hif-nodes.ts';
import { HifParts, type HifWhole } from './hif-parts.ts';
import {
  checkElement,
  checkField,
  HIF_LISTS,
  type HifEdge,
  type HifId,
  type HifIncidence,
  type HifNode,
  rolesOfIncidence,
} from './hif-schema.ts';
import { type Element, jsonElements, parsed } from './json-elements.ts';

/** Assumed ratio between the size of a document and its size when compressed. */
const PACKED_TIMES = 10;
const UNKNOWN_BYTES = 2 ** 30;
/** Maximum number of edges in the sample from which the columns are planned. */
const LOOKED_AT = 200;
/** The column of the sample with the members. */
const MEMBERS = 'members';

/**
 * Reads the document once and stores its edges in a temporary directory. `keepsNames`: the column
 * for the names of edges is created when it is missing. Throws `invalid_json` or `invalid_input`
 * for a document that is not HIF.
 */
export async function lookIntoHif(source: Source, flags: RowFlags, keepsNames: boolean): Promise<LookedInto> {
  const bytes = (source.totalBytes ?? UNKNOWN_BYTES) * (source.path.toLowerCase().endsWith('.gz') ? PACKED_TIMES : 1);
  const parts = new HifParts(bytes);
  const nodeParts = new HifParts(bytes);
  const close = () => {
    parts.remove();
    nodeParts.remove();
  };
  try {
    const facts = await take(source.chunks, parts, new HifNodes(nodeParts));
    parts.end();
    nodeParts.end();
    const first = lookAtEdges(parts, facts);
    // Nodes that say nothing beside what the incidences say need not be read.
    const hasNodes = facts.nodes.hasAttributes || facts.losses.mayHaveIsolated;
    return {
      roles: facts.losses.roles.slice(0, MOST_ROLES),
      plan: (known, roles = [], keepsNodes = false) =>
        planned({ source, parts, facts, first, flags, keepsNames, keepsNodes }, known, roles),
      nodes: hasNodes ? facts.nodes.looked(facts.hasTexts, flags) : undefined,
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

interface Looked {
  readonly source: Source;
  readonly parts: HifParts;
  readonly facts: HifFacts;
  readonly first: readonly HifWhole[];
  readonly flags: RowFlags;
  readonly keepsNames: boolean;
  readonly keepsNodes: boolean;
}

function planned(looked: Looked, known: readonly TableColumn[], tableRoles: readonly string[]): PlannedInput {
  const { source, parts, facts, first, flags, keepsNames, keepsNodes } = looked;
  const { attrs, losses } = facts;
  const nameColumn = losses.nameColumn;
  const { isOwn } = losses;
  const given = { attrs, weights: facts.weights, first, roles: tableRoles, nameColumn, isOwn, label: source.label };
  const columns = edgeColumns(given, flags);
  const hasNames = first.length > 0 && (!losses.isOwn || nameColumn !== undefined);
  const isKnown = known.some(({ name }) => name.toLowerCase() === columns.nameColumn.toLowerCase());
  const shape: Shape = {
    columns,
    named: hasNames && (keepsNames || isKnown),
    roles: losses.roles.filter((role) => tableRoles.some((one) => isSameName(one, role))),
    weights: facts.weights,
    attrs: first.length === 0 ? [] : columns.attrs,
  };
  const cellsOf = cellsIn(shape);
  const sample = { names: headersOf(shape), rows: first.map(cellsOf), isText: () => true };
  const rows = plannedRows(sample, rowFlags(shape, facts, flags, keepsNodes), known, tableRoles);
  const chosen = flags.propertyColumns;
  const read = shape.attrs.filter(({ attr }) => chosen?.includes(attr) ?? true);
  const isPlainTime = rows.rows.time.format === 's' && attrs.isInteger(TIME);
  const lost = [
    ...(shape.named || !hasNames ? [] : ['the ids of edges (--create makes a column)']),
    ...facts.idLosses(shape.named, keepsNodes),
    ...attrs.losses(read, 'edges'),
    columns.movesWeight && read.some(({ attr }) => attr === WEIGHT)
      ? 'the place of the attribute weight of edges (now their weight)'
      : '',
    columns.timeAttr === TIME && !isPlainTime && first.length > 0
      ? 'the notation of the attribute event_ts of edges (now seconds)'
      : '',
    columns.hasEnds && !attrs.isInteger('end_ts') && first.length > 0
      ? 'the notation of the attribute end_ts of edges (now seconds)'
      : '',
  ];
  const batches = (limits: BatchLimits, from: Position, nodes: Members | undefined) => {
    const edgeOf = rowEdges(rows.rows, nodes);
    const form: RowForm<HifWhole, HifWhole> = { itemOf: (edge) => edgeOf(cellsOf(edge)), kept: (edge) => edge, shown };
    return hifBatches(parts, new RowBatches(limits, from, form, nodes), from);
  };
  const intervals = rows.intervals || (columns.hasEnds && first.length > 0);
  const nodeLosses = facts.nodes.losses();
  const sentence = losses.sentence(source.label, lost, nodeLosses, new Set(shape.roles), keepsNodes);
  return { ...rows, intervals, warnings: [...rows.warnings, ...sentence], batches };
}

/** Which columns a row of the sample has. */
interface Shape {
  readonly columns: EdgeColumns;
  /** Whether the ids of edges are stored. */
  readonly named: boolean;
  readonly roles: readonly string[];
  readonly weights: boolean;
  readonly attrs: EdgeColumns['attrs'];
}

function headersOf({ columns, named, roles, weights, attrs }: Shape): string[] {
  return [
    columns.timeAttr ?? TIME,
    MEMBERS,
    ...roles.map(roleColumn),
    ...(named ? [columns.nameColumn] : []),
    ...(weights ? [WEIGHT] : []),
    ...attrs.map(({ column }) => column),
  ];
}

/** Returns a function that gives the cells of an edge, in the order of the headers. */
function cellsIn({ columns, named, roles, weights, attrs }: Shape): (edge: HifWhole) => unknown[] {
  return ({ id, nodes, roles: lists, weight, attrs: given }) => {
    const cellOf = (attr: string) => plainAttr(Object.hasOwn(given, attr) ? given[attr] : null);
    return [
      columns.timeAttr === undefined ? null : cellOf(columns.timeAttr),
      nodes,
      ...roles.map((role) => lists.get(role) ?? []),
      ...(named ? [id] : []),
      ...(weights ? [weight ?? null] : []),
      ...attrs.map(({ attr }) => cellOf(attr)),
    ];
  };
}

function rowFlags({ columns, roles, attrs }: Shape, facts: HifFacts, flags: RowFlags, keepsNodes: boolean): RowFlags {
  const columnOf = (name: string) => attrs.find(({ attr }) => attr === name)?.column ?? name;
  // The types are known from all edges, so none is guessed from the first ones.
  const types = new Map<string, ColumnType>([
    [columns.nameColumn, commonType(facts.names)],
    ...attrs.map(({ column, type }) => [column, type] as const),
    ...[...flags.types].map(([name, type]) => [columnOf(name), type] as const),
  ]);
  // A new table keeps ids that are texts as they are; a table of numbers takes `"7"` as 7.
  const isNamed = keepsNodes ? facts.hasTexts : facts.named;
  return {
    ...flags,
    types,
    tsColumn: columns.timeAttr ?? TIME,
    endColumn: flags.endColumn === undefined ? undefined : columnOf(flags.endColumn),
    propertyColumns: flags.propertyColumns?.map(columnOf),
    // Numbers are written as JSON, so there is no decimal comma.
    decimal: undefined,
    memberColumn: MEMBERS,
    roles: new Map(roles.map((role) => [role, roleColumn(role)])),
    memberColumns: undefined,
    memberIds: flags.memberIds ?? (isNamed ? 'name' : 'number'),
  };
}

/** What is known of a document after it has been read once. */
class HifFacts {
  readonly attrs = new HifAttrs();
  /** Types of the ids of edges. */
  readonly names = new Set<ColumnType>();
  readonly losses = new HifLosses();
  readonly nodes: HifNodes;
  /** True when an edge has the field `weight`. */
  weights = false;
  /** True when the id of a node is a name (`isNodeName`), a text, or a number. */
  named = false;
  hasTexts = false;
  hasNumbers = false;

  constructor(nodes: HifNodes) {
    this.nodes = nodes;
  }

  node(id: HifId): void {
    if (isNodeName(id)) this.named = true;
    if (typeof id === 'string') this.hasTexts = true;
    else this.hasNumbers = true;
  }

  /** Describes what is lost of the ids; `keepsNames`: those of edges are stored. */
  idLosses(keepsNames: boolean, keepsNodes: boolean): string[] {
    const isText = keepsNodes || this.named;
    const changes = this.hasTexts && (this.hasNumbers || !isText);
    return [
      changes ? `the types of the ids of nodes (all are ${isText ? 'texts' : 'numbers'} now)` : '',
      changes ? this.losses.twins() : '',
      keepsNames && this.names.size > 1 ? 'the types of the ids of edges (all are texts now)' : '',
      keepsNames ? this.losses.edgeTwins() : '',
    ];
  }
}

async function take(chunks: AsyncIterable<Buffer>, parts: HifParts, nodes: HifNodes): Promise<HifFacts> {
  const facts = new HifFacts(nodes);
  const counts = new Map<string, number>();
  for await (const element of jsonElements(chunks, HIF_LISTS)) {
    const { key, kind, text } = element;
    if (kind === 'value') {
      takeField(key, parsed(text), facts.losses);
      continue;
    }
    const count = (counts.get(key) ?? 0) + (kind === 'element' ? 1 : 0);
    counts.set(key, count);
    if (kind === 'list') continue;
    try {
      takeElement(element, parts, facts);
    } catch (error) {
      if (!(error instanceof HedgerowError)) throw error;
      throw new HedgerowError('invalid_input', `Not valid HIF: ${key}, element ${count}: ${error.message}`, {
        cause: error,
      });
    }
  }
  if (!counts.has('incidences'))
    throw new HedgerowError('invalid_input', 'Not valid HIF: the document has no incidences.');
  return facts;
}

function takeField(key: string, value: unknown, losses: HifLosses): void {
  checkField(key, value);
  if (key === 'network-type') losses.networkType(value as string);
  else losses.metadata(value as Record<string, unknown>);
}

function takeElement({ key, text }: Element, parts: HifParts, facts: HifFacts): void {
  const value = checkElement(key, parsed(text)) as unknown;
  if (key === 'incidences') {
    const incidence = value as HifIncidence;
    const { edge, node } = incidence;
    facts.node(node);
    facts.names.add(typeOfName(edge));
    facts.losses.incidence(incidence);
    const roles = rolesOfIncidence(incidence);
    parts.add(roles.length === 0 ? ['i', edge, node] : ['i', edge, node, roles]);
  } else if (key === 'edges') takeEdge(value as HifEdge, parts, facts);
  else {
    const node = value as HifNode;
    facts.node(node.node);
    facts.losses.node(node);
    facts.nodes.add(node);
  }
}

/** The column of the sample with the nodes of a role. No attribute is likely to have this name. */
function roleColumn(role: string): string {
  return `${role} (role)`;
}

function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function typeOfName(id: HifId): ColumnType {
  return typeof id === 'number' ? 'INTEGER' : 'TEXT';
}

function takeEdge(given: HifEdge, parts: HifParts, facts: HifFacts): void {
  const { edge, weight, attrs = {} } = given;
  if (weight !== undefined) facts.weights = true;
  facts.attrs.add(attrs);
  parts.add(['e', edge, weight ?? null, attrs]);
}

/** Counts the losses of all edges, and returns the first edges that have nodes. */
function lookAtEdges(parts: HifParts, { losses }: HifFacts): HifWhole[] {
  const first: HifWhole[] = [];
  for (const edge of parts.edges()) {
    losses.whole(edge);
    if (edge.nodes.length > 0 && first.length < LOOKED_AT) first.push(edge);
  }
  return first;
}

async function* hifBatches(
  parts: HifParts,
  rows: RowBatches<HifWhole, HifWhole>,
  from: Position,
): AsyncGenerator<LineBatch> {
  let at = 0;
  for (const edge of parts.edges()) {
    at++;
    // Edges without nodes are skipped; they were counted among the losses.
    if (at <= from.offset || edge.nodes.length === 0) continue;
    const batch = rows.add(edge, at, at, at + 1);
    if (batch !== undefined) yield batch;
  }
  const rest = rows.take();
  if (rest !== undefined) yield rest;
}

function shown({ id, nodes, attrs }: HifWhole): string {
  return jsonText({ edge: id, nodes, attrs });
}
