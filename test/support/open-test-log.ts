// Opens a log for tests on a given file system, and records the log's reports.

import type { HedgerowError } from '../../src/errors.ts';
import type { Fs } from '../../src/storage/fs.ts';
import { type LogOptions, openLog } from '../../src/storage/log.ts';
import type { LogFrame, LogStore } from '../../src/storage/log-store.ts';
import { crc32c } from './crc32c.ts';

export interface OpenedLog {
  log: LogStore;
  /** The LSNs with which onDurable was called. */
  durable: number[];
  failures: HedgerowError[];
}

export async function openTestLog(fs: Fs, more: Partial<LogOptions> = {}): Promise<OpenedLog> {
  const durable: number[] = [];
  const failures: HedgerowError[] = [];
  const log = await openLog({
    fs,
    dir: '/data',
    crc32c,
    durability: 'fsync',
    fileBytes: 4096 + 4096,
    minimumLsn: 0,
    onDurable: (lsn) => durable.push(lsn),
    onFailed: (error) => failures.push(error),
    ...more,
  });
  return { log, durable, failures };
}

export function textFrame(text: string): Uint8Array[] {
  return [new TextEncoder().encode(text)];
}

/**
 * Returns every frame above `lsn` as `firstLsn+operations:payload`. Decodes each batch before it
 * reads the next one, because a payload is only valid until then.
 */
export async function framesOf(log: LogStore, lsn = log.oldestLsn - 1): Promise<string[]> {
  const frames: string[] = [];
  for await (const batch of log.read(lsn + 1)) frames.push(...textsOf(batch));
  return frames;
}

export function textsOf(batch: readonly LogFrame[]): string[] {
  const decoder = new TextDecoder();
  return batch.map((frame) => `${frame.firstLsn}+${frame.operations}:${decoder.decode(frame.payload)}`);
}

/** Waits for one setImmediate turn of the event loop, so that deferred work has run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
