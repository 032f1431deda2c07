// Kills an import with `kill -9` and continues with `--resume`. Every row is stored once, and every
// bad row is reported once. After every kill, each member of an edge is a node, and no number and
// no key belongs to two nodes. `HEDGEROW_IMPORT_KILLS=100` is the long form.
// `HEDGEROW_IMPORT_MB=2000` runs the memory test with a CSV file of 2000 MB; without this variable
// the memory test is skipped. Needs `dist/` (`npm run build`).

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { startServer } from '../http/support.ts';
import { MAIN } from '../service/child.ts';
import { checkNodes } from '../support/named-rows.ts';
import { Random } from '../support/random.ts';
import { gzip, keyRowsOf, lookInto, nodeRowsOf, TestWorld } from './support.ts';

const BUILT = existsSync(new URL('../../dist/cli/export/command.js', import.meta.url));
const KILLS = Number(process.env.HEDGEROW_IMPORT_KILLS ?? 2);
const MEGABYTES = Number(process.env.HEDGEROW_IMPORT_MB ?? 0);
/**
 * Enough rows that an import is still running when the test checks next, even on a busy machine.
 */
const ROWS = KILLS > 50 ? 96_000 : 48_000;
const BAD_EVERY = 1000;
/** Maximum number of batches that a kill waits for. An import has 480 or 960. */
const MOST_BATCHES = KILLS > 50 ? 5 : 20;

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

/** Row i has the time i, and every thousandth row is bad. New node names appear throughout. */
function csvText(rows: number): string {
  let text = 'ts,who,note\n';
  for (let i = 1; i <= rows; i++)
    text +=
      i % BAD_EVERY === 0 ? `x,n1,bad ${i}\n` : `${i},n${i % 7};n${i >> 4},"row ${i}${i % 50 === 0 ? '\nmore' : ''}"\n`;
  return text;
}

const FLAGS = [
  '--member-column',
  'who',
  '--ts-format',
  's',
  '--on-error',
  'skip',
  '--batch',
  '100',
  '--table',
  't',
  '--create',
];

/**
 * Runs an import. Returns its exit code, or null if the process was killed. `killWhen` is polled
 * every few milliseconds.
 */
async function run(
  args: readonly string[],
  killWhen?: () => boolean,
): Promise<{ code: number | null; err: string; out: string; peakKb: number }> {
  const child = spawn(process.execPath, [MAIN, 'import', ...args], {
    cwd: world.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [err, out, peakKb] = ['', '', 0];
  child.stderr.on('data', (piece) => (err += piece));
  child.stdout.on('data', (piece) => (out += piece));
  const timer = setInterval(() => {
    peakKb = Math.max(peakKb, residentKb(child.pid!));
    if (killWhen?.() === true) child.kill('SIGKILL');
  }, 4);
  const [code] = await once(child, 'close');
  clearInterval(timer);
  return { code: code as number | null, err, out, peakKb };
}

function residentKb(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Returns the number of the next batch in the progress file, or 0 without such a file. */
function batchNumber(input: string): number {
  try {
    return JSON.parse(readFileSync(world.path(`${input}.progress.json`), 'utf8')).number;
  } catch {
    return 0;
  }
}

/** Kills imports at random moments, and calls `look` after each. Returns the number of kills. */
async function importWithKills(
  input: string,
  target: readonly string[],
  seed: number,
  look: () => Promise<void>,
): Promise<number> {
  const random = new Random(seed);
  let kills = 0;
  for (let attempt = 0; attempt < KILLS; attempt++) {
    const from = batchNumber(input);
    const until = performance.now() + 60_000;
    const least = from + random.below(MOST_BATCHES + 1);
    let waits = random.below(10);
    const resume = existsSync(world.path(`${input}.progress.json`)) ? ['--resume'] : [];
    const killWhen = () => performance.now() > until || (batchNumber(input) >= least && waits-- <= 0);
    const { code, err } = await run([input, ...FLAGS, ...target, ...resume], killWhen);
    if (code === 0) return kills;
    expect(code, err).toBe(null);
    kills++;
    await look();
  }
  const resume = existsSync(world.path(`${input}.progress.json`)) ? ['--resume'] : [];
  const { code, err } = await run([input, ...FLAGS, ...target, ...resume]);
  expect(code, err).toBe(0);
  return kills;
}

function expectKills(kills: number): void {
  expect(kills).toBeGreaterThan(0);
  if (KILLS > 2) console.log(`${kills} kills`);
}

function expectWhole(database: Database, input: string): void {
  const expected = Array.from({ length: ROWS }, (_, i) => i + 1).filter((i) => i % BAD_EVERY !== 0);
  const rows = keyRowsOf(database, 't');
  expect(rows.map(({ event_ts }) => event_ts)).toEqual(expected);
  const names = nodeRowsOf(database, 't_node').map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(names)).toEqual(new Set(expected.flatMap((i) => [`n${i % 7}`, `n${i >> 4}`])));
  for (const { event_ts, members } of rows) {
    const i = event_ts as number;
    expect(new Set(members as string[])).toEqual(new Set([`n${i % 7}`, `n${i >> 4}`]));
  }
  const rejects = world.objects(`${input}.rejects.ndjson`).map(({ text }) => text);
  expect(rejects).toEqual(Array.from({ length: ROWS / BAD_EVERY }, (_, i) => `x,n1,bad ${(i + 1) * BAD_EVERY}`));
  expect(existsSync(world.path(`${input}.progress.json`))).toBe(false);
}

test.skipIf(!BUILT)(
  `${KILLS} kills of an import into a data directory leave no duplicates and no gaps`,
  async () => {
    world.file('rows.csv', csvText(ROWS));
    const look = async () => {
      if (existsSync(world.path('db'))) await lookInto(world.path('db'), checkNodes);
    };
    expectKills(await importWithKills('rows.csv', ['--data', 'db'], 1, look));
    await lookInto(world.path('db'), (database) => expectWhole(database, 'rows.csv'));
  },
  120_000 + KILLS * 30_000,
);

test.skipIf(!BUILT)(
  `${KILLS} kills of a compressed import into a server leave no duplicates and no gaps`,
  async () => {
    const server = await startServer();
    try {
      world.file('rows.csv.gz', gzip(csvText(ROWS)));
      const look = async () => checkNodes(server.database);
      expectKills(await importWithKills('rows.csv.gz', ['--url', server.url], 2, look));
      const { database } = server;
      expectWhole(database, 'rows.csv.gz');
    } finally {
      await server.close();
    }
  },
  120_000 + KILLS * 30_000,
);

test.skipIf(!BUILT || MEGABYTES === 0)(
  `a CSV of ${MEGABYTES} MB needs less than 300 MB of memory and is resumed after a kill`,
  async () => {
    const path = world.path('large.csv');
    const file = createWriteStream(path);
    file.write('ts,who,speed,note\n');
    let rows = 0;
    for (let bytes = 0; bytes < MEGABYTES * 1e6; ) {
      let text = '';
      for (let i = 0; i < 5000; i++, rows++)
        text += `${1_700_000_000 + (rows >> 3)},${rows % 9973};${(rows * 7) % 49_999};${(rows * 31) % 99_991},${(rows % 1000) / 8},"place ${rows % 97}"\n`;
      bytes += text.length;
      if (!file.write(text)) await once(file, 'drain');
    }
    file.end();
    await once(file, 'close');
    const flags = ['large.csv', '--table', 't', '--create', '--member-column', 'who', '--data', 'db'];
    const half = statSync(path).size / 2;
    const offset = () =>
      existsSync(`${path}.progress.json`)
        ? JSON.parse(readFileSync(`${path}.progress.json`, 'utf8')).position.offset
        : 0;
    let looks = 0;
    const first = await run(flags, () => looks++ % 50 === 0 && offset() > half);
    expect(first.code, first.err).toBe(null);
    const second = await run([...flags, '--resume']);
    expect(second.code, second.err).toBe(0);
    console.log({
      rows,
      peakMb: [first.peakKb, second.peakKb].map((kb) => Math.round(kb / 1024)),
      said: second.out.trim(),
    });
    expect(Math.max(first.peakKb, second.peakKb)).toBeLessThan(300 * 1024);
    rmSync(path);
    await lookInto(world.path('db'), (database) => {
      const counts = new Map<number, number>();
      const scan = database.table('t').scan({ format: 'ndjson' });
      let rest = '';
      for (let slice = scan.next(); slice !== null; slice = scan.next()) {
        const lines = (rest + Buffer.from(slice).toString()).split('\n');
        rest = lines.pop()!;
        for (const line of lines) {
          const ts = Number(/"event_ts":(\d+)/.exec(line)![1]);
          counts.set(ts, (counts.get(ts) ?? 0) + 1);
        }
      }
      expect([...counts.values()].filter((count) => count !== 8).length).toBe(0);
      expect(counts.size).toBe(rows / 8);
    });
  },
  7_200_000,
);
