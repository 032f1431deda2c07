// Validates a scan request and encodes its conditions as ranges for the core, those on roles and
// texts among them.

import {
  encodeRanges,
  endsAfter,
  ID_RANGE,
  type NumericRange,
  type RangeSet,
  roleRange,
  textRange,
} from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import { kindOfType } from '../../model/column-types.ts';
import type { ColumnSet } from '../../model/columns.ts';
import type { RoleSet } from '../../model/roles.ts';
import { HALF_PAIR, isWellFormed } from '../../model/text.ts';
import type { RangeCondition, RoleCondition, ScanBounds, TextCondition } from '../types.ts';

/**
 * Returns the ranges of a request, or undefined if it has none. `older` contains the columns at the
 * time of the reader's snapshot; they are used for columns that were dropped or renamed since then.
 * Throws `unknown_column` or `invalid_input`.
 */
export function checkScanRequest(
  request: ScanBounds,
  { columns, roles }: { readonly columns: ColumnSet; readonly roles: RoleSet },
  older: ColumnSet | undefined,
): RangeSet | undefined {
  if (request.nodes?.length === 0) throw wrong(['nodes'], 'must hold at least one node id, or be left out');
  const { where = NONE, inRoles = NONE, texts = NONE, at, search } = request;
  // A scan with `anyOf` or a search lists the rows found first, as with ranges.
  if (where.length === 0 && inRoles.length === 0 && texts.length === 0 && at === undefined)
    return request.anyOf === undefined && search === undefined ? undefined : encodeRanges([]);
  const ranges = [
    // Codes of texts are compared faster than numbers.
    ...texts.map((condition, index) => textOf(condition, index, columns, older)),
    ...where.map((condition, index) => {
      const isGone = older !== undefined && columns.find(condition.column) === undefined;
      return rangeOf(condition, index, isGone ? older : columns);
    }),
    ...inRoles.map((condition, index) => conditionOf(condition, index, request, roles)),
  ];
  return encodeRanges(at === undefined ? ranges : [heldAt(at, columns), ...ranges]);
}

const NONE: readonly never[] = [];

function conditionOf(
  { node, role }: RoleCondition,
  index: number,
  { nodes }: ScanBounds,
  roles: RoleSet,
): NumericRange {
  const mask = roles.maskOf(role);
  if (mask === 0) throw wrong(['inRoles', index, 'role'], `cannot be used: ${roles.unknownText(role)}`);
  if (nodes?.includes(node) !== true) throw wrong(['inRoles', index, 'node'], 'must be one of the nodes');
  return roleRange(node, mask);
}

function textOf(
  { column, text }: TextCondition,
  index: number,
  columns: ColumnSet,
  older: ColumnSet | undefined,
): NumericRange {
  const found = columns.withId(column) ?? older?.withId(column);
  if (found === undefined || kindOfType(found.type) !== 'text')
    throw wrong(['texts', index, 'column'], 'must be the id of a TEXT column');
  if (!isWellFormed(text)) throw wrong(['texts', index, 'text'], HALF_PAIR);
  return textRange(column, text, found.default);
}

/** Returns the range of the ends of edges that hold at a time, if they have begun by then. */
function heldAt(at: number, { end }: ColumnSet): NumericRange {
  if (end === undefined) throw withoutIntervals(['at']);
  if (!Number.isSafeInteger(at)) throw wrong(['at'], 'must be an integer between -(2^53-1) and 2^53-1');
  return endsAfter(end.id, at);
}

/** Returns the error for a question about intervals to a table that has none. */
export function withoutIntervals(loc: (string | number)[]): HedgerowError {
  return new HedgerowError('invalid_input', NO_INTERVALS, {
    errors: [{ loc, msg: 'needs a table with intervals' }],
  });
}

/** What a message says about a table without intervals, and what to do. */
export const NO_INTERVALS =
  'The table has no intervals: its edges end where they begin, so none holds at a time. Create a table with intervals (true in the request that creates it, or CREATE HYPEREDGE TABLE ... INTERVALS) and copy the edges to it with their end_ts.';

const ID = { id: ID_RANGE, default: null };

function rangeOf(condition: RangeCondition, index: number, columns: ColumnSet): NumericRange {
  const column =
    condition.column.toLowerCase() === 'id' ? ID : columns.numeric(condition.column, ['where', index, 'column']);
  const { low = -Infinity, high = Infinity, lowInclusive = true, highInclusive = true } = condition;
  for (const [name, bound] of [
    ['low', low],
    ['high', high],
  ] as const) {
    if (typeof bound !== 'number' || Number.isNaN(bound)) throw wrong(['where', index, name], 'must be a number');
  }
  return {
    column: column.id,
    low,
    high,
    lowOpen: !lowInclusive,
    highOpen: !highInclusive,
    missing: typeof column.default === 'number' ? column.default : Number.NaN,
  };
}

function wrong(loc: (string | number)[], msg: string): HedgerowError {
  return new HedgerowError('invalid_input', `${loc.join('.')} ${msg}.`, { errors: [{ loc, msg }] });
}
