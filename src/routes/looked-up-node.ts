// The node of a lookup: a number, or in a named table a key.

import { NO_NODE, type Table } from '../engine/index.ts';
import { invalidFields, parseInteger } from '../http/index.ts';
import { keyProblem, kindIndex } from '../model/node-refs.ts';
import type { Call } from './application.ts';

const INTEGER = 'must be an integer of at most 2^53-1, written in digits';

/** A node as a path names it. */
export interface NamedNode {
  /** `node_id` of the answer, as JSON: the number, or the key of a named table. */
  readonly text: string;
  /** The name to which a cursor is bound. */
  readonly name: string;
  /**
   * Returns the number of the node in the state at an LSN; NO_NODE if no node has the key, which
   * finds no edges; undefined if that state is no longer held.
   */
  readonly numberAt: (lsn: number) => number | undefined;
}

/**
 * Returns the node that a path names; `kind` is the query parameter, needed if the members of the
 * table have several kinds. Throws `invalid_input`.
 */
export function namedNode(call: Call, table: Table, given: string, kind: string | undefined): NamedNode {
  const { kinds } = table;
  if (kinds === undefined) {
    const number = parseInteger(given);
    if (Number.isNaN(number)) throw invalidFields([{ loc: ['path', 'node_id'], msg: INTEGER }]);
    return { text: String(number), name: String(number), numberAt: () => number };
  }
  const names = kinds.map(({ name }) => name).join(', ');
  if (kind === undefined && kinds.length > 1)
    throw invalidFields([{ loc: ['query', 'kind'], msg: `is missing: the members of ${table.name} are of ${names}` }]);
  const chosen = kind === undefined ? kinds[0] : kinds[kindIndex(kind, kinds)];
  if (chosen === undefined) throw invalidFields([{ loc: ['query', 'kind'], msg: `must be one of ${names}` }]);
  const key = chosen.isInteger ? parseInteger(given) : given;
  const problem = Number.isNaN(key) ? INTEGER : keyProblem(key, chosen);
  if (problem !== undefined) throw invalidFields([{ loc: ['path', 'node_id'], msg: problem }]);
  const numberAt = (lsn: number) => {
    const number = call.database.nodes.findAt(chosen.table, key, lsn);
    return number === 0 ? NO_NODE : number;
  };
  const text = JSON.stringify(key);
  return { text, name: `${chosen.slot} ${text}`, numberAt };
}
