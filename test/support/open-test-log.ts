// Opening a log on a disk for tests, and a list of what it told.

import type { HedgerowError } from '../../src/errors.ts';
import type { Fs } from '../../src/storage/fs.ts';
import { type LogOptions, openLog } from '../../src/storage/log.ts';
import type { LogFrame, LogStore } from '../../src/storage/log-store.ts';
import { crc32c } from './crc32c.ts';

export interface OpenedLog {
  log: LogStore;
  /** Every call of onDurable. */
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

/** `firstLsn+operations:payload` of every frame above `lsn`. Decoded step by step: a payload is gone with the next batch. */
export async function framesOf(log: LogStore, lsn = log.oldestLsn - 1): Promise<string[]> {
  const frames: string[] = [];
  for await (const batch of log.read(lsn + 1)) frames.push(...textsOf(batch));
  return frames;
}

export function textsOf(batch: readonly LogFrame[]): string[] {
  const decoder = new TextDecoder();
  return batch.map((frame) => `${frame.firstLsn}+${frame.operations}:${decoder.decode(frame.payload)}`);
}

/** A setImmediate turn of the event loop: whatever was deferred has run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
