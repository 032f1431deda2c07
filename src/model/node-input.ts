// Reads a node from the JSON of a request: its key and its attributes, by column name.

import { type FieldError, refusal } from '../errors.ts';
import { type PropertyValue, ruleOf } from './column-types.ts';
import type { ColumnSet } from './columns.ts';
import { fieldSentence, type Place } from './fields.ts';
import { keyProblem, type MemberKind, type NodeKey } from './node-refs.ts';
import { setField } from './set-field.ts';

/** The facts about a node table that the check needs. */
export interface NodeTableFacts {
  readonly columns: ColumnSet;
  /** Name of the column that holds the keys. */
  readonly keyName: string;
  readonly kind: MemberKind;
}

/** A node as it was given; every value fits its column. */
export interface GivenNode {
  /** Undefined if the object has no key. */
  readonly key: NodeKey | undefined;
  /** The attributes by the names of their columns, without the key; null where null was given. */
  readonly attributes: ReadonlyMap<string, PropertyValue>;
}

/** Only this many wrong fields are listed. */
const MOST_ERRORS = 20;
/** Unknown names are shown up to this length. */
const SHOWN_NAME = 100;

/**
 * Returns the node of an object. Throws one error that lists every wrong field: `unknown_column` if
 * nothing but names is wrong, otherwise `invalid_input`.
 */
export function readNode(source: Record<string, unknown>, table: NodeTableFacts, place: Place): GivenNode {
  const errors: FieldError[] = [];
  let isOnlyUnknown = true;
  const fault = (name: string, msg: string, isUnknown = false): void => {
    isOnlyUnknown &&= isUnknown;
    if (errors.length < MOST_ERRORS) errors.push({ loc: [...place, name], msg });
  };
  let key: NodeKey | undefined;
  const attributes = new Map<string, PropertyValue>();
  for (const [name, value] of Object.entries(source)) {
    const column = table.columns.find(name);
    if (column === undefined) fault(name.slice(0, SHOWN_NAME), `is not a column of ${table.kind.name}`, true);
    else if (column.name === table.keyName) {
      if (key !== undefined) fault(name, TWICE);
      const problem = value === null ? undefined : keyProblem(value, table.kind);
      if (problem !== undefined) fault(name, problem);
      else if (value !== null) key = plain(value as NodeKey);
    } else {
      if (attributes.has(column.name)) fault(name, TWICE);
      const problem = value === null ? undefined : ruleOf(column.type).problem(value);
      if (problem !== undefined) fault(name, problem);
      attributes.set(column.name, value as PropertyValue);
    }
  }
  if (errors.length === 0) return { key, attributes };
  throw refusal(isOnlyUnknown ? 'unknown_column' : 'invalid_input', fieldSentence(errors), { errors });
}

const TWICE = 'is given twice (names are compared without case)';

/** -0 becomes 0. */
function plain(key: NodeKey): NodeKey {
  return key === 0 ? 0 : key;
}

/**
 * Returns the columns of a whole node for a write. An attribute that was left out, or given as
 * null, gets its default.
 */
export function wholeNode(
  { columns, keyName }: NodeTableFacts,
  key: NodeKey,
  attributes: ReadonlyMap<string, PropertyValue>,
): Record<string, PropertyValue> {
  const node: Record<string, PropertyValue> = {};
  for (const { name, default: value } of columns.columns)
    setField(node, name, name === keyName ? key : (attributes.get(name) ?? value));
  return node;
}

/** Returns the columns of a node of which some attributes are changed; null clears one. */
export function changedNode(
  { columns, keyName }: NodeTableFacts,
  row: Readonly<Record<string, PropertyValue>>,
  attributes: ReadonlyMap<string, PropertyValue>,
): Record<string, PropertyValue> {
  const node: Record<string, PropertyValue> = {};
  for (const { name } of columns.columns) {
    const given = name === keyName ? undefined : attributes.get(name);
    setField(node, name, given === undefined ? (row[name] ?? null) : given);
  }
  return node;
}
