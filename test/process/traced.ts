// Runs a phase under strace, which either lists the system calls of the phase, or makes one of them
// fail or kill the process. File work uses one thread, so that the counts are reproducible.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** System calls that change the disk or open files. */
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
  // Names of the same calls on other processors.
  'linkat',
  'renameat',
  'renameat2',
  'unlinkat',
  'mkdirat',
] as const;
export type Call = (typeof CALLS)[number];

/** A system call of the phase. */
export interface TracedCall {
  call: Call;
  /** Count of this call among the calls of the same name in the same thread, from 1. */
  when: number;
  /**
   * Whether the call works on a file. It is false for a `write` to a pipe, and for a `write` to the
   * eventfd that wakes libuv's loop. libuv aborts the process if the latter fails.
   */
  onFile: boolean;
}

/** Returns the reason why phases cannot be traced here, or undefined if they can. */
export function whyNoTrace(): string | undefined {
  const tried = spawnSync('strace', ['-f', '-o', '/dev/null', '-e', 'inject=fsync:error=EIO:when=1000', 'true'], {
    encoding: 'utf8',
  });
  if (tried.error !== undefined) return 'strace is not installed (apt-get install strace)';
  return tried.status === 0 ? undefined : `strace may not trace here: ${tried.stderr.trim()}`;
}

/** Environment variables of a traced process. */
export const TRACED: Readonly<Record<string, string>> = { UV_THREADPOOL_SIZE: '1' };

export function traceCommand(fault: string | undefined, output: string): string[] {
  const traced = fault === undefined ? [...CALLS, 'access', 'faccessat', 'faccessat2'] : CALLS;
  const calls = ['-e', `trace=${traced.map((name) => `?${name}`).join()}`];
  const inject = fault === undefined ? [] : ['-e', `inject=${fault}`];
  // With --seccomp-bpf, strace would not deliver the injected signals.
  const fast = fault?.includes('signal=') === true ? [] : ['--seccomp-bpf'];
  return ['strace', '-f', ...fast, '-qq', '-o', output, ...calls, ...inject, process.execPath];
}

/** Returns the calls between the begin and end marks of a trace. */
export function callsOf(trace: string): TracedCall[] {
  const counts = new Map<string, number>();
  const calls: TracedCall[] = [];
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
    const when = (counts.get(key) ?? 0) + 1;
    counts.set(key, when);
    if (inside && isCall(call)) calls.push({ call, when, onFile: !NOT_ON_FILE.test(line) });
  }
  return calls;
}

/** Matches a `write` to stdout or stderr, or a `write` of eight bytes, as for an eventfd. */
const NOT_ON_FILE = /^\d+\s+write\(([12],|\d+, .*, 8( <|\)))/;

function isCall(name: string): name is Call {
  return (CALLS as readonly string[]).includes(name);
}

/** Runs a command without a fault and returns its trace. */
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
