// Reads HIF as an input of an import. The members of an edge come from the incidences. Its time and
// its properties come from its `attrs`.

import type { ColumnType } from '../../../engine/index.ts';
import { HedgerowError } from '../../../errors.ts';
import { END_COLUMN } from '../../../model/columns.ts';
import { MOST_ROLES } from '../../../model/shape.ts';
import { cellType, commonType } from '../../../tabular/cell-types.ts';
import { UsageError } from '../../world.ts';
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
import { HifLosses } from './hif-losses.ts';
import { HifNodes, isNodeName, plainAttr } from './hif-nodes.ts';
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
/**
 * The columns for the members and the weight. Like `NAME`, they precede the columns from `attrs`.
 */
const MEMBERS = 'members';
const WEIGHT = 'weight';
/** The column for the name of the edge in the document. */
const NAME = 'edge';

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
      nodes: hasNodes ? facts.nodes.looked(facts.named, flags) : undefined,
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
  const attrs = [...facts.attrs.keys()].filter((name) => name !== MEMBERS && (name !== WEIGHT || !facts.weights));
  const hasNames = first.length > 0 && !facts.losses.isOwn;
  const isNamed = hasNames && (keepsNames || known.some(({ name }) => name.toLowerCase() === NAME));
  const nameColumn = attrs.some((name) => name.toLowerCase() === NAME) ? `${NAME}_name` : NAME;
  const roles = facts.losses.roles.filter((role) => tableRoles.some((one) => isSameName(one, role)));
  const names = [
    MEMBERS,
    ...roles.map(roleColumn),
    ...(isNamed ? [nameColumn] : []),
    ...(facts.weights ? [WEIGHT] : []),
    ...(first.length === 0 ? ['event_ts'] : attrs),
  ];
  const cellsOf = ({ id, nodes, roles: lists, weight, attrs: given }: HifWhole): unknown[] => [
    nodes,
    ...roles.map((role) => lists.get(role) ?? []),
    ...(isNamed ? [id] : []),
    ...(facts.weights ? [weight ?? given[WEIGHT] ?? null] : []),
    ...attrs.map((name) => plainAttr(Object.hasOwn(given, name) ? given[name] : null)),
  ];
  // The types are known from all edges, so none is guessed from the first ones.
  const types = new Map([
    [nameColumn, commonType(facts.names)] as const,
    ...attrs.map((name) => [name, commonType(facts.attrs.get(name)!)] as const),
    ...flags.types,
  ]);
  const all: RowFlags = {
    ...flags,
    types,
    // Numbers are written as JSON, so there is no decimal comma.
    decimal: undefined,
    memberColumn: MEMBERS,
    roles: new Map(roles.map((role) => [role, roleColumn(role)])),
    memberColumns: undefined,
    memberIds: flags.memberIds ?? (facts.named ? 'name' : 'number'),
  };
  const sample = { names, rows: first.map(cellsOf), isText: () => true };
  const rows = hifRows(sample, all, known, tableRoles, source.label);
  const lost = [
    ...(isNamed || !hasNames ? [] : ['the names of edges (--create makes a column)']),
    ...(flags.propertyColumns === undefined && !facts.losses.isOwn ? rows.rows.left : []).map(
      (name) => `the attribute ${JSON.stringify(name)} of edges`,
    ),
  ];
  const batches = (limits: BatchLimits, from: Position, nodes: Members | undefined) => {
    const edgeOf = rowEdges(rows.rows, nodes);
    const form: RowForm<HifWhole, HifWhole> = { itemOf: (edge) => edgeOf(cellsOf(edge)), kept: (edge) => edge, shown };
    return hifBatches(parts, new RowBatches(limits, from, form, nodes), from);
  };
  const intervals = rows.intervals || attrs.includes(END_COLUMN);
  const sentence = facts.losses.sentence(source.label, lost, new Set(roles), keepsNodes);
  return { ...rows, intervals, warnings: [...rows.warnings, ...sentence], batches };
}

function hifRows(...[sample, flags, columns, roles, label]: [...Parameters<typeof plannedRows>, string]) {
  try {
    return plannedRows(sample, flags, columns, roles);
  } catch (error) {
    if (!(error instanceof UsageError) || !/^None of the columns .* holds times;/.test(error.message)) throw error;
    throw new UsageError(
      `No edge of ${label} has a time: it is read from attrs.event_ts of the edges, or the attribute that --ts-column names. --ts 2024-05-01 gives all edges one.`,
    );
  }
}

interface HifFacts {
  /** Attributes of edges by name, with the types of their values. */
  readonly attrs: Map<string, Set<ColumnType>>;
  /** Types of the names of edges. */
  readonly names: Set<ColumnType>;
  readonly losses: HifLosses;
  /** True when an edge has the field `weight`. */
  weights: boolean;
  readonly nodes: HifNodes;
  /** True when the id of a node is a name (`isNodeName`). */
  named: boolean;
}

async function take(chunks: AsyncIterable<Buffer>, parts: HifParts, nodes: HifNodes): Promise<HifFacts> {
  const facts: HifFacts = {
    attrs: new Map(),
    names: new Set(),
    losses: new HifLosses(),
    weights: false,
    nodes,
    named: false,
  };
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
    if (isNodeName(node)) facts.named = true;
    facts.names.add(typeOfName(edge));
    facts.losses.incidence(incidence);
    const roles = rolesOfIncidence(incidence);
    parts.add(roles.length === 0 ? ['i', edge, node] : ['i', edge, node, roles]);
  } else if (key === 'edges') takeEdge(value as HifEdge, parts, facts);
  else {
    facts.losses.node(value as HifNode);
    facts.nodes.add(value as HifNode);
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
  for (const [name, value] of Object.entries(attrs)) {
    const types = facts.attrs.get(name) ?? new Set();
    facts.attrs.set(name, types);
    const type = cellType(plainAttr(value), true);
    if (type !== undefined) types.add(type);
  }
  facts.losses.edge(given);
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
