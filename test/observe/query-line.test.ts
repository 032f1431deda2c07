import { expect, test } from 'vitest';
import { createLogger } from '../../src/observe/log.ts';
import { isOwnId, QueryLines } from '../../src/observe/query-line.ts';
import { Redactor } from '../../src/observe/redact.ts';
import { createObserver } from '../../src/observe/service-observer.ts';

const NOW = new Date('2026-01-02T03:04:05.678Z');

/** Returns a sink that collects lines in one buffer. */
function roomOf(size: number) {
  const buffer = Buffer.alloc(size);
  let used = 0;
  return {
    buffer,
    room: (bytes: number) => (used + bytes > size ? -1 : used),
    took: (end: number) => {
      used = end;
    },
    get text() {
      return buffer.toString('utf8', 0, used);
    },
  };
}

/** Returns the lines for the same reads, as the logger writes them. */
function textLines(reads: readonly [string, number, number, string, string][]): string {
  let text = '';
  const log = createLogger({
    format: 'json',
    level: 'info',
    now: () => NOW,
    write: (line) => {
      text += line;
    },
  });
  const observer = createObserver({ log, audit: undefined, version: '1', slowMs: Infinity });
  for (const [strategy, durationUs, records, table, id] of reads)
    observer.queryDone({ strategy, records, table }, durationUs, id);
  observer.close();
  return text;
}

test('the line of a read is the same whether it is written as bytes or as text', () => {
  const reads: [string, number, number, string, string][] = [
    ['TPI_BUCKET_PUSHDOWN', 0, 0, 'hyperedges', 'abcdefgh-1'],
    ['TPI_BUCKET_PUSHDOWN', 9, 10, 'hyperedges', 'abcdefgh-99'],
    ['FMI_LOOKUP', 1_234_567, Number.MAX_SAFE_INTEGER, 'T_2', 'ABC_-123-9007199254740991'],
  ];
  const room = roomOf(4096);
  const lines = new QueryLines({ sink: room, timestamp: () => NOW.toISOString(), mask: (text) => text });
  for (const read of reads) lines.write(...read);
  expect(room.text).toBe(textLines(reads));
  expect(
    room.text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).records),
  ).toEqual([0, 10, 2 ** 53 - 1]);
});

test('a line has the current time, and is dropped if the buffer has no space left', () => {
  const room = roomOf(512);
  let time = '2026-01-02T03:04:05.678Z';
  const lines = new QueryLines({ sink: room, timestamp: () => time, mask: (text) => text });
  lines.write('FULL_SCAN', 1, 1, 't', 'abcdefgh-1');
  time = '2027-01-02T03:04:05.678Z';
  for (let i = 0; i < 5; i++) lines.write('FULL_SCAN', 1, 1, 't', 'abcdefgh-2');
  const times = room.text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).ts);
  expect(times[0]).toBe('2026-01-02T03:04:05.678Z');
  expect(new Set(times.slice(1))).toEqual(new Set([time]));
  expect(times.length).toBeLessThan(6);
});

test('a table name that is a secret is masked', () => {
  const redactor = new Redactor();
  redactor.registerSecret('verysecrettable');
  const room = roomOf(1024);
  const mask = (text: string): string => redactor.lines(text);
  const lines = new QueryLines({ sink: room, timestamp: () => NOW.toISOString(), mask });
  lines.write('FULL_SCAN', 1, 1, 'verysecrettable', 'abcdefgh-1');
  expect(room.text).not.toContain('verysecrettable');
});

test('only ids that the service generated are written without masking', () => {
  expect(['abcdefgh-1', 'AB_-1234-42', '12345678-0'].every(isOwnId)).toBe(true);
  expect(
    ['', '-1', 'abcdefgh', 'abcdefgh-x', 'abcdefghi-1', 'abcdefg-1', `abcdefgh-${'1'.repeat(40)}`].some(isOwnId),
  ).toBe(false);
});
