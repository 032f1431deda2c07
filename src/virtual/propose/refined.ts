// Lets a language model refine a proposal: its labels, its roles and its choice of edges. The
// model's answer is checked, and discarded as a whole if it is not valid.

import type { BackendSchema, Dialect } from '../backend.ts';
import { compileQuery } from '../compile/compile.ts';
import { checkedSpec, type EdgeSpec, type VirtualSpec } from '../spec/spec.ts';
import type { Proposal } from './propose.ts';

export interface Refining {
  ask(prompt: { system: string; user: string }): Promise<string>;
  /** Absolute path of the folder that contains the files of backends. */
  root: string;
}

const SYSTEM = [
  'You name the parts of a hypergraph over database tables.',
  'You are given a schema and a proposed spec as JSON. Answer with one JSON object {"nodes": [...], "edges": [...], "rationale": [{"edge", "reason"}]} in the form of the proposal, nothing else.',
  'You may rename labels, members and roles, and leave out edges. Use only tables and columns of the schema. Give one sentence of rationale for each edge.',
].join(' ');

const MOST_TABLES = 50;
const MOST_COLUMNS = 60;
const MOST_REASON = 1000;

/** Returns the refined proposal, or undefined if the model fails or its answer is invalid. */
export async function refinedProposal(
  proposal: Proposal,
  schema: BackendSchema,
  dialect: Dialect,
  { ask, root }: Refining,
): Promise<Proposal | undefined> {
  try {
    const answer = objectIn(await ask({ system: SYSTEM, user: userText(proposal, schema) }));
    const { id, name, backend } = proposal.spec;
    const spec = checkedSpec({ id, name, backend, nodes: answer.nodes, edges: answer.edges }, { root });
    if (spec.edges.length === 0) return undefined;
    // Compiling a query throws if a column does not exist or has the wrong type.
    for (const edge of spec.edges) compileQuery(queryOf(edge), spec, schema, { dialect });
    return { spec, rationale: rationaleOf(answer.rationale, spec, proposal) };
  } catch {
    return undefined;
  }
}

function userText({ spec: { nodes, edges }, rationale }: Proposal, { tables }: BackendSchema): string {
  const shown = tables.slice(0, MOST_TABLES).map(({ name, columns }) => {
    return { name, columns: columns.slice(0, MOST_COLUMNS).map((column) => `${column.name} ${column.type}`) };
  });
  return JSON.stringify({ schema: shown, proposal: { nodes, edges, rationale } });
}

/** Parses the JSON object in an answer, which other text may surround. Throws if there is none. */
function objectIn(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  if (typeof value !== 'object' || value === null) throw new TypeError('no object');
  return value as Record<string, unknown>;
}

function queryOf({ label, members }: EdgeSpec): string {
  const patterns = members.map(({ name, node_label }) => `${name}:${node_label}`);
  return `MATCH (e:${label}){${patterns.join(', ')}} RETURN e`;
}

/** Returns one reason per edge, which is the model's reason if it gave one. */
function rationaleOf(given: unknown, spec: VirtualSpec, before: Proposal): Proposal['rationale'] {
  const reasons = new Map(before.rationale.map(({ edge, reason }) => [edge, reason]));
  for (const item of Array.isArray(given) ? given : []) {
    if (typeof item?.edge === 'string' && typeof item.reason === 'string')
      reasons.set(item.edge, item.reason.slice(0, MOST_REASON));
  }
  return spec.edges.map(({ label, table }) => {
    return { edge: label, reason: reasons.get(label) ?? `The language model chose ${label} over the table ${table}.` };
  });
}
