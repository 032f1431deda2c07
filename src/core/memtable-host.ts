// A core instance that contains one memtable, or many small ones.

import type { Core } from './load.ts';
import { RowWorkspace } from './row-output.ts';

/** An instance for memtables, with the workspace that they share; so calls must not overlap. */
export class MemtableHost {
  readonly core: Core;
  readonly work: RowWorkspace;
  /** Number of memtables in the instance. */
  memtables = 0;

  constructor(core: Core) {
    this.core = core;
    this.work = new RowWorkspace(core);
  }

  /** Size in bytes of the linear memory, which grows and never shrinks. */
  get bytes(): number {
    return this.core.memory.size;
  }
}
