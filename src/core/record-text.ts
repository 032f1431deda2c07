// Writes records as row text, without adding them to a memtable.

import { SEPARATOR } from './abi-fields.ts';
import type { Core } from './load.ts';
import { Region } from './region.ts';
import { RowWorkspace, STEP_ROWS } from './row-output.ts';
import type { RowPlan } from './row-plan.ts';
import { coreError, STATUS } from './status.ts';

export class RecordText {
  readonly #core: Core;
  readonly #work: RowWorkspace;
  readonly #records: Region;

  constructor(core: Core) {
    this.#core = core;
    this.#work = new RowWorkspace(core);
    this.#records = new Region(core, 65_536);
  }

  /**
   * Returns the JSON text of each record, at most STEP_ROWS of them. The records must be
   * well-formed. Throws `overloaded` if there is no memory for them.
   */
  rows(records: readonly Uint8Array[], plan: RowPlan): string[] {
    if (records.length > STEP_ROWS) throw new Error(`${records.length} records are written at once`);
    const { memory, exports } = this.#core;
    const { text, rows } = this.#work;
    this.#records.ensure(records.reduce((sum, record) => sum + record.length, 0));
    let at = this.#records.pointer;
    const addresses = new Uint32Array(records.length);
    for (const [place, record] of records.entries()) {
      memory.write(at, record);
      addresses[place] = at;
      at += record.length;
    }
    const planAt = this.#work.plan(plan);
    let written = '';
    for (let from = 0; from < records.length; ) {
      memory.words.set(addresses.subarray(from), rows / 4);
      const left = records.length - from;
      const bytes = exports.hg_records_json(rows, left, planAt, SEPARATOR.newline, text.pointer, text.bytes);
      if (bytes === STATUS.tooSmall) {
        text.ensure(exports.hg_result_needed() >>> 0);
        continue;
      }
      if (bytes < 0) throw coreError(bytes, 'hg_records_json');
      from += exports.hg_result_rows() >>> 0;
      written += Buffer.from(memory.borrow(text.pointer, bytes)).toString();
    }
    return records.length === 0 ? [] : written.trimEnd().split('\n');
  }
}
