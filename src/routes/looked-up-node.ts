// The node of a lookup: a number, or in a named table a key.

import { NO_NODE, type Table } from '../engine/index.ts';
import { invalidFields, parseInteger } from '../http/index.ts';
import { keyProblem, kindIndex } from '../model/node-refs.ts';
import type { Call } from './application.ts';
import type { LookedUpNode } from './rows-frame.ts';

const INTEGER = 'must be an integer of at most 2^53-1, written in digits';

/**
 * Returns the node that a path names; `kind` is the query parameter, needed if the members of the
 * table have several kinds. A key that no node has finds no edges. Throws `invalid_input`.
 */
export function lookedUpNode(call: Call, table: Table, given: string, kind: string | undefined): LookedUpNode {
  const { kinds } = table;
  if (kinds === undefined) {
    const number = parseInteger(given);
    if (Number.isNaN(number)) throw invalidFields([{ loc: ['path', 'node_id'], msg: INTEGER }]);
    return { number, text: String(number) };
  }
  const names = kinds.map(({ name }) => name).join(', ');
  if (kind === undefined && kinds.length > 1)
    throw invalidFields([{ loc: ['query', 'kind'], msg: `is missing: the members of ${table.name} are of ${names}` }]);
  const chosen = kind === undefined ? kinds[0] : kinds[kindIndex(kind, kinds)];
  if (chosen === undefined) throw invalidFields([{ loc: ['query', 'kind'], msg: `must be one of ${names}` }]);
  const key = chosen.isInteger ? parseInteger(given) : given;
  const problem = Number.isNaN(key) ? INTEGER : keyProblem(key, chosen);
  if (problem !== undefined) throw invalidFields([{ loc: ['path', 'node_id'], msg: problem }]);
  return { number: call.database.nodes.find(chosen.table, key) || NO_NODE, text: JSON.stringify(key) };
}
