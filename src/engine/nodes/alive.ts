// Refuses a commit that takes a node which another commit has deleted since the writer found it.

import { buildRowPlan, RecordText } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { Steps } from '../../schedule/steps.ts';
import { splitRecords } from '../changes/before-rows.ts';
import type { Table } from '../table/table.ts';

/** Records whose members are read in one step. */
const RECORDS_A_STEP = 1024;
const NO_COLUMNS = buildRowPlan([]);

/**
 * Throws `conflict` if a member of the records of a named table was deleted since `deathMark`
 * (`NodeDirectory.deathMark`), when the numbers of the members were found. The members are read
 * only if some node was deleted meanwhile, which is rare.
 */
export function* assertAlive(
  table: Table,
  deathMark: number,
  pieces: Iterable<{ readonly bytes: Uint8Array }>,
): Steps<void> {
  const { nodes, residency } = table.context;
  if (table.kinds === undefined || nodes.deathMark === deathMark) return;
  const dead = new Set(nodes.deathsSince(deathMark) ?? []);
  if (nodes.deathsSince(deathMark) === undefined) throw deletedMeanwhile(table, undefined);
  const reader = new RecordText(residency.instance());
  for (const { bytes } of pieces) {
    const records = [...splitRecords(bytes)];
    for (let from = 0; from < records.length; from += RECORDS_A_STEP) {
      for (const text of reader.rows(records.slice(from, from + RECORDS_A_STEP), NO_COLUMNS)) {
        const { members } = JSON.parse(text) as { members: number[] };
        const gone = members.find((member) => dead.has(member));
        if (gone !== undefined) throw deletedMeanwhile(table, gone);
      }
      yield undefined;
    }
  }
}

/** The error of a commit that takes a node which is gone; `number` is the node's, if known. */
export function deletedMeanwhile(table: Table, number: number | undefined): HedgerowError {
  const key = number === undefined ? undefined : table.context.nodes.shown(number, false);
  const which = key === undefined ? 'A node that' : `The node ${JSON.stringify(key)}, which`;
  return new HedgerowError(
    'conflict',
    `${which} edges of table ${table.name} take was deleted by another commit meanwhile. Nothing was applied; begin again.`,
  );
}
