// Runs each phase (a piece of database work) repeatedly on a copy of one directory. Each time,
// another system call fails or kills the process, and then the judge checks the directory.
//
// strace counts calls per thread. A fault at count n therefore hits the first thread that makes its
// n-th call of that name. The loop tries, once each, the counts that any thread of the phase
// reaches.

import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadCore } from '../../src/core/index.ts';
import { Random } from '../support/random.ts';
import { judge, must } from './judge.ts';
import { Ledger } from './ledger.mjs';
import { listen, startWriter } from './spoken.ts';
import { callsOf, dryRun, TRACED, type TracedCall, traceCommand } from './traced.ts';

export const PHASES = [
  'commit',
  'rotation',
  'transaction',
  'compaction',
  'ttl',
  'alter',
  'backup',
  'restore',
  'open',
  'close',
  'commits',
] as const;
export type Phase = (typeof PHASES)[number];

export interface Fault {
  phase: Phase;
  /** The fault in the `inject=` syntax of strace. */
  inject: string;
}

export interface SyscallFigures {
  runs: number;
  killed: number;
  /** Number of runs in which an operation, the opening or a restore was refused. */
  refused: number;
  failures: string[];
}

interface Start {
  home: string;
  ledger: Ledger;
}

const SCRIPT = fileURLToPath(new URL('phases.mjs', import.meta.url));
const MOST_MS = 30_000;
/**
 * Number of bytes that a short write reports. strace skips the write itself, so a number above 0
 * would report bytes that were not written.
 */
const SHORT_BYTES = 0;
const FIRST_KINDS = { insert: 30, delete: 4, transaction: 8, createTable: 1, addColumn: 1, putDocument: 2, compact: 2 };

/**
 * Makes a directory with segments, a log of several files, documents and kept answers. Makes a
 * backup next to it.
 */
async function makeStart(seed: number): Promise<Start> {
  const home = mkdtempSync(join(tmpdir(), 'hedgerow-syscalls-'));
  const ledger = new Ledger();
  const task = { dir: `${home}/db`, backups: `${home}/backups`, expected: `${home}/expected.json`, seed, lanes: 1 };
  for (const [operations, kinds] of [
    [60, FIRST_KINDS],
    [1, { backup: 1 }],
    [20, FIRST_KINDS],
  ] as const) {
    const writer = startWriter({ ...task, operations, kinds, inline: true }, ledger);
    await writer.word('done');
    writer.child.stdin!.end('close\n');
    const end = await writer.end;
    must(
      end === '0' && writer.refused.length === 0,
      `the first writer ended with ${end}: ${writer.refused} ${writer.errors()}`,
    );
  }
  return { home, ledger };
}

function copyOf({ home }: Start, ledger: Ledger): string {
  const copy = `${home}/copy`;
  rmSync(copy, { recursive: true, force: true });
  cpSync(`${home}/db`, `${copy}/db`, { recursive: true });
  cpSync(`${home}/backups`, `${copy}/backups`, { recursive: true });
  writeFileSync(`${copy}/expected.json`, JSON.stringify(ledger));
  return copy;
}

function wordsOf(copy: string, phase: Phase): string[] {
  const task = { phase, dir: `${copy}/db`, backups: `${copy}/backups`, expected: `${copy}/expected.json` };
  return [SCRIPT, JSON.stringify({ ...task, target: `${copy}/target` })];
}

function freshLedger({ ledger }: Start): Ledger {
  return new Ledger(JSON.parse(JSON.stringify(ledger)));
}

/** Returns every fault of a phase that hits one of these calls. */
function faultsOf(phase: Phase, calls: readonly TracedCall[]): Fault[] {
  const faults = new Set<string>();
  for (const { call, when, onFile } of calls) {
    if (phase === 'commits') {
      // A group of commits is one `pwrite64` that also syncs.
      if (call === 'fdatasync' || call === 'pwrite64') faults.add(`${call}:error=EIO:when=${when}`);
      continue;
    }
    faults.add(`${call}:signal=SIGKILL:when=${when}`);
    if (!onFile || call === 'openat') continue;
    faults.add(`${call}:error=EIO:when=${when}`);
    if (!call.endsWith('sync')) faults.add(`${call}:error=ENOSPC:when=${when}`);
    if (call === 'pwrite64') faults.add(`${call}:retval=${SHORT_BYTES}:when=${when}`);
  }
  return [...faults].map((inject) => ({ phase, inject }));
}

/** Runs about `sample` of the faults of the phases, or all if there are fewer. */
export async function syscallLoop(
  phases: readonly Phase[],
  seed: number,
  sample: number,
  progress: (figures: SyscallFigures, of: number) => void = () => undefined,
): Promise<SyscallFigures> {
  const start = await makeStart(seed);
  const figures: SyscallFigures = { runs: 0, killed: 0, refused: 0, failures: [] };
  const random = new Random(seed);
  const all = phases.flatMap((phase) => faultsOf(phase, callsOf(dryRun(wordsOf(copyOf(start, start.ledger), phase)))));
  const share = Math.min(1, sample / all.length);
  const chosen = all.filter(() => random.chance(share));
  for (const fault of chosen) {
    try {
      await runOne(start, fault, figures);
    } catch (error) {
      figures.failures.push(`${fault.phase} ${fault.inject} (seed ${seed}): ${(error as Error).message}`);
    }
    figures.runs++;
    progress(figures, chosen.length);
  }
  rmSync(start.home, { recursive: true });
  return figures;
}

async function runOne(start: Start, { phase, inject }: Fault, figures: SyscallFigures): Promise<void> {
  const ledger = freshLedger(start);
  const copy = copyOf(start, ledger);
  const run = listen([...traceCommand(inject, '/dev/null'), ...wordsOf(copy, phase)], ledger, TRACED);
  const timer = setTimeout(() => run.child.kill('SIGKILL'), MOST_MS);
  const end = await run.end;
  const hung = !clearInTime(timer);
  must(!hung, `the process hung: ${run.words.join()} ${run.refused.join()}`);
  // libuv aborts the process if the write that wakes its loop fails. For the database, this is the
  // same as a kill.
  const aborted = inject.startsWith('write:error') && run.errors() === '' && !run.words.includes('ended');
  const killed = inject.includes('SIGKILL') && !run.words.includes('ended');
  if (killed || aborted) figures.killed++;
  else must(run.words.includes('ended'), `the process ended with ${end}: ${run.errors().slice(0, 2000)}`);
  if (run.refused.length > 0 || run.words.some((word) => /^(closed|refused)/.test(word))) figures.refused++;
  const untyped = run.refused.find((line) => / \| +at /.test(line));
  must(untyped === undefined, `an answer has a stack: ${untyped}`);
  if (phase === 'restore') await judgeRestored(copy, run.words.includes('restored'));
  await judge(`${copy}/db`, ledger, { compact: false });
}

function clearInTime(timer: NodeJS.Timeout): boolean {
  const fired = (timer as unknown as { _destroyed: boolean })._destroyed;
  clearTimeout(timer);
  return !fired;
}

/**
 * Checks a restore. A target with a manifest must hold all rows, and after an acknowledged restore
 * it must have one. A target without a manifest must be restorable again.
 */
async function judgeRestored(copy: string, acknowledged: boolean): Promise<void> {
  const target = `${copy}/target`;
  const { nodeFs } = await import('../../src/storage/node-fs.ts');
  const { restoreBackup } = await import('../../src/engine/backup/restore.ts');
  const { makeChecksum } = await import('../../src/core/index.ts');
  const { openDatabase } = await import('../../src/engine/index.ts');
  const core = loadCore();
  const name = readdirSync(`${copy}/backups`).find((each) => each.endsWith('.tar.gz'))!;
  const restore = (dir: string) =>
    restoreBackup({
      ...{ fs: nodeFs, crc32c: makeChecksum(core.instantiate()), core, file: `${copy}/backups/${name}`, dir },
      progress: () => undefined,
      checkStopped: () => undefined,
    });
  await restore(`${copy}/whole`);
  const wanted = await rowCounts(`${copy}/whole`);
  if (!acknowledged && !existsSync(`${target}/manifest`)) {
    rmSync(target, { recursive: true, force: true });
    await restore(target);
  }
  const found = await rowCounts(target);
  must(found === wanted, `the restored directory holds ${found}, not ${wanted}`);

  async function rowCounts(dir: string): Promise<string> {
    const database = await openDatabase({ dir, memoryBudgetMb: 32 });
    try {
      return database
        .tables()
        .map((table) => `${table.name} ${table.rowCount}`)
        .join();
    } finally {
      await database.close();
    }
  }
}
