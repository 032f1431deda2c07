// Decides which columns the edges of a HIF document have: for their ids, their time, their end,
// their weights and their attributes.

import { BUILT_IN_COLUMNS, END_COLUMN } from '../../../model/columns.ts';
import { ROLES_FIELD } from '../../../model/shape.ts';
import { guessTimeColumns, SOME_TIME_NAMES } from '../../../tabular/time-column.ts';
import { propertyName } from '../../../tabular/value-columns.ts';
import { isNameColumn, nameColumnAfter } from '../../hif-names.ts';
import { UsageError } from '../../world.ts';
import type { RowFlags } from '../rows/row-plan.ts';
import { type AttrColumn, type HifAttrs, plainAttr } from './hif-attrs.ts';
import type { HifWhole } from './hif-parts.ts';

export const TIME = 'event_ts';
export const WEIGHT = 'weight';

export interface EdgeColumns {
  /** The attribute with the time; undefined if no edge has one. */
  readonly timeAttr: string | undefined;
  /** The column for the ids of edges. */
  readonly nameColumn: string;
  /** The other attributes; a weight that is one is the column `weight`. */
  readonly attrs: readonly AttrColumn[];
  /** Whether the attribute `end_ts` holds the ends of edges. */
  readonly hasEnds: boolean;
  /** Whether the attribute `weight` becomes the weight of edges. */
  readonly movesWeight: boolean;
}

interface Given {
  readonly attrs: HifAttrs;
  /** True when an edge has the field `weight`. */
  readonly weights: boolean;
  /** The first edges, from which the attribute with the time is guessed. */
  readonly first: readonly HifWhole[];
  /** The roles of the table, whose names columns cannot have. */
  readonly roles: readonly string[];
  /** The column for ids that the document names itself. */
  readonly nameColumn: string | undefined;
  /** True for an export of Hedgerow, where the attribute `id` is an id in its database. */
  readonly isOwn: boolean;
  readonly label: string;
}

/** Throws UsageError if the attribute with the time cannot be determined. */
export function edgeColumns(given: Given, flags: Pick<RowFlags, 'tsColumn' | 'tsFormat' | 'ts'>): EdgeColumns {
  const { attrs, weights, roles } = given;
  const timeAttr = given.first.length === 0 ? flags.tsColumn : timeAttribute(given, flags);
  const movesWeight = !weights && attrs.isNumeric(WEIGHT);
  const hasEnds = attrs.isInteger(END_COLUMN) || attrs.areTimes(END_COLUMN);
  const isRead = (name: string) => !(given.isOwn && name === 'id');
  const others = attrs.names
    .filter(isRead)
    .filter((name) => name !== TIME || (timeAttr !== undefined && timeAttr !== TIME));
  const own = (name: string) =>
    (name === WEIGHT && movesWeight) ||
    (name === END_COLUMN && hasEnds) ||
    (name === 'mean_dist_m' && attrs.isNumeric(name)) ||
    (name === 'formation' && attrs.typeOf(name) === 'TEXT');
  const taken = new Set([
    ...BUILT_IN_COLUMNS.map(({ name }) => name),
    END_COLUMN,
    ...(roles.length === 0 ? [] : [ROLES_FIELD, ...roles.map((role) => role.toLowerCase())]),
  ]);
  const nameColumn = given.nameColumn ?? nameColumnAfter([...others, ...roles]);
  taken.add(nameColumn.toLowerCase());
  const nameOf = (attr: string) => (own(attr) ? attr : attributeName(attr, taken));
  return { timeAttr, nameColumn, attrs: attrs.columns(others, nameOf), hasEnds, movesWeight };
}

/** Returns the name of a column for an attribute; columns of edge ids have their own names. */
function attributeName(attr: string, taken: Set<string>): string {
  const name = propertyName(attr, taken);
  return name !== attr && isNameColumn(name) ? propertyName(`p_${name}`, taken) : name;
}

/** Returns the attribute that holds the times; undefined if none does and `--ts` gives one. */
function timeAttribute({ attrs, first, label }: Given, flags: Pick<RowFlags, 'tsColumn' | 'tsFormat' | 'ts'>) {
  const { names } = attrs;
  const { tsColumn, tsFormat, ts } = flags;
  if (tsColumn !== undefined) {
    const same = names.find((name) => name.toLowerCase() === tsColumn.toLowerCase());
    const found = names.includes(tsColumn) ? tsColumn : same;
    if (found !== undefined) return found;
    throw new UsageError(
      `--ts-column names ${JSON.stringify(tsColumn)}, but the attributes of edges are ${names.slice(0, 30).join(', ')}.`,
    );
  }
  if (names.includes(TIME)) return TIME;
  const rows = first.map((edge) =>
    names.map((name) => plainAttr(Object.hasOwn(edge.attrs, name) ? edge.attrs[name] : null)),
  );
  const search = { members: [], format: tsFormat, isNeeded: ts === undefined };
  const found = guessTimeColumns({ names, rows, isText: () => true }, search);
  if (found.length === 1) return names[found[0]!]!;
  if (ts !== undefined) return undefined;
  if (found.length === 0)
    throw new UsageError(
      `No edge of ${label} has a time: it is read from attrs.event_ts of the edges, or the attribute that --ts-column names. --ts 2024-05-01 gives all edges one.`,
    );
  const shown = found.map((index) => names[index]!).join(', ');
  throw new UsageError(
    `The attributes ${shown} of edges could each be the time (they have names such as ${SOME_TIME_NAMES[0]}); name the one that is in --ts-column.`,
  );
}
