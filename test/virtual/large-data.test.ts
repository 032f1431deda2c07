// Runs the commands of the README that compare a virtual graph over PostgreSQL with its copy in a
// table, on fewer rows.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_KEY, type ChildServer, startChild } from '../service/child.ts';
import { startPostgres } from '../support/postgres.ts';
import { blocksUnder } from '../support/readme-blocks.ts';

const README = 'src/virtual/README.md';
const HEADING = 'A virtual graph or a table?';

/** What replaces the sizes in the README: 20,000 rows in the same months, and fewer accounts. */
const FEWER = [
  ['generate_series(1, 5000000)', 'generate_series(1, 20000)'],
  ["interval '2 seconds'", "interval '500 seconds'"],
  ['% 100000', '% 400'],
  ['% 100000', '% 400'],
] as const;

const postgres = await startPostgres();

describe.skipIf(postgres === undefined)('the comparison of a virtual graph with a table', () => {
  let server: ChildServer;
  let answers: Record<string, unknown>[];

  beforeAll(async () => {
    let [sql] = blocksUnder(README, HEADING, 'sql');
    for (const [many, few] of FEWER) {
      expect(sql).toContain(many);
      sql = sql!.replace(many, few);
    }
    await postgres!.run(sql!);
    server = await startChild({ environment: { HEDGEROW_VIRTUAL_DSN_WAREHOUSE: postgres!.address } });
    const [commands] = blocksUnder(README, HEADING, 'sh');
    const script = commands!
      .replaceAll('localhost:8000', `127.0.0.1:${server.port}`)
      .replaceAll('4711', '47')
      .replaceAll('> 9999', '> 9900')
      .replaceAll(/^curl -s /gm, "curl -s -w '\\n' ");
    const shell = `K="Authorization: Bearer ${ADMIN_KEY}"\n${script}`;
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', shell], { maxBuffer: 64 << 20 });
    answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  });
  afterAll(async () => {
    await server?.stop();
    await postgres?.stop();
  });

  const hyperedges = (at: number) => answers[at]!.hyperedges as { event_ts: number; properties: { amount: number } }[];
  const rows = (at: number) => answers[at]!.rows as Record<string, number>[];

  it('makes the graph and its copy', () => {
    expect(answers).toHaveLength(9);
    expect(answers[0]).toMatchObject({ id: 'pay', spec_version: 1 });
    expect(answers[1]).toMatchObject({ table: 'payments', inserted: 20_000, skipped: 0 });
  });

  it.each([
    ['an hour', 2, 3],
    ['an amount', 4, 5],
  ])('gives the same edges for %s', (_what, virtual, native) => {
    const wanted = hyperedges(virtual).map(({ event_ts, properties }) => [event_ts, properties.amount]);
    expect(wanted.length).toBeGreaterThan(5);
    const found = rows(native).map((row) => [row.event_ts ?? row['p.event_ts'], row.amount ?? row['p.amount']]);
    expect(found.sort()).toEqual(wanted.sort());
  });

  it('finds an account as payer in the graph, and on any side in the table', () => {
    const times = new Set(rows(7).map((row) => row.event_ts ?? row['p.event_ts']));
    expect(hyperedges(6).length).toBeGreaterThan(5);
    expect(hyperedges(6).filter(({ event_ts }) => !times.has(event_ts))).toEqual([]);
    expect(rows(7).length).toBeGreaterThan(hyperedges(6).length);
  });

  it('counts and adds up in the table', async () => {
    const sql =
      "SELECT count(*)::int, sum(amount)::float8 FROM payments WHERE paid_at >= '2024-02-01Z' AND paid_at < '2024-03-01Z'";
    const [[count, sum]] = (await postgres!.run(sql)) as [[number, number]];
    expect(rows(8)[0]!['COUNT(*)']).toBe(count);
    expect(rows(8)[0]!['SUM(p.amount)']).toBeCloseTo(sum, 4);
  });
});
