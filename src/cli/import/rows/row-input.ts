// Plans an input with rows and named columns (CSV, Parquet, and the edges of HIF) from its first
// rows.

import { isNumeric } from '../../../model/column-types.ts';
import { builtInType } from '../../../model/columns.ts';
import type { MemberKind } from '../../../model/node-refs.ts';
import { cellsOf, type ForeignTable } from '../../../tabular/foreign-table.ts';
import { listMark } from '../../../tabular/list-separators.ts';
import { kindsIn } from '../../../tabular/member-keys.ts';
import { keyItems } from '../../../tabular/nodes.ts';
import { timeText } from '../../../tabular/times.ts';
import { type Members, NodeKeys } from '../node-keys.ts';
import type { PlannedInput } from '../planned-input.ts';
import { shownEdges } from '../planned-input.ts';
import type { TableColumn } from '../targets/target.ts';
import type { RowItem } from './row-batches.ts';
import { rowEdges } from './row-edges.ts';
import { planRows, type RowFlags, type RowPlan } from './row-plan.ts';

export type PlannedRows = Omit<PlannedInput, 'batches'> & {
  readonly rows: RowPlan;
};

/** How the rows of a file are stored: as edges, or as nodes (nodes/node-rows.ts). */
export interface RowPlanner {
  /** The columns that flags name. */
  readonly given: readonly string[];
  /** Throws UsageError for flags that do not fit. */
  plan(sample: ForeignTable, known: readonly TableColumn[], roles: readonly string[]): PlannedItems;
}

export type PlannedItems = Omit<PlannedInput, 'batches'> & {
  /** Returns a function that throws an error which describes what is wrong with a row. */
  itemsOf(members: Members | undefined): (cells: readonly unknown[]) => RowItem;
};

export function edgePlanner(flags: RowFlags): RowPlanner {
  const { tsColumn, endColumn, memberColumn, memberColumns = [], roles } = flags;
  return {
    given: [tsColumn, endColumn, memberColumn, ...memberColumns, ...(roles?.values() ?? [])].filter(
      (name) => name !== undefined,
    ),
    plan(sample, known, tableRoles) {
      const { rows, ...planned } = plannedRows(sample, flags, known, tableRoles);
      return { ...planned, itemsOf: (members) => rowEdges(rows, members) };
    },
  };
}

export function plannedRows(
  sample: ForeignTable,
  flags: RowFlags,
  known: readonly TableColumn[],
  roles: readonly string[],
): PlannedRows {
  const rows = planRows(sample, flags, known, roles);
  const columns = rows.properties.filter(({ name }) => builtInType(name.toLowerCase()) === undefined);
  return {
    rows,
    columns: columns.map(({ name, type }) => ({ name, type })),
    intervals: flags.endColumn !== undefined,
    roles: rows.roles.map(({ name }) => name),
    named: rows.members.named,
    kinds: rows.members.named ? kindsOf(sample, rows) : [],
    notes: [...notesOf(rows), lookedText(sample)],
    warnings: [
      ...guessWarnings(rows),
      ...listWarnings(sample, rows),
      ...rows.ambiguous.map(([name, cell]) => numberWarning(name, cell)),
    ],
    firstEdges: () => firstEdges(sample, rows),
  };
}

function firstEdges(sample: ForeignTable, rows: RowPlan): string[] {
  const edgeOf = rowEdges(rows, rows.members.named ? new NodeKeys(ANY_KEYS) : undefined);
  return shownEdges(sample.rows, (row) => JSON.stringify(edgeOf(row)));
}

/** Shows names as they are. */
const ANY_KEYS: readonly MemberKind[] = [{ name: '', isInteger: false }];

/** Returns the kinds in member cells that hold JSON lists of objects with `kind` and `key`. */
function kindsOf(sample: ForeignTable, { members, roles }: RowPlan): MemberKind[] {
  const lists = [...members.indexes.map((index) => ({ index, separator: members.separator })), ...roles];
  return kindsIn(
    lists.flatMap(({ index, separator }) => cellsOf(sample, index).flatMap((cell) => keyItems(cell, separator))),
  );
}

function lookedText({ rows }: ForeignTable): string {
  const first = rows.length === 1 ? 'row' : `${rows.length} rows`;
  return `types and time formats are guessed from the first ${first}; --types, --decimal, --ts-format, --member-ids and --separator override the guess`;
}

function notesOf({ names, time, end, members, roles, properties, left }: RowPlan): string[] {
  const items = members.named ? 'names' : 'integers';
  const list =
    members.separator === undefined ? 'one node in each cell' : `separated by ${JSON.stringify(members.separator)}`;
  return [
    `time: ${timeNote(names, time)}`,
    ...(end === undefined ? [] : [`end: ${names[end.index]} (${timeText(end.format)}, empty: none)`]),
    ...(members.indexes.length === 0
      ? []
      : [`members: ${members.indexes.map((index) => names[index]).join(', ')} (${list}; ${items})`]),
    ...roles.map(
      ({ name, index, separator }) =>
        `role: ${name} from ${names[index]} (separated by ${JSON.stringify(separator)}; ${items})`,
    ),
    ...properties.map(
      ({ index, name, type, decimal }) =>
        `property: ${names[index]}${names[index] === name ? '' : ` as ${name}`} ${type}${decimal === ',' && isNumeric(type) ? ' (decimal comma)' : ''}`,
    ),
    ...(left.length === 0 ? [] : [`not read: ${left.join(', ')}`]),
  ];
}

function timeNote(names: readonly string[], { index, format, missing }: RowPlan['time']): string {
  const given = missing === undefined ? '' : new Date(missing * 1000).toISOString().replace('.000Z', 'Z');
  if (index === undefined) return `${given} (--ts)`;
  return `${names[index]} (${timeText(format)})${missing === undefined ? '' : `, ${given} (--ts) where it has none`}`;
}

function numberWarning(name: string, cell: string): string {
  const shown = JSON.stringify(cell.slice(0, 40));
  return `${name} holds ${shown}, which is taken for a text; --decimal , or --decimal . reads such numbers, with a decimal comma or point.`;
}

/**
 * Warns about member columns that were guessed. A column named `members` needs no warning, because
 * it has always been used without a flag.
 */
function guessWarnings({ names, members }: RowPlan): string[] {
  const taken = members.indexes.map((index) => names[index]!);
  if (!members.isGuessed || taken[0]!.toLowerCase() === 'members') return [];
  return [
    `The members of edges are taken from ${taken.join(', ')}, as the names suggest; --member-columns or --member-column overrides the choice.`,
  ];
}

/**
 * Warns about cells that look like lists but are not split: each would be one node with a long
 * name.
 */
function listWarnings({ names, rows }: ForeignTable, { members }: RowPlan): string[] {
  if (members.separator !== undefined) return [];
  return members.indexes.flatMap((index) => {
    const found = listMark(rows.map((row) => row[index]));
    if (found === undefined) return [];
    const { mark, count, of } = found;
    return [
      `${count} of ${of} cells of ${names[index]} hold "${mark}" between names, and each becomes one node; --separator '${mark}' splits the cells of all member columns.`,
    ];
  });
}
