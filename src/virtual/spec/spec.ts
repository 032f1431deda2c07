// Defines the spec of a virtual graph, and makes all checks of a spec that do not need the backend.

import { type BackendSpec, backendAt } from './backend.ts';
import { edgeAt } from './edges.ts';
import { Faults, LABEL_FORM, listAt, MAX_NAME, nameAt, objectAt, type Place, textAt } from './fields.ts';

export {
  BACKEND_TYPES,
  type BackendSpec,
  type BackendType,
  type DatabaseBackend,
  type FileBackend,
} from './backend.ts';

export interface NodeSpec {
  readonly label: string;
  readonly table: string;
  readonly id_column: string;
}

export interface MemberSpec {
  readonly name: string;
  readonly node_label: string;
  readonly role: string;
}

/** An edge of the shape `row`: each row is an edge, whose members are in columns of the row. */
export interface RowEdgeSpec {
  readonly label: string;
  readonly shape: 'row';
  readonly table: string;
  readonly ts_column: string;
  /** The column name of each member, by member name. */
  readonly row_member_columns: Readonly<Record<string, string>>;
  readonly members: readonly MemberSpec[];
}

/**
 * An edge of the shape `group`: rows with equal values in `group_columns` form one edge, and each
 * of these rows contributes a member.
 */
export interface GroupEdgeSpec {
  readonly label: string;
  readonly shape: 'group';
  readonly table: string;
  readonly ts_column: string;
  readonly group_columns: readonly string[];
  readonly member_column: string;
  /** A single item, which describes every member. */
  readonly members: readonly MemberSpec[];
}

export type EdgeSpec = RowEdgeSpec | GroupEdgeSpec;

/** The spec as given by a caller; `VirtualGraph` is the stored form. */
export interface VirtualSpec {
  readonly id: string;
  readonly name: string;
  readonly backend: BackendSpec;
  readonly nodes: readonly NodeSpec[];
  readonly edges: readonly EdgeSpec[];
}

export interface VirtualGraph extends VirtualSpec {
  /** Starts at 1 and grows by one with every replacement. */
  readonly spec_version: number;
}

export interface SpecOptions {
  /** Absolute path of the folder that contains the files of backends. */
  readonly root: string;
}

export const GRAPH_ID = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const MAX_LABELS = 1000;

const ID_FORM = { pattern: GRAPH_ID, form: 'letters, digits, _, - or ., at most 128, the first none of - and .' };

/** Checks a request body. Drops unknown fields. Returns the faults instead of throwing. */
export function parseSpec(value: unknown, { root }: SpecOptions): { spec: VirtualSpec } | Faults {
  const faults = new Faults();
  const fields = objectAt(value, ['body'], faults);
  if (fields === undefined) return faults;
  const id = nameAt(fields.id, ['body', 'id'], faults, ID_FORM);
  const name = fields.name == null ? id : textAt(fields.name, ['body', 'name'], faults, MAX_NAME);
  const backend = backendAt(fields.backend, ['body', 'backend'], faults, root);
  const nodes = nodesAt(fields.nodes, ['body', 'nodes'], faults);
  const edges = edgesAt(fields.edges, ['body', 'edges'], faults, labelsOf(nodes, fields.nodes));
  if (faults.any || backend === undefined) return faults;
  return { spec: { id: id!, name: name!, backend, nodes, edges } };
}

/** Checks a request body like `parseSpec`, but throws `invalid_input` with all faults. */
export function checkedSpec(value: unknown, options: SpecOptions): VirtualSpec {
  const parsed = parseSpec(value, options);
  if (parsed instanceof Faults) throw parsed.error();
  return parsed.spec;
}

/** Checks the `backend` of a request body. Throws `invalid_input`. */
export function checkedBackend(value: unknown, { root }: SpecOptions): BackendSpec {
  const faults = new Faults();
  const backend = backendAt(value, ['body', 'backend'], faults, root);
  if (backend === undefined || faults.any) throw faults.error();
  return backend;
}

function nodesAt(value: unknown, place: Place, faults: Faults): NodeSpec[] {
  const nodes: NodeSpec[] = [];
  for (const [index, item] of listAt(value, place, faults, MAX_LABELS).entries()) {
    const at = [...place, index];
    const fields = objectAt(item, at, faults);
    if (fields === undefined) continue;
    const label = nameAt(fields.label, [...at, 'label'], faults, LABEL_FORM);
    const table = textAt(fields.table, [...at, 'table'], faults, MAX_NAME);
    const id_column = textAt(fields.id_column, [...at, 'id_column'], faults, MAX_NAME);
    noteRepeat(nodes, label, [...at, 'label'], faults);
    if (label === undefined) continue;
    nodes.push({ label, table: table ?? '', id_column: id_column ?? '' });
  }
  return nodes;
}

function edgesAt(value: unknown, place: Place, faults: Faults, nodeLabels: readonly string[] | undefined): EdgeSpec[] {
  const edges: EdgeSpec[] = [];
  for (const [index, item] of listAt(value, place, faults, MAX_LABELS).entries()) {
    const at = [...place, index];
    const edge = edgeAt(item, at, faults, nodeLabels);
    if (edge === undefined) continue;
    noteRepeat(edges, edge.label, [...at, 'label'], faults);
    edges.push(edge);
  }
  return edges;
}

/** Records a fault if the label occurred before, in upper or lower case. */
function noteRepeat(
  before: readonly { label: string }[],
  label: string | undefined,
  place: Place,
  faults: Faults,
): void {
  const other = before.find((item) => item.label.toLowerCase() === label?.toLowerCase());
  if (other !== undefined) faults.add(place, `is ${label}, a label that occurs here twice (without case)`);
}

/** Returns the labels of the nodes, or undefined if some node is invalid and may lack its label. */
function labelsOf(nodes: readonly NodeSpec[], given: unknown): readonly string[] | undefined {
  return Array.isArray(given) && given.length === nodes.length ? nodes.map(({ label }) => label) : undefined;
}
