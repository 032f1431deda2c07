// Runs a phase under strace: counts its system calls, or makes one of them fail or kill. One thread for file work, so that counts repeat.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Calls that change what is on the disk, and those that open it. */
export const CALLS = [
  'openat',
  'write',
  'pwrite64',
  'fdatasync',
  'fsync',
  'rename',
  'link',
  'unlink',
  'ftruncate',
  'mkdir',
  'rmdir',
] as const;
export type Call = (typeof CALLS)[number];

/** Calls `call` of one thread, from number `from` up to `to`, both included. */
export interface CallRange {
  call: Call;
  from: number;
  to: number;
}

/** Why phases cannot be traced here; undefined: they can. */
export function whyNoTrace(): string | undefined {
  const tried = spawnSync('strace', ['-f', '-o', '/dev/null', '-e', 'inject=fsync:error=EIO:when=1000', 'true'], {
    encoding: 'utf8',
  });
  if (tried.error !== undefined) return 'strace is not installed (apt-get install strace)';
  return tried.status === 0 ? undefined : `strace may not trace here: ${tried.stderr.trim()}`;
}

/** The environment of a traced process. */
export const TRACED: Readonly<Record<string, string>> = { UV_THREADPOOL_SIZE: '1' };

export function traceCommand(fault: string | undefined, output: string): string[] {
  const calls = ['-e', `trace=${CALLS.join()}${fault === undefined ? ',faccessat2,access,faccessat' : ''}`];
  const inject = fault === undefined ? [] : ['-e', `inject=${fault}`];
  // With --seccomp-bpf strace does not send the signals that it is asked to inject.
  const fast = fault?.includes('signal=') === true ? [] : ['--seccomp-bpf'];
  return ['strace', '-f', ...fast, '-qq', '-o', output, ...calls, ...inject, process.execPath];
}

/** Which calls of which thread lie between the marks of a trace. */
export function rangesOf(trace: string): CallRange[] {
  const counts = new Map<string, number>();
  const ranges = new Map<string, CallRange>();
  let inside = false;
  for (const line of trace.split('\n')) {
    const found = /^(\d+)\s+(\w+)\(/.exec(line);
    if (found === null) continue;
    const [, thread, call] = found as unknown as [string, string, string];
    if (line.includes('/hedgerow-mark-')) {
      inside = line.includes('mark-begin');
      continue;
    }
    const key = `${thread} ${call}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (!inside || !isCall(call)) continue;
    const range = ranges.get(key);
    if (range === undefined) ranges.set(key, { call, from: count, to: count });
    else range.to = count;
  }
  return [...ranges.values()];
}

function isCall(name: string): name is Call {
  return (CALLS as readonly string[]).includes(name);
}

/** The trace of a command that runs undisturbed. */
export function dryRun(words: readonly string[]): string {
  const home = mkdtempSync(join(tmpdir(), 'hedgerow-trace-'));
  try {
    const output = `${home}/trace`;
    const [program, ...rest] = [...traceCommand(undefined, output), ...words];
    const run = spawnSync(program!, rest, { encoding: 'utf8', env: { PATH: process.env.PATH ?? '', ...TRACED } });
    if (run.status !== 0 || !run.stdout.includes('ended'))
      throw new Error(`the dry run failed: ${run.stdout} ${run.stderr}`);
    return readFileSync(output, 'utf8');
  } finally {
    rmSync(home, { recursive: true });
  }
}
