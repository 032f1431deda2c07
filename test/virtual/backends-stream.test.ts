import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeDuckDb, makeFiles, openWorld, type World } from './backend-files.ts';

/** Number of rows. For a long run, set HEDGEROW_STREAM_ROWS=10000000. */
const ROWS = Number(process.env.HEDGEROW_STREAM_ROWS ?? 300_000);
const MOST_MB = 300;

let world: World;
beforeAll(async () => {
  world = openWorld();
  const rows = `SELECT range AS id, 'name ' || (range % 100000) AS name, range * 1.5 AS score FROM range(${ROWS})`;
  await makeFiles([`COPY (${rows}) TO '${join(world.root, 'big.parquet')}'`]);
}, 120_000);
afterAll(() => world.close());

describeDuckDb('a stream of all rows of a Parquet file', () => {
  it(`contains each of the ${ROWS} rows, and the DuckDB process needs little memory`, async () => {
    const session = world.backends.open({ type: 'parquet', path: 'big.parquet' });
    let count = 0;
    let sum = 0;
    for await (const batch of session.query({ sql: 'SELECT id, name, score FROM big', parameters: [] }, {})) {
      count += batch.length;
      for (const [id] of batch) sum += id as number;
    }
    expect(count).toBe(ROWS);
    expect(sum).toBe((ROWS * (ROWS - 1)) / 2);
    const status = readFileSync(`/proc/${world.backends.duckdbPid()}/status`, 'utf8');
    const peakMb = Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / 1024;
    expect(peakMb).toBeLessThan(MOST_MB);
  }, 600_000);
});
