// What the formats with rows and named columns, CSV and Parquet, have in common once their first rows are known.

import type { PlannedInput } from './planned-input.ts';
import { shownEdges } from './planned-input.ts';
import { rowEdges } from './row-edges.ts';
import { BUILT_IN, planRows, type RowFlags, type RowPlan, type Sample } from './row-plan.ts';
import type { TableColumn } from './target.ts';

export type PlannedRows = Pick<PlannedInput, 'columns' | 'named' | 'notes' | 'firstEdges'> & { readonly rows: RowPlan };

const TIME_TEXTS = { s: 'seconds since 1970', ms: 'milliseconds since 1970', iso: 'ISO 8601' } as const;

export function plannedRows(sample: Sample, flags: RowFlags, known: readonly TableColumn[]): PlannedRows {
  const rows = planRows(sample, flags, known);
  const columns = rows.properties.filter(({ name }) => BUILT_IN[name.toLowerCase()] === undefined);
  return {
    rows,
    columns: columns.map(({ name, type }) => ({ name, type })),
    named: rows.members.named,
    notes: notesOf(rows),
    firstEdges: (names) => {
      const edgeOf = rowEdges(rows, names);
      return shownEdges(sample.rows, (row) => JSON.stringify(edgeOf(row)));
    },
  };
}

function notesOf({ names, time, members, properties, left }: RowPlan): string[] {
  const list =
    members.separator === undefined ? 'one node in each' : `separated by ${JSON.stringify(members.separator)}`;
  return [
    `time: ${names[time.index]} (${TIME_TEXTS[time.format]})`,
    `members: ${members.indexes.map((index) => names[index]).join(', ')} (${list}; ${members.named ? 'names, which get numbers' : 'integers'})`,
    ...properties.map(
      ({ index, name, type }) => `property: ${names[index]}${names[index] === name ? '' : ` as ${name}`} ${type}`,
    ),
    ...(left.length === 0 ? [] : [`not read: ${left.join(', ')}`]),
  ];
}
