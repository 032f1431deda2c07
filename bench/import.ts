// Imports files into a data directory and into a server, and measures the rate, the peak memory of
// the importing process, and resuming after kills.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MAIN, OPEN_SETTINGS, startServer, untilReady } from './http-load.ts';
import { type Rows, sumOf, writeRows } from './import-rows.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';
import type { Workspace } from './workspace.ts';

/**
 * Size of the CSV file in MB; `HEDGEROW_IMPORT_MB` overrides it. The NDJSON file has half that
 * size.
 */
const USUAL_MB = 200;
const TINY_MB = 0.5;
const LIMIT_MB = 300;
const KILLS = 3;
const LOOK_MS = 50;

interface Outcome {
  readonly code: number | null;
  readonly seconds: number;
  /** Peak resident size in MB; 0 where the system does not report it. */
  readonly peakMb: number;
}

/** An input file and what it contains. */
interface Given extends Rows {
  readonly path: string;
  readonly flags: readonly string[];
}

export async function runImport({ tiny, workspace, note }: PartOptions): Promise<BenchRow[]> {
  const bytes = (tiny ? TINY_MB : Number(process.env.HEDGEROW_IMPORT_MB ?? USUAL_MB)) * 2 ** 20;
  const base = workspace.fresh('import');
  const csv: Given = {
    path: `${base}.csv`,
    flags: ['--ts-column', 'ts', '--member-columns', 'a,b,c'],
    ...writeRows(`${base}.csv`, 'csv', bytes, 41),
  };
  const ndjson: Given = {
    path: `${base}.ndjson`,
    flags: [],
    ...writeRows(`${base}.ndjson`, 'ndjson', bytes / 2, 42),
  };
  note(`import: CSV of ${csv.rows} rows, ${csv.bytes} bytes; NDJSON of ${ndjson.rows} rows, ${ndjson.bytes} bytes`);
  const rows = [
    ...(await intoDirectory('CSV into a directory', csv, workspace)),
    ...(await intoServer('CSV into a server', csv, workspace)),
    ...(await intoDirectory('NDJSON into a directory', ndjson, workspace)),
    ...(await killedAndResumed(csv, workspace, note, tiny ? 1 : KILLS)),
  ];
  workspace.remove(csv.path);
  workspace.remove(ndjson.path);
  return rows;
}

async function intoDirectory(name: string, given: Given, workspace: Workspace): Promise<BenchRow[]> {
  const dir = workspace.fresh('imported');
  const outcome = await run(callOf(given, ['--data', dir]), workspace.dir);
  await check(name, dir, given);
  workspace.remove(dir);
  return rowsOf(name, outcome, given);
}

async function intoServer(name: string, given: Given, workspace: Workspace): Promise<BenchRow[]> {
  const dir = workspace.fresh('served');
  const server = await startServer(MAIN, ['serve', '--data', dir, '--port', '0'], { settings: OPEN_SETTINGS });
  let outcome: Outcome;
  try {
    await untilReady(server);
    outcome = await run(callOf(given, ['--url', server.url]), workspace.dir);
  } finally {
    await server.stop();
  }
  await check(name, dir, given);
  workspace.remove(dir);
  return rowsOf(name, outcome, given);
}

function rowsOf(name: string, { code, seconds, peakMb }: Outcome, { rows, bytes }: Given): BenchRow[] {
  if (code !== 0) throw new Error(`${name}: the import ended with ${code}`);
  const found = [
    benchRow({ name: `import ${name}`, unit: 'edges/s', ours: rows / seconds }),
    benchRow({ name: `import ${name}`, unit: 'MB/s', ours: bytes / 2 ** 20 / seconds }),
  ];
  if (peakMb === 0) return found;
  const target = { oursAtMost: LIMIT_MB };
  return [...found, benchRow({ name: `import ${name}: peak memory`, unit: 'MB', ours: peakMb, target })];
}

async function killedAndResumed(
  given: Given,
  workspace: Workspace,
  note: PartOptions['note'],
  wantedKills: number,
): Promise<BenchRow[]> {
  const dir = workspace.fresh('imported');
  const started = performance.now();
  let kills = 0;
  let peakMb = 0;
  for (let round = 0; ; round++) {
    // Each kill is at a different point of the file. A tiny import may finish before it is killed.
    const killAt = round < wantedKills ? 0.2 * (round + 1) : undefined;
    const call = [...callOf(given, ['--data', dir]), ...(round === 0 ? [] : ['--resume'])];
    const { code, peakMb: peak } = await run(call, workspace.dir, killAt);
    peakMb = Math.max(peakMb, peak);
    if (code === 0) break;
    if (code !== null) throw new Error(`the import ended with ${code} after ${kills} kills`);
    kills++;
  }
  const seconds = (performance.now() - started) / 1000;
  await check(`after ${kills} kills`, dir, given);
  workspace.remove(dir);
  note(`import: killed and resumed ${kills} times, without a duplicate or a gap`);
  const name = `import CSV, ${wantedKills} kills and --resume`;
  const rate = benchRow({ name, unit: 'edges/s', ours: given.rows / seconds });
  const target = { oursAtMost: LIMIT_MB };
  return peakMb === 0 ? [rate] : [rate, benchRow({ name: `${name}: peak memory`, unit: 'MB', ours: peakMb, target })];
}

function callOf({ path, flags }: Given, target: readonly string[]): string[] {
  return ['import', path, ...target, '--table', 't', '--create', ...flags];
}

async function check(name: string, dir: string, given: Rows): Promise<void> {
  const found = await sumOf(dir, 't');
  if (found.rows !== given.sum.rows || found.mix !== given.sum.mix)
    throw new Error(`${name}: the table holds ${JSON.stringify(found)}, the file ${JSON.stringify(given.sum)}`);
}

/**
 * Runs an import. With `killAt`, kills the process once its progress file reports that this share
 * of the file is in the table.
 */
function run(args: readonly string[], cwd: string, killAt?: number): Promise<Outcome> {
  const started = performance.now();
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  const progress = join(cwd, `${args[1]!.split('/').pop()}.progress.json`);
  let peakMb = 0;
  const timer = setInterval(() => {
    peakMb = Math.max(peakMb, peakOf(child));
    if (killAt !== undefined && shareOf(progress, args[1]!) >= killAt) child.kill('SIGKILL');
  }, LOOK_MS);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      clearInterval(timer);
      resolve({ code, seconds: (performance.now() - started) / 1000, peakMb });
    });
  });
}

function peakOf({ pid }: ChildProcess): number {
  return Number(/VmHWM:\s+(\d+)/.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;
}

/**
 * Returns the share of the file that is in the table, according to the progress file; 0 before that
 * file exists.
 */
function shareOf(progress: string, file: string): number {
  const found = /"offset": (\d+)/.exec(textOf(progress))?.[1] ?? 0;
  return Number(found) / statSync(file).size;
}

/** Returns the text of a file; empty if the file does not exist. */
function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
