// Tests segment files that were replaced by other undamaged segment files. The manifest records
// which file was written, and the table refuses any other file.

import { describe, expect, test } from 'vitest';
import { loadCore, makeChecksum } from '../../src/core/index.ts';
import type { Checkpoint } from '../../src/engine/checkpoint/checkpoint.ts';
import { verifyDirectory } from '../../src/engine/verify/verify-directory.ts';
import { installManifest, readManifest } from '../../src/storage/manifest.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';

describe('a segment file', () => {
  test('is refused in place of another one of the same size, even if the manifest has no checksums', async () => {
    const disk = simDisk();
    const database = await openSim(disk);
    for (let time = 0; time < 24; time++) await database.table().insert({ event_ts: time, members: [time % 8, 9] });
    await database.compact({});
    await database.close();
    const [first, second] = disk.list('/db/tables/1').map((name) => `/db/tables/1/${name}`);
    await disk.rename(first!, '/db/tables/1/aside');
    await disk.rename(second!, first!);
    await disk.rename('/db/tables/1/aside', second!);
    for (const file of [first, second]) {
      const again = await openSim(disk);
      expect(await caught(() => again.table().scan({ format: 'json' }))).toMatchObject({
        code: 'table_corrupt',
        fields: { file },
      });
      await again.close();
      await withoutChecksums(disk);
    }
  });

  // Such a file may come from a backup: one that a compaction had replaced, restored on its own.
  test('is refused if it is an earlier one of the same size', async () => {
    const disk = simDisk();
    const database = await openSim(disk, { segmentRows: 64 });
    for (let time = 0; time < 24; time++) await database.table().insert({ event_ts: time, members: [time % 8, 9] });
    await database.table().delete(2, [2, 9]);
    await database.table().insert({ event_ts: 2, members: [3, 9] });
    await database.compact({});
    const old = contentOf(disk, newest(disk));
    await database.table().delete(3, [3, 9]);
    await database.table().insert({ event_ts: 3, members: [4, 9] });
    await database.compact({});
    await database.close();
    const path = newest(disk);
    const bytes = contentOf(disk, path);
    expect(old.length).toBe(bytes.length);
    expect(Buffer.compare(old, bytes)).not.toBe(0);
    disk.edit(path, (content) => content.set(old));
    const again = await openSim(disk, { segmentRows: 64 });
    expect(await caught(() => again.table().scan({ format: 'json' }))).toMatchObject({
      code: 'table_corrupt',
      message: expect.stringContaining('another file than the one that was written there'),
      fields: { file: path, offset: 12 },
    });
    await again.close();
    const core = loadCore();
    const tools = { fs: disk, core, crc32c: makeChecksum(core.instantiate()) };
    expect((await verifyDirectory(tools, '/db', async () => {})).problems).toMatchObject([{ file: path, offset: 12 }]);
  });
});

/** Rewrites the manifest in the form of versions without segment checksums. */
async function withoutChecksums(disk: SimFs): Promise<void> {
  const crc32c = makeChecksum(loadCore().instantiate());
  const document = readManifest(disk, '/db', crc32c) as Checkpoint;
  for (const { segments } of document.tables) for (const segment of segments) delete segment.checksum;
  await installManifest(disk, '/db', crc32c, document);
}

function newest(disk: SimFs): string {
  return `/db/tables/1/${disk.list('/db/tables/1').sort().at(-1)}`;
}

function contentOf(disk: SimFs, path: string): Uint8Array {
  const handle = disk.open(path, 'read');
  const bytes = new Uint8Array(handle.size());
  handle.read(bytes, 0);
  handle.close();
  return bytes;
}

async function caught(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
