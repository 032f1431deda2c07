// Kills a real process with SIGKILL, again and again. Each process starts from the state that the
// judge found after the previous kill.

import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../support/random.ts';
import { checkBackups } from './backups.ts';
import { HttpLives } from './http-life.ts';
import { judge } from './judge.ts';
import { Ledger } from './ledger.mjs';
import { startWriter } from './spoken.ts';

/** Number of kills after which a new directory is used. */
const KILLS_A_DIRECTORY = 10;
const LANES = 4;
/** Number of operations after which a writer only waits to be killed. */
const MOST_OPERATIONS = 4000;
const LONGEST_LIFE_MS = 500;
/** Number of kills between two checks of the backup archives. */
const KILLS_A_LOOK = 5;

export const KINDS: Readonly<Record<string, number>> = {
  insert: 40,
  delete: 8,
  transaction: 16,
  createTable: 3,
  dropTable: 2,
  addColumn: 2,
  dropColumn: 2,
  putDocument: 4,
  removeDocument: 3,
  createIndex: 1,
  dropIndex: 1,
  threshold: 1,
  ttl: 2,
  compact: 5,
  backup: 1,
};

export interface KillFigures {
  kills: number;
  acknowledged: number;
  /** Number of operations that were open at a kill and are stored completely. */
  found: number;
  /** Number of operations that were open at a kill and are not stored at all. */
  absent: number;
  rows: number;
  backups: number;
  /** Number of requests to the newest directory that were repeated with their Idempotency-Keys. */
  retried: number;
  slowestOpenMs: number;
}

/**
 * Kills a writer `kills` times, and judges the directory after each kill. With `service`, sends the
 * operations over HTTP to the built service instead of to an embedded database.
 */
export async function killLoop(
  kills: number,
  seed: number,
  service: boolean,
  progress: (figures: KillFigures) => void = () => undefined,
): Promise<KillFigures> {
  const figures = { kills: 0, acknowledged: 0, found: 0, absent: 0, rows: 0, backups: 0, retried: 0, slowestOpenMs: 0 };
  const random = new Random(seed);
  let home = '';
  let ledger = new Ledger();
  let lives: HttpLives | undefined;
  while (figures.kills < kills) {
    if (figures.kills % KILLS_A_DIRECTORY === 0) {
      if (home !== '') rmSync(home, { recursive: true });
      home = mkdtempSync(join(tmpdir(), 'hedgerow-kill-'));
      ledger = new Ledger();
      lives = service ? new HttpLives(`${home}/db`, ledger) : undefined;
    }
    const life = {
      seed: random.below(2 ** 31),
      delayMs: random.below(LONGEST_LIFE_MS),
      compact: random.below(4) === 0,
    };
    try {
      await oneLife({ home, ledger, lives }, life, figures);
    } catch (error) {
      throw new Error(`kill ${figures.kills} of seed ${seed}, directory ${home}: ${(error as Error).message}`, {
        cause: error,
      });
    }
    progress(figures);
  }
  rmSync(home, { recursive: true });
  return figures;
}

interface Place {
  home: string;
  ledger: Ledger;
  lives: HttpLives | undefined;
}

interface Life {
  seed: number;
  delayMs: number;
  /** Whether the judge compacts the database and compares it again. */
  compact: boolean;
}

async function oneLife({ home, ledger, lives }: Place, life: Life, figures: KillFigures): Promise<void> {
  const dir = `${home}/db`;
  const first = ledger.next;
  if (lives === undefined) await embeddedLife(home, ledger, life);
  else await lives.run(new Random(life.seed), life.delayMs);
  figures.kills++;
  figures.acknowledged += ledger.next - first - ledger.open.size;
  figures.retried = lives?.retried ?? 0;
  const begunMs = performance.now();
  const { rows, found, absent } = await judge(dir, ledger, {
    compact: life.compact,
    ...(lives === undefined ? {} : { names: lives.answers }),
  });
  figures.slowestOpenMs = Math.max(figures.slowestOpenMs, Math.round(performance.now() - begunMs));
  figures.rows += rows;
  figures.found += found;
  figures.absent += absent;
  const backups = lives === undefined ? `${home}/backups` : `${dir}/backups`;
  if (figures.kills % KILLS_A_LOOK === 0 && existsSync(backups)) {
    figures.backups += readdirSync(backups).length;
    await checkBackups(backups, `${home}/restored`);
  }
}

async function embeddedLife(home: string, ledger: Ledger, { seed, delayMs }: Life): Promise<void> {
  const task = { dir: `${home}/db`, backups: `${home}/backups`, expected: `${home}/expected.json` };
  const writer = startWriter({ ...task, seed, lanes: LANES, operations: MOST_OPERATIONS, kinds: KINDS }, ledger);
  if (await writer.word('ready')) await new Promise((resolve) => setTimeout(resolve, delayMs));
  writer.child.kill('SIGKILL');
  const end = await writer.end;
  if (end !== 'SIGKILL') throw new Error(`the writer ended with ${end}: ${writer.words.join()} ${writer.errors()}`);
  if (writer.refused.length > 0) throw new Error(`without a fault an operation was refused: ${writer.refused[0]}`);
}
