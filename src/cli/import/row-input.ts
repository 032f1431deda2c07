// What the formats with rows and named columns, CSV and Parquet, have in common once their first rows are known.

import type { PlannedInput } from './planned-input.ts';
import { shownEdges } from './planned-input.ts';
import { rowEdges } from './row-edges.ts';
import { BUILT_IN, planRows, type RowFlags, type RowPlan, type Sample } from './row-plan.ts';
import type { TableColumn } from './target.ts';
import { TIME_TEXTS } from './times.ts';

export type PlannedRows = Pick<PlannedInput, 'columns' | 'named' | 'notes' | 'firstEdges'> & { readonly rows: RowPlan };

export function plannedRows(sample: Sample, flags: RowFlags, known: readonly TableColumn[]): PlannedRows {
  const rows = planRows(sample, flags, known);
  const columns = rows.properties.filter(({ name }) => BUILT_IN[name.toLowerCase()] === undefined);
  return {
    rows,
    columns: columns.map(({ name, type }) => ({ name, type })),
    named: rows.members.named,
    notes: [...notesOf(rows), lookedText(sample)],
    firstEdges: (names) => {
      const edgeOf = rowEdges(rows, names);
      return shownEdges(sample.rows, (row) => JSON.stringify(edgeOf(row)));
    },
  };
}

function lookedText({ rows }: Sample): string {
  const first = rows.length === 1 ? 'row' : `${rows.length} rows`;
  return `types and times as the first ${first} look; --types, --ts-format, --member-ids and --separator say otherwise`;
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
