// Kills a process with SIGKILL at random moments of an import and of its compactions. Every
// acknowledged batch must be complete, and no batch or transaction may be partly present. With
// `HEDGEROW_KILLS=100` the process is killed 100 times. Needs `dist/` (`npm run build`).

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/engine/index.ts';
import { Random } from '../support/random.ts';
// @ts-expect-error: plain JavaScript, shared with the importer
import { batchRows, edgeOf, isDeleted } from './edges.mjs';

const KILLS = Number(process.env.HEDGEROW_KILLS ?? 4);
const SEED = Number(process.env.HEDGEROW_KILL_SEED ?? 1);
/** Number of kills with the same directory before a new directory is used. */
const KILLS_A_DIRECTORY = 8;
const HERE = fileURLToPath(new URL('.', import.meta.url));
const BUILT = existsSync(new URL('../../dist/engine/index.js', import.meta.url));

/** What the importers of one directory have reported. */
interface Said {
  /** The last id of each acknowledged batch. */
  batches: Map<number, number>;
  deleted: Set<number>;
  /** Whether a compaction was running at the kill. */
  compacting: boolean;
  done: boolean;
}

interface Row {
  id: number;
  event_ts: number;
  members: number[];
  weight: number;
  formation: string | null;
}

test.skipIf(!BUILT)(
  `${KILLS} kills lose nothing that was acknowledged`,
  async () => {
    const random = new Random(SEED);
    const seen = { kills: 0, inCompaction: 0, inImport: 0, rows: 0, unacknowledged: 0, slowestOpenMs: 0 };
    let directory = '';
    let said: Said = nothing();
    let next = 0;
    try {
      for (let kill = 0; kill < KILLS; kill++) {
        if (kill % KILLS_A_DIRECTORY === 0) {
          if (directory !== '') rmSync(directory, { recursive: true });
          directory = mkdtempSync(join(tmpdir(), 'hedgerow-kill-'));
          said = nothing();
          next = 0;
        }
        await importAndKill(directory, next, said, random, kill % 2 === 1);
        seen.kills++;
        if (said.compacting) seen.inCompaction++;
        else if (!said.done) seen.inImport++;
        const begun = performance.now();
        const database = await openDatabase({ dir: directory, memoryBudgetMb: 64 });
        seen.slowestOpenMs = Math.max(seen.slowestOpenMs, Math.round(performance.now() - begun));
        const found = check(database, said);
        seen.rows += found.rows;
        seen.unacknowledged += found.unacknowledged;
        next = found.next;
        if (random.chance(0.3)) {
          await database.compact({});
          check(database, said);
        }
        await database.close();
      }
    } catch (error) {
      throw new Error(`kill ${seen.kills} (seed ${SEED}) in ${directory}: ${(error as Error).message}`, {
        cause: error,
      });
    }
    rmSync(directory, { recursive: true });
    if (KILLS > 20) console.log(seen);
    expect(seen.rows).toBeGreaterThan(0);
    if (KILLS > 20) expect(seen.inCompaction).toBeGreaterThan(KILLS / 10);
  },
  KILLS * 20_000,
);

function nothing(): Said {
  return { batches: new Map(), deleted: new Set(), compacting: false, done: false };
}

/**
 * Runs an importer from batch `first` on and kills it a random time after it is ready or, if
 * `inCompaction`, a shorter random time after one of the first compactions has begun.
 */
async function importAndKill(
  directory: string,
  first: number,
  said: Said,
  random: Random,
  inCompaction: boolean,
): Promise<void> {
  const child = spawn(
    process.execPath,
    [join(HERE, 'importer.mjs'), directory, String(first), String(inCompaction ? 5 + random.below(20) : 0)],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  said.compacting = false;
  said.done = false;
  const delayMs = inCompaction ? random.below(60) : random.below(600);
  let errors = '';
  child.stderr!.on('data', (text) => {
    errors += text;
  });
  const wanted = inCompaction ? 'c' : 'ready';
  let left = inCompaction ? 1 + random.below(4) : 1;
  await new Promise<void>((resolve, reject) => {
    let rest = '';
    child.stdout!.on('data', (text) => {
      const lines = `${rest}${text}`.split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        note(said, line);
        if (line === wanted && --left === 0) setTimeout(() => child.kill('SIGKILL'), delayMs);
        else if (line === 'done') setTimeout(() => child.kill('SIGKILL'), delayMs);
      }
    });
    child.on('close', () => (wasKilled(child) ? resolve() : reject(new Error(`the importer ended: ${errors}`))));
  });
}

function wasKilled(child: ChildProcess): boolean {
  return child.signalCode === 'SIGKILL';
}

function note(said: Said, line: string): void {
  const [what, batch, lastId] = line.split(' ');
  if (what === 'b') said.batches.set(Number(batch), Number(lastId));
  else if (what === 'd') said.deleted.add(Number(batch));
  else if (what === 'c' || what === 'e') said.compacting = what === 'c';
  else if (what === 'done') said.done = true;
}

/**
 * Checks that every row was written by the importer and exists once. Acknowledged batches must be
 * complete, and others complete or absent. The same holds for deletions.
 */
function check(database: Database, said: Said): { rows: number; unacknowledged: number; next: number } {
  const slices: Uint8Array[] = [];
  const scan = database.table().scan({ format: 'ndjson' });
  for (let slice = scan.next(); slice !== null; slice = scan.next()) slices.push(slice);
  const rows: Row[] = Buffer.concat(slices)
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  const batches = new Map<number, Row[]>();
  const ids = new Set<number>();
  let before: Row | undefined;
  for (const row of rows) {
    if (before && (before.event_ts > row.event_ts || (before.event_ts === row.event_ts && before.id >= row.id)))
      throw new Error(`row ${row.id} is out of order`);
    before = row;
    ids.add(row.id);
    const batch = Math.floor(row.weight / 1000);
    const list = batches.get(batch) ?? [];
    list.push(row);
    batches.set(batch, list);
  }
  if (ids.size !== rows.length) throw new Error('an id occurs twice');
  let unacknowledged = 0;
  for (const batch of said.batches.keys())
    if (!batches.has(batch) && survivors(batch, true).length > 0)
      throw new Error(`batch ${batch} was acknowledged and is missing`);
  for (const [batch, found] of batches) {
    if (!said.batches.has(batch)) unacknowledged++;
    checkBatch(batch, found, said);
  }
  return { rows: rows.length, unacknowledged, next: Math.max(-1, ...batches.keys(), ...said.batches.keys()) + 1 };
}

function survivors(batch: number, deleted: boolean): number[] {
  const places: number[] = [];
  for (let index = 0; index < batchRows(batch); index++) if (!deleted || !isDeleted(index)) places.push(index);
  return places;
}

function checkBatch(batch: number, found: Row[], said: Said): void {
  found.sort((a, b) => a.weight - b.weight);
  const deleted = found.length !== batchRows(batch) || batchRows(batch) === 0;
  if (said.deleted.has(batch) && !deleted)
    throw new Error(`the edges of batch ${batch} are present, although their deletion was acknowledged`);
  const places = survivors(batch, deleted);
  if (found.length !== places.length)
    throw new Error(`batch ${batch} is incomplete: ${found.length} rows, not ${places.length}`);
  const lastId = said.batches.get(batch);
  const firstId = (lastId ?? found[0]!.id - places[0]! + batchRows(batch) - 1) - batchRows(batch) + 1;
  for (const [order, place] of places.entries()) {
    const edge = edgeOf(batch, place);
    const wanted = {
      id: firstId + place,
      event_ts: edge.event_ts,
      members: [...edge.members].sort((a: number, b: number) => a - b),
      weight: edge.properties.weight,
      mean_dist_m: null,
      formation: edge.properties.formation,
    };
    if (JSON.stringify(found[order]) !== JSON.stringify(wanted))
      throw new Error(`batch ${batch}: ${JSON.stringify(found[order])}, not ${JSON.stringify(wanted)}`);
  }
}
