// Nodes of named tables in the parameters of measures: keys, which become numbers before a measure
// is computed.
//
// A node is given by its key if the members of the table have one kind, otherwise by the text
// `Kind:key`, or by an object with kind and key. A key that no node has becomes NO_NODE, which has
// no part in any window.

import { type Database, NO_NODE, type Table } from '../engine/index.ts';
import { HedgerowError } from '../errors.ts';
import { keyProblem, kindIndex, type MemberKind, type NodeRef, readRef } from '../model/node-refs.ts';
import type { Steps } from '../schedule/steps.ts';
import type { Parameter, ParameterValues } from './parameters.ts';

/** Number of keys that one step looks up, which takes about a millisecond. */
const STEP_KEYS = 2000;

/** Returns what is wrong with a node of a named table, or undefined. */
export function problemOfNode(given: unknown, kinds: readonly MemberKind[]): string | undefined {
  const read = readNode(given, kinds);
  return typeof read === 'string' ? `${read}.` : undefined;
}

function readNode(given: unknown, kinds: readonly MemberKind[]): NodeRef | string {
  if (kinds.length > 1 && typeof given === 'string') return readNodeText(given, kinds);
  return readRef(given, kinds);
}

/**
 * Reads the text of a node, as it stands in the keys of a result: the key, or `Kind:key` if there
 * are several kinds. Returns what is wrong as a phrase that follows the text.
 */
export function readNodeText(text: string, kinds: readonly MemberKind[]): NodeRef | string {
  const colon = kinds.length === 1 ? -1 : text.indexOf(':');
  const kind = kinds.length === 1 ? 0 : kindIndex(text.slice(0, Math.max(0, colon)), kinds);
  if (kind < 0) return `must be Kind:key, with one of the kinds ${kinds.map(({ name }) => name).join(', ')}`;
  const key = text.slice(colon + 1);
  const chosen = kinds[kind]!;
  const value = chosen.isInteger && /^(?:0|-?[1-9][0-9]{0,15})$/.test(key) ? Number(key) : key;
  const problem = keyProblem(value, chosen);
  return problem === undefined ? { kind, key: value } : problem;
}

/** Returns checked parameters of a measure of a named table, with numbers in place of keys. */
export function* numberedNodes(
  { kinds }: Table,
  { nodes }: Database,
  described: readonly Parameter[],
  checked: ParameterValues,
): Steps<ParameterValues> {
  if (kinds === undefined) return checked;
  const numberOf = (read: NodeRef | string): number =>
    typeof read === 'string' ? NO_NODE : nodes.find(kinds[read.kind]!.table, read.key) || NO_NODE;
  const values: ParameterValues = { ...checked };
  for (const parameter of described) {
    const given = checked[parameter.name];
    if (given === undefined) continue;
    if (parameter.type === 'node' && parameter.isEdge?.(checked) !== true)
      values[parameter.name] = numberOf(readNode(given, kinds));
    if (parameter.type !== 'partition') continue;
    const partition: Record<string, number | string> = {};
    for (const [index, [text, community]] of Object.entries(given as Record<string, number | string>).entries()) {
      partition[numberOf(readNodeText(text, kinds))] = community;
      if (index % STEP_KEYS === STEP_KEYS - 1) yield undefined;
    }
    values[parameter.name] = partition;
  }
  return values;
}

/** Returns an error of a measure with keys in place of the numbers of nodes. */
export function keyedError(error: unknown, { nodes }: Database, table: Table, checked: ParameterValues): unknown {
  if (table.kinds === undefined || !(error instanceof HedgerowError) || error.code !== 'invalid_input') return error;
  const parameter = String(error.errors?.[0]?.loc[2]);
  const asObject = table.kinds.length > 1;
  const keyed = (text: string) =>
    text.replace(/\b([Nn]ode) (\d+)\b/g, (_, word: string, number: string) => {
      const shown = nodes.shown(Number(number), asObject) ?? checked[parameter] ?? null;
      return `${word} ${JSON.stringify(shown)}`;
    });
  const errors = error.errors?.map((one) => ({ ...one, msg: keyed(one.msg) }));
  return new HedgerowError(error.code, keyed(error.message), errors === undefined ? {} : { errors });
}
