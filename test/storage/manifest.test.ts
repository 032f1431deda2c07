// Tests the manifest. After any crash it is either the old document or the new one, and damage is
// refused.

import { expect, test } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { installManifest, readManifest } from '../../src/storage/manifest.ts';
import { crc32c } from '../support/crc32c.ts';
import { SimFs } from '../support/sim-fs.ts';

function emptyDisk(seed: number): SimFs {
  const fs = new SimFs(seed);
  fs.makeDir('/data');
  return fs;
}

test('a document is read back unchanged, also if it is not ASCII', async () => {
  const fs = emptyDisk(1);
  expect(readManifest(fs, '/data', crc32c)).toBeNull();
  const document = { tables: [{ name: 'Łąka', lsn: 17 }], none: null };
  await installManifest(fs, '/data', crc32c, document);
  expect(readManifest(fs, '/data', crc32c)).toEqual(document);
  expect(fs.list('/data')).toEqual(['manifest']);
  expect(fs.openHandles).toBe(0);
});

test('the bytes are those in FORMAT.md', async () => {
  const fs = emptyDisk(1);
  await installManifest(fs, '/data', crc32c, { a: 1 });
  fs.edit('/data/manifest', (bytes) =>
    expect(new TextDecoder().decode(bytes)).toBe('hedgerow-manifest 1 cff7d56a 7\n{"a":1}'),
  );
});

test('a crash at any operation leaves the old or the new document, and the new one once it was promised', async () => {
  let old = 0;
  let fresh = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const fs = emptyDisk(seed);
    await installManifest(fs, '/data', crc32c, { version: 1, filler: 'x'.repeat(seed * 40) });
    const crashAt = fs.operations + 1 + fs.random.below(7);
    fs.schedule = ({ index }) => (index === crashAt ? 'crash' : undefined);
    let done = false;
    const install = installManifest(fs, '/data', crc32c, { version: 2, filler: 'y'.repeat(seed * 40) }).then(
      () => {
        done = true;
      },
      () => new Promise(() => {}),
    );
    await Promise.race([install, fs.whenStopped]);
    const disk = fs.random.chance(0.3) ? fs.kill() : fs.crash();
    const { version } = readManifest(disk, '/data', crc32c) as { version: number };
    if (done) expect(version, `seed ${seed}`).toBe(2);
    if (version === 1) old++;
    else fresh++;
    await installManifest(disk, '/data', crc32c, { version: 3 });
    expect(readManifest(disk.crash(), '/data', crc32c)).toEqual({ version: 3 });
  }
  expect(Math.min(old, fresh)).toBeGreaterThan(20);
});

test('a disk fault leaves the old document and closes the file', async () => {
  for (const kind of ['write', 'sync', 'rename'] as const) {
    for (const fault of [
      { code: 'EIO' as const },
      { code: 'ENOSPC' as const },
      ...(kind === 'write' ? [{ shortBytes: 9 }] : []),
    ]) {
      const fs = emptyDisk(1);
      await installManifest(fs, '/data', crc32c, { version: 1 });
      fs.schedule = (operation) => (operation.kind === kind ? fault : undefined);
      await expect(installManifest(fs, '/data', crc32c, { version: 2 })).rejects.toThrow();
      fs.schedule = () => undefined;
      expect(fs.openHandles).toBe(0);
      expect(readManifest(fs, '/data', crc32c)).toEqual({ version: 1 });
      await installManifest(fs, '/data', crc32c, { version: 3 });
      expect(readManifest(fs, '/data', crc32c)).toEqual({ version: 3 });
    }
  }
});

test('a changed, missing or added byte anywhere is refused with the name of the file', async () => {
  const fs = emptyDisk(1);
  await installManifest(fs, '/data', crc32c, { version: 1, name: 'meadow' });
  let length = 0;
  fs.edit('/data/manifest', (bytes) => {
    length = bytes.length;
  });
  for (let place = 0; place < length; place++) {
    const flip = (bytes: Uint8Array): void => {
      bytes[place]! ^= 0x01;
    };
    fs.edit('/data/manifest', flip);
    expect(() => readManifest(fs, '/data', crc32c), `byte ${place}`).toThrow(HedgerowError);
    fs.edit('/data/manifest', flip);
  }
  const handle = fs.open('/data/manifest', 'write');
  await handle.truncate(length - 1);
  expect(() => readManifest(fs, '/data', crc32c)).toThrow('/data/manifest is corrupt at offset');
  await handle.write(new TextEncoder().encode('}}'), length - 1);
  expect(() => readManifest(fs, '/data', crc32c)).toThrow('/data/manifest is corrupt at offset');
  handle.close();
});
