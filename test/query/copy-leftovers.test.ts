// Tests the temporary files of COPY TO: files that a killed server left are removed, and files that
// are being written are kept.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { CopyPlace } from './copy-place.ts';

let place: CopyPlace;
beforeAll(async () => {
  place = await CopyPlace.open();
  await place.table('t');
  await place.insert('t', [{ event_ts: 1, members: [1, 2], properties: { place: 'a' } }]);
});
afterAll(() => place.close());

describe('temporary files that a killed COPY left', () => {
  const copies = (names: readonly string[]) => names.filter((name) => name.endsWith('.tmp'));

  test('are removed by the next COPY into their directory, and other files are kept', async () => {
    const mark = /^\.hedgerow-copy-([0-9a-f]{16})-/;
    const names: string[] = [];
    const statements = place.statements({
      fs: {
        ...nodeFs,
        open: (path, mode) => {
          if (mode === 'create') names.push(path.split('/').at(-1)!);
          return nodeFs.open(path, mode);
        },
      },
    });
    await place.run("COPY t TO 'first.csv'", {}, {}, statements);
    const [, owner] = mark.exec(names[0]!)!;
    const left = `.hedgerow-copy-${owner}-killed.tmp`;
    const others = ['.hedgerow-copy-0123456789abcdef-killed.tmp', `.hedgerow-copy-${owner}-killed.csv`, 'mine.tmp'];
    for (const name of [left, ...others]) place.file(name, 'half of it');
    await place.run("COPY t TO 'second.csv'", {}, {}, statements);
    expect(place.names).not.toContain(left);
    for (const name of others) expect(place.names).toContain(name);
  });

  test('are distinguished from files that are being written', async () => {
    const statements = place.statements();
    let second: Promise<unknown> | undefined;
    place.beforeStep = () => {
      place.beforeStep = () => {};
      second = place.run("COPY t TO 'at-once-2.csv'", {}, {}, statements);
    };
    await place.run("COPY t TO 'at-once-1.csv'", {}, {}, statements);
    await second;
    expect(copies(place.names).filter((name) => !name.includes('killed') && name !== 'mine.tmp')).toEqual([]);
    expect(place.names).toEqual(expect.arrayContaining(['at-once-1.csv', 'at-once-2.csv']));
  });
});
