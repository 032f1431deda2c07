import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { importCommand } from '../../src/cli/import/command.ts';
import { startServer } from '../http/support.ts';
import { lookInto, rowsOf, TestWorld } from './support.ts';

const WIDE = fileURLToPath(
  new URL('../../../shared/data/HJ-congress-bills.WIDE.synthetic-ts.ndjson.gz', import.meta.url),
);
const isThere = existsSync(WIDE);
if (!isThere) console.log(`skipped: ${WIDE} is not on this machine`);

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

/**
 * Returns the line numbers of the edges with more than `limit` members, found by reading every
 * line.
 */
function wideLines(limit: number): number[] {
  const lines = gunzipSync(readFileSync(WIDE)).toString().trimEnd().split('\n');
  return lines.flatMap((line, index) => (JSON.parse(line).members.length > limit ? [index + 1] : []));
}

test.runIf(isThere).each([
  ['64', 1655],
  ['255', 21],
])('exactly the congress bills with more than %s members are rejected, by line number', async (limit, count) => {
  world.environment.HEDGEROW_MAX_MEMBERS = limit;
  expect(await importCommand([WIDE], { data: 'db', onError: 'skip', rejects: 'rejects', batch: '1000' }, world)).toBe(
    0,
  );
  const lines = world.objects('rejects').map((reject) => reject.line);
  expect(lines.length).toBe(count);
  expect(lines).toEqual(wideLines(Number(limit)));
  const rows = await lookInto(world.path('db'), (database) => rowsOf(database.table()).length);
  expect(rows).toBe(5123 - count);
});

test.runIf(isThere)('a server rejects the same lines of the congress bills', async () => {
  const server = await startServer();
  expect(await importCommand([WIDE], { url: server.url, onError: 'skip', rejects: 'rejects' }, world)).toBe(0);
  expect(world.objects('rejects').map((reject) => reject.line)).toEqual(wideLines(64));
  expect(server.database.table().rowCount).toBe(5123 - 1655);
  await server.close();
});
