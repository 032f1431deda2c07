// Builds the text of a manifest's document in slices. With 50,000 tables the text has about 15 MB.
// Therefore the parts that rarely change (a table's definition and its list of segments) are cached
// as text, and the tables are written slice by slice with pauses in between.
//
// The definition and the list of segments are never modified in place, only replaced, so the
// objects themselves serve as cache keys.

import { assert } from '../../assert.ts';
import type { TableDefinition } from '../catalog/catalog.ts';
import type { SegmentFile } from '../table/segment-file.ts';
import { entryOf, type SegmentEntry } from '../table/segments-on-disk.ts';
import type { Table } from '../table/table.ts';
import { type ChangedTable, type Checkpoint, neededAfter } from './checkpoint.ts';

/**
 * Limits for the work between two pauses, which takes a few milliseconds: number of tables, and
 * number of segments whose text is not cached.
 */
const TABLES_A_SLICE = 128;
const SEGMENTS_A_SLICE = 2048;

/** The parts of the document other than the tables. */
export type CheckpointHead = Pick<Checkpoint, 'lsn' | 'nextTableId' | 'nextNumber' | 'documents' | 'replays'>;

export class CheckpointText {
  readonly #definitions = new WeakMap<TableDefinition, string>();
  readonly #segments = new WeakMap<readonly unknown[], string>();
  readonly #pause: () => Promise<void>;

  constructor(pause: () => Promise<void>) {
    this.#pause = pause;
  }

  /**
   * Returns the text of all tables in their current state, except that the tables in `changed` get
   * new segments. Also returns the LSN up to which no table needs the log any more. The caller
   * ensures that no segments, definitions or applied LSNs change meanwhile.
   */
  async tables(
    tables: readonly Table[],
    changed: readonly ChangedTable[],
  ): Promise<{ pieces: Uint8Array[]; neededAfter: number }> {
    const changes = new Map(changed.map((each) => [each.table, each]));
    const encoder = new TextEncoder();
    const pieces: Uint8Array[] = [];
    let least = Infinity;
    let text = '';
    let cost = 0;
    for (const [index, table] of tables.entries()) {
      const change = changes.get(table);
      changes.delete(table);
      const segments = change?.segments ?? table.unopened ?? table.version.segments;
      cost += 1 + (this.#segments.has(segments) ? 0 : (segments.length * TABLES_A_SLICE) / SEGMENTS_A_SLICE);
      text += `${index > 0 ? ',' : ''}${this.#item(table, change, segments)}`;
      least = Math.min(least, change === undefined ? neededAfter(table) : change.appliedLsn);
      if (cost < TABLES_A_SLICE) continue;
      pieces.push(encoder.encode(text));
      text = '';
      cost = 0;
      await this.#pause();
    }
    assert(changes.size === 0, 'a manifest lists every table that changes');
    pieces.push(encoder.encode(text));
    return { pieces, neededAfter: least };
  }

  #item(table: Table, change: ChangedTable | undefined, segments: readonly (SegmentFile | SegmentEntry)[]): string {
    const { definition, nextId, nextSegment } = table;
    const expirations = table.expirations + (change?.droppedTs === undefined ? 0 : 1);
    const appliedLsn = change === undefined ? table.appliedLsn : change.appliedLsn;
    const held = needsHeld(table, appliedLsn) ? `,"held":${JSON.stringify(table.held)}` : '';
    const expired = expirations > 0 ? `,"expirations":${expirations}` : '';
    const unloggedTs = change?.droppedTs ?? table.unlogged;
    const unlogged = unloggedTs === undefined ? '' : `,"unlogged":${unloggedTs}`;
    return `{"definition":${this.#definition(definition)},"appliedLsn":${appliedLsn},"nextId":${nextId},"nextSegment":${nextSegment},"segments":${this.#list(segments)}${held}${expired}${unlogged}}`;
  }

  #definition(definition: TableDefinition): string {
    let text = this.#definitions.get(definition);
    if (text === undefined) {
      text = JSON.stringify(definition);
      this.#definitions.set(definition, text);
    }
    return text;
  }

  #list(segments: readonly (SegmentFile | SegmentEntry)[]): string {
    if (segments.length === 0) return '[]';
    let text = this.#segments.get(segments);
    if (text === undefined) {
      text = JSON.stringify(segments.map((each) => ('facts' in each ? entryOf(each) : each)));
      this.#segments.set(segments, text);
    }
    return text;
  }
}

/**
 * Returns whether the table's held files contain operations that are missing from its segments,
 * which contain all operations up to `appliedLsn`.
 */
export function needsHeld({ held }: Pick<Table, 'held'>, appliedLsn: number): boolean {
  return held.length > 0 && held[held.length - 1]!.lsn > appliedLsn;
}

/** Returns the whole document: head, tables, end. */
export function documentOf(head: CheckpointHead, tables: readonly Uint8Array[]): Uint8Array[] {
  const { lsn, nextTableId, ...rest } = head;
  const encoder = new TextEncoder();
  const start = JSON.stringify({ format: 1, lsn, nextTableId }).slice(0, -1);
  const end = JSON.stringify(rest).slice(1);
  return [encoder.encode(`${start},"tables":[`), ...tables, encoder.encode(end === '}' ? ']}' : `],${end}`)];
}
