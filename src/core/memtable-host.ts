// An instance of the core for one memtable, or for many small ones.

import type { Core } from './load.ts';
import { RowWorkspace } from './row-output.ts';

/** An instance for memtables, and the workspace that they share: calls do not overlap. */
export class MemtableHost {
  readonly core: Core;
  readonly work: RowWorkspace;
  /** Memtables that are in it. */
  memtables = 0;

  constructor(core: Core) {
    this.core = core;
    this.work = new RowWorkspace(core);
  }

  /** Bytes of linear memory, grown and never shrunk. */
  get bytes(): number {
    return this.core.memory.size;
  }
}
