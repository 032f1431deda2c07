// Simulates a restore into an existing directory (a mounted volume) that is killed between two
// moves of files. The directory cannot be opened until every part is there.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addEdges, openSmall, removeDir, restore, rowTexts, temporaryDir, verify } from './support.ts';

/** The order in which `restore` moves the parts into place. */
const ORDER = ['log', 'tables', 'replays', 'manifest'];

let home: string;
let rows: string[];

beforeAll(async () => {
  home = temporaryDir();
  const database = await openSmall(`${home}/db`);
  await addEdges(database.table(), 900);
  await database.replays.store({
    id: 'a',
    bodyHash: 'h',
    status: 200,
    contentType: 'text/plain',
    body: 'a',
    at: Date.now(),
  });
  await database.compact({});
  await addEdges(database.table(), 300, 5000);
  rows = rowTexts(database.table());
  const { path } = await database.backup({ dir: `${home}/backups`, compactFirst: false });
  await database.close();
  await restore(path, `${home}/restored`);
});
afterAll(() => removeDir(home));

test('an incomplete set of parts is refused, and a complete one opens', async () => {
  for (let count = 1; count <= ORDER.length; count++) {
    const dir = `${home}/part-${count}`;
    mkdirSync(dir);
    for (const name of ORDER.slice(0, count)) cpSync(`${home}/restored/${name}`, `${dir}/${name}`, { recursive: true });
    if (count < ORDER.length) {
      expect((await verify(dir)).problems.length).toBeGreaterThan(0);
      for (let time = 0; time < 2; time++)
        await expect(openSmall(dir), `${count} parts`).rejects.toMatchObject({ code: 'corrupt' });
      for (const name of ORDER.slice(0, count)) expect(existsSync(`${dir}/${name}`)).toBe(true);
      continue;
    }
    expect((await verify(dir)).problems).toEqual([]);
    const database = await openSmall(dir);
    expect(rowTexts(database.table())).toEqual(rows);
    await database.close();
  }
});

test('the log of a backup is refused when it is cut, overwritten with zeros or missing', async () => {
  const newest = readdirSync(`${home}/restored/log`).findLast((name) => name.startsWith('log-'))!;
  const damages: ((dir: string) => void)[] = [
    (dir) => rmSync(`${dir}/log/${newest}`),
    (dir) => rmSync(`${dir}/log/mark`),
    (dir) => rmSync(`${dir}/log`, { recursive: true }),
    (dir) => writeFileSync(`${dir}/log/${newest}`, readFileSync(`${dir}/log/${newest}`).subarray(0, -1)),
    (dir) => writeFileSync(`${dir}/log/${newest}`, readFileSync(`${dir}/log/${newest}`).fill(0, 4096)),
  ];
  for (const [index, damage] of damages.entries()) {
    const dir = `${home}/damaged-${index}`;
    cpSync(`${home}/restored`, dir, { recursive: true });
    damage(dir);
    await expect(openSmall(dir), `damage ${index}`).rejects.toMatchObject({ code: 'corrupt' });
    expect((await verify(dir)).problems.length).toBeGreaterThan(0);
  }
});
