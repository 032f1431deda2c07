// A manifest with a correct checksum may still contain a document that no database has written.
// Opening such a database must be refused with a clear error, and must never crash midway.

import { expect, test } from 'vitest';
import type { Checkpoint } from '../../src/engine/checkpoint/checkpoint.ts';
import { checkpointProblem } from '../../src/engine/checkpoint/checkpoint-shape.ts';
import { manifestPath, readManifest } from '../../src/storage/manifest.ts';
import { crc32c } from '../support/crc32c.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { fill, range } from '../support/sim-tables.ts';

const OPTIONAL = /\.(checksum|expirations|newestAt|documents|replays|held|lost|value)$/;

async function written(): Promise<Checkpoint> {
  const fs = simDisk();
  const database = await openSim(fs);
  await database.createTable({ name: 'other', columns: [{ name: 'n', type: 'INTEGER', default: 3 }] });
  await database.createIndex('other', 'n');
  await fill(database.table(), range(0, 5));
  await fill(database.table('other'), range(0, 5));
  await database.documents.change([{ store: 'notes', id: 'one', value: { text: 'a' } }]);
  await database.compact({});
  await database.close();
  return readManifest(fs, '/db', crc32c) as Checkpoint;
}

/** Returns every place inside a value, as an object or list and a key in it. */
function placesOf(value: unknown, path = ''): { of: Record<string, unknown>; key: string; path: string }[] {
  if (typeof value !== 'object' || value === null || path.endsWith('.entries.0.1')) return [];
  const of = value as Record<string, unknown>;
  return Object.keys(of).flatMap((key) => [
    { of, key, path: `${path}.${key}` },
    ...placesOf(of[key], `${path}.${key}`),
  ]);
}

test('a document that a database has written has no problem', async () => {
  expect(checkpointProblem(await written())).toBeNull();
});

test('a document has a problem when a value at any place is missing or of another kind', async () => {
  const places = placesOf(await written()).length;
  expect(places).toBeGreaterThan(40);
  for (let place = 0; place < places; place++) {
    for (const wrong of [undefined, Number.NaN, { not: 'this' }]) {
      const document = await structuredClone(await cached());
      const { of, key, path } = placesOf(document)[place]!;
      if (wrong === undefined && (Array.isArray(of) || OPTIONAL.test(path))) continue;
      if (path.endsWith('.entries.0.1')) continue;
      if (wrong === undefined) delete of[key];
      else of[key] = wrong;
      expect(checkpointProblem(document), `${path} = ${String(wrong)}`).not.toBeNull();
    }
  }
});

test('a document has a problem when two tables share an id or a name, or a table has an id that has not been assigned yet', async () => {
  const document = await cached();
  const [first, second] = document.tables;
  for (const definition of [
    { ...second!.definition, id: first!.definition.id },
    { ...second!.definition, name: first!.definition.name.toUpperCase() },
    { ...second!.definition, id: document.nextTableId },
  ]) {
    const problem = checkpointProblem({ ...document, tables: [first, { ...second!, definition }] });
    expect(problem).toMatch(/^table \d+ /);
  }
});

test('a document with a problem is refused as corrupt, and the error names the place', async () => {
  const fs = simDisk();
  await (await openSim(fs)).close();
  const text = JSON.stringify({ ...(readManifest(fs, '/db', crc32c) as object), tables: [{}] });
  const body = new TextEncoder().encode(text);
  const header = `hedgerow-manifest 1 ${crc32c(body, 0).toString(16).padStart(8, '0')} ${body.length}\n`;
  fs.replace(manifestPath('/db'), Buffer.concat([Buffer.from(header), body]));
  await expect(openSim(fs.kill())).rejects.toMatchObject({
    code: 'corrupt',
    message: expect.stringContaining('tables.0.definition'),
  });
});

let known: Checkpoint | undefined;
async function cached(): Promise<Checkpoint> {
  known ??= await written();
  return known;
}
