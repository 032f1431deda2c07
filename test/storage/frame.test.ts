// Compares the bytes of log files with FORMAT.md, and feeds arbitrary bytes to the decoder.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import {
  decodeFileHeader,
  encodeFileHeader,
  encodeFrame,
  FILE_HEADER_BYTES,
  findFrame,
  frameBytes,
  readFrame,
  regionOf,
} from '../../src/storage/frame.ts';
import { inspectLogFile, readLogFileHeader } from '../../src/storage/inspect-log.ts';
import { writeWhole } from '../../src/storage/whole-file.ts';
import { crc32c } from '../support/crc32c.ts';
import { Random } from '../support/random.ts';
import { SimFs } from '../support/sim-fs.ts';

/** Returns the log file of the worked example in FORMAT.md. */
function exampleFile(): Uint8Array {
  const text = readFileSync(new URL('../../src/storage/FORMAT.md', import.meta.url), 'utf8');
  const lines = /```hex\n([\s\S]*?)```/.exec(text)![1]!.trim().split('\n');
  const bytes = new Uint8Array(0x1060);
  for (const line of lines) {
    const [, offset, hex] = /^([0-9a-f]{4}): ((?:[0-9a-f]{2} ){7}[0-9a-f]{2})/.exec(line)!;
    bytes.set(
      hex!.split(' ').map((byte) => Number.parseInt(byte, 16)),
      Number.parseInt(offset!, 16),
    );
  }
  return bytes;
}

test('CRC32C has the published check value', () => {
  expect(crc32c(new TextEncoder().encode('123456789'), 0)).toBe(0xe3069283);
});

test('the code writes the worked example in FORMAT.md', () => {
  const file = regionOf(new Uint8Array(0x1060));
  file.bytes.set(encodeFileHeader({ epoch: 3, sequence: 7, firstLsn: 42, fileBytes: 8192 }, crc32c));
  file.bytes.set(new TextEncoder().encode('edge!'), 0x1028);
  encodeFrame(file, 0x1000, 5, 3, 42, 41, 2, crc32c);
  encodeFrame(file, 0x1030, 0, 3, 44, 43, 0, crc32c);
  expect(Buffer.from(file.bytes).equals(exampleFile())).toBe(true);
});

test('the worked example is read back frame by frame', async () => {
  const fs = new SimFs(1);
  fs.makeDir('/data');
  const handle = fs.open('/data/log-0000000000000007', 'create');
  await writeWhole(handle, exampleFile(), 0);
  expect(readLogFileHeader(fs, handle.path, crc32c)).toEqual({
    version: 2,
    epoch: 3,
    sequence: 7,
    firstLsn: 42,
    fileBytes: 8192,
  });
  expect([...inspectLogFile(fs, handle.path, crc32c)]).toEqual([
    { offset: 4096, firstLsn: 42, operations: 2, payloadBytes: 5, epoch: 3, durableLsn: 41, seconds: 0, ok: true },
    { offset: 4144, firstLsn: 44, operations: 0, payloadBytes: 0, epoch: 3, durableLsn: 43, seconds: 0, ok: true },
  ]);
  fs.edit(handle.path, (bytes) => {
    bytes[0x1028]! ^= 1;
  });
  const seen = [...inspectLogFile(fs, handle.path, crc32c)].map(({ offset, ok }) => ({ offset, ok }));
  expect(seen[0]).toEqual({ offset: 4096, ok: false });
  expect(seen[1]!.offset).toBe(4144);
});

test('numbers up to 2^53 - 1 are encoded and decoded exactly', () => {
  const largest = Number.MAX_SAFE_INTEGER;
  const header = { epoch: 2 ** 32 - 1, sequence: largest, firstLsn: largest, fileBytes: largest };
  expect(decodeFileHeader('file', encodeFileHeader(header, crc32c), crc32c)).toEqual({ version: 2, ...header });
  const region = regionOf(new Uint8Array(frameBytes(0)));
  encodeFrame(region, 0, 0, 2 ** 32 - 1, largest, largest - 1, 2 ** 32 - 1, crc32c);
  expect(readFrame(region, 0, crc32c)).toEqual({
    payloadBytes: 0,
    epoch: 2 ** 32 - 1,
    firstLsn: largest,
    durableLsn: largest - 1,
    operations: 2 ** 32 - 1,
    seconds: 0,
  });
});

test('a flipped bit anywhere in a frame or a file header is detected', () => {
  const region = regionOf(new Uint8Array(frameBytes(13)));
  region.bytes.set(crypto.getRandomValues(new Uint8Array(13)), 40);
  encodeFrame(region, 0, 13, 1, 1, 0, 1, crc32c);
  for (let bit = 0; bit < region.bytes.length * 8; bit++) {
    region.bytes[bit >> 3]! ^= 1 << (bit & 7);
    expect(readFrame(region, 0, crc32c), `bit ${bit}`).toBeNull();
    region.bytes[bit >> 3]! ^= 1 << (bit & 7);
  }
  expect(readFrame(region, 0, crc32c)).not.toBeNull();
  const header = encodeFileHeader({ epoch: 1, sequence: 1, firstLsn: 1, fileBytes: 4096 }, crc32c);
  for (let byte = 0; byte < FILE_HEADER_BYTES; byte++) {
    header[byte]! ^= 0x10;
    expect(() => decodeFileHeader('file', header, crc32c), `byte ${byte}`).toThrow(HedgerowError);
    header[byte]! ^= 0x10;
  }
});

test('arbitrary bytes give null, -1 or a corruption error, but no other failure', () => {
  const random = new Random(7);
  for (let round = 0; round < 2000; round++) {
    const region = regionOf(new Uint8Array(random.below(200)));
    for (let index = 0; index < region.bytes.length; index++) region.bytes[index] = random.below(256);
    const offset = random.below(24) * 8;
    if (offset + 12 <= region.bytes.length) {
      region.view.setUint32(offset, 0x52464748, true);
      if (random.chance(0.5)) region.view.setUint32(offset + 8, random.below(220), true);
    }
    expect(readFrame(region, offset, crc32c)).toBeNull();
    expect(findFrame(region, 0, 1, 1, crc32c)).toBe(-1);
    expect(() => decodeFileHeader('file', region.bytes, crc32c)).toThrow(HedgerowError);
  }
});
