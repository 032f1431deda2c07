// Disk faults in a simulation: crashes and faults at chosen operations, and a limit on the number
// of bytes.

import { HedgerowError } from '../../src/errors.ts';
import type { Random } from '../support/random.ts';
import type { Fault, Operation, SimFs } from '../support/sim-fs.ts';
import { type GoName, perilsOf } from './sim-goes.ts';

export interface Failure {
  kind: 'disk' | 'memory' | 'other';
  code: string;
  message: string;
}

/**
 * Codes of disk failures. They include table_corrupt, because a table refuses if a segment cannot
 * be read.
 */
const DISK_CODES = ['log_failed', 'disk_full', 'disk_failed', 'table_corrupt', 'EIO', 'ENOSPC'];

/** Returns the failure that an operation's error reports. */
export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  const code = String((error as { code?: unknown } | null)?.code ?? (error as Error | null)?.name ?? 'unknown');
  if (DISK_CODES.includes(code) || /short write|wrote \d+ of|takes no bytes/.test(message))
    return { kind: 'disk', code, message };
  const isMemory = code === 'overloaded' || (error instanceof RangeError && /[Mm]emory/.test(message));
  if (isMemory) return { kind: 'memory', code: 'overloaded', message };
  const stack = error instanceof HedgerowError ? '' : `\n${(error as Error | null)?.stack ?? ''}`;
  return { kind: 'other', code, message: `${message}${stack}` };
}

interface PlannedFault {
  from: number;
  /**
   * Number of operations that fail, including the first. Infinity means that all later ones fail.
   */
  count: number;
  code: 'EIO' | 'ENOSPC';
  short: boolean;
}

export class SimPerils {
  /** Whether a disk fault has occurred since the last call of `plan`. */
  disk = false;
  readonly #random: Random;
  readonly #go: GoName;
  readonly #note: (line: string) => void;
  /** Number of bytes that still fit on the disk. */
  #budgetBytes = Infinity;

  constructor(random: Random, go: GoName, note: (line: string) => void) {
    this.#random = random;
    this.#go = go;
    this.#note = note;
  }

  /** Plans the crash and the faults of the next lifetime of the process. */
  plan(fs: SimFs, perilous: boolean): void {
    this.disk = false;
    this.#budgetBytes = Infinity;
    const random = this.#random;
    const { crash, fault } = perilsOf(this.#go);
    const from = fs.operations + 1;
    const crashAt = perilous && random.chance(crash) ? from + random.below(random.chance(0.3) ? 25 : 220) : -1;
    const planned: PlannedFault | undefined =
      perilous && random.chance(fault)
        ? {
            from: from + random.below(random.chance(0.3) ? 20 : 180),
            count: random.chance(0.6) ? 1 : random.chance(0.5) ? 2 + random.below(8) : Infinity,
            code: random.chance(0.5) ? 'EIO' : 'ENOSPC',
            short: random.chance(0.25),
          }
        : undefined;
    fs.schedule = (operation) => this.#fault(fs, operation, crashAt, planned);
  }

  #fault(fs: SimFs, operation: Operation, crashAt: number, planned: PlannedFault | undefined): Fault | undefined {
    const { index, kind, path, growth = 0 } = operation;
    if (index === crashAt) {
      this.#note(`CRASH at ${kind} ${path}`);
      return 'crash';
    }
    if (planned !== undefined && index >= planned.from && index < planned.from + planned.count) {
      const isOpen = kind === 'open' || kind === 'read';
      // A full disk refuses only writes.
      if (planned.code === 'ENOSPC' && kind !== 'write') return undefined;
      if (isOpen && this.#random.chance(0.5)) return undefined;
      this.disk = true;
      this.#note(`FAULT ${planned.code} at ${kind} ${path}`);
      if (kind === 'write' && planned.short) return { shortBytes: 1 + this.#random.below(300) };
      return { code: planned.code };
    }
    if (growth > 0 && fs.usedBytes + growth > this.#budgetBytes) {
      this.disk = true;
      this.#note(`FULL at ${kind} ${path}`);
      const room = this.#budgetBytes - fs.usedBytes;
      return room > 0 && this.#random.chance(0.5) ? { shortBytes: room } : { code: 'ENOSPC' };
    }
    return undefined;
  }

  /** Limits the disk to `moreBytes` more bytes; Infinity removes the limit. */
  limit(fs: SimFs, moreBytes: number): void {
    this.#budgetBytes = fs.usedBytes + moreBytes;
  }

  calm(fs: SimFs): void {
    fs.schedule = () => undefined;
    this.#budgetBytes = Infinity;
  }
}
