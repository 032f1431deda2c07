// The parameters `from` and `to`, which make a measure directed.

import { HedgerowError } from '../errors.ts';
import type { RoleSet } from '../model/roles.ts';
import type { Direction } from './directed.ts';
import type { Basis } from './measure.ts';
import { misplacedParameter, missingParameter, type Parameter, type ParameterValues } from './parameters.ts';

export const DIRECTION: readonly Parameter[] = [
  {
    name: 'from',
    type: 'role',
    about:
      'Role at which arcs begin, of a table with roles; with `to`, the measure is directed: inside an edge, from the members with the one role to those with the other.',
  },
  { name: 'to', type: 'role', about: 'Role at which arcs end; see `from`.' },
];

/**
 * Returns the masks of the roles that the parameters name, or undefined if they name none. Throws
 * `invalid_input` if one is missing or unknown, or if `basis` is `distinct`.
 */
export function directionOf({ from, to, basis }: ParameterValues, roles: RoleSet): Direction | undefined {
  if (from === undefined && to === undefined) return undefined;
  if (from === undefined) throw missingParameter('from', 'a directed measure takes `from` and `to`.');
  if (to === undefined) throw missingParameter('to', 'a directed measure takes `from` and `to`.');
  if ((basis as Basis | undefined) === 'distinct')
    throw misplacedParameter(
      'basis',
      'with `from` and `to` every edge counts, because equal member sets may have different roles.',
    );
  return { from: maskOf('from', from as string, roles), to: maskOf('to', to as string, roles) };
}

function maskOf(parameter: 'from' | 'to', name: string, roles: RoleSet): number {
  const mask = roles.maskOf(name);
  if (mask !== 0) return mask;
  const msg = roles.unknownText(name);
  throw new HedgerowError('invalid_input', `Parameter ${parameter}: ${msg}.`, {
    errors: [{ loc: ['body', 'params', parameter], msg }],
  });
}
