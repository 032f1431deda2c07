// Runs a writer in its own process, and enters each line that the writer prints into the ledger at
// once.

import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Ledger, Operation } from './ledger.mjs';

export const WRITER = fileURLToPath(new URL('writer.mjs', import.meta.url));

export interface WriterTask {
  dir: string;
  /** File to which `startWriter` writes the ledger for the writer. */
  expected: string;
  seed: number;
  lanes: number;
  operations: number;
  kinds: Readonly<Record<string, number>>;
  backups: string;
  /** Whether compactions run on the main thread. */
  inline?: boolean;
}

export interface Spoken {
  readonly child: ChildProcess;
  /** Lines that begin with `f`, one for each operation that was refused. */
  readonly refused: string[];
  /** All lines that report no operation, such as `ready`, `done` and `closed <why>`. */
  readonly words: string[];
  readonly errors: () => string;
  /** Resolves with the exit code, or with the signal that ended the process. */
  readonly end: Promise<string>;
  /** Resolves with true at the next word that starts with `start`, or with false at the end. */
  word(start: string): Promise<boolean>;
}

/** Starts the writer under `command` (default: node), with the task as its last argument. */
export function startWriter(
  task: WriterTask,
  ledger: Ledger,
  command: readonly string[] = [process.execPath],
  environment: Readonly<Record<string, string>> = {},
): Spoken {
  writeFileSync(task.expected, JSON.stringify(ledger));
  return listen([...command, WRITER, JSON.stringify(task)], ledger, environment);
}

export function listen(
  command: readonly string[],
  ledger: Ledger,
  environment: Readonly<Record<string, string>> = {},
): Spoken {
  const child = spawn(command[0]!, command.slice(1), {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH ?? '', ...environment },
  });
  const refused: string[] = [];
  const words: string[] = [];
  const waits = new Set<() => void>();
  let errors = '';
  let rest = '';
  let ended = false;
  child.stdin!.on('error', () => undefined); // the process was killed
  child.stderr!.on('data', (text) => {
    errors += text;
  });
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop()!;
    for (const line of lines) note(ledger, line, refused, words);
    for (const wake of waits) wake();
  });
  const end = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => {
      ended = true;
      for (const wake of waits) wake();
      resolve(signal ?? String(code));
    });
  });
  let heard = 0;
  const word = (start: string): Promise<boolean> =>
    new Promise((resolve) => {
      const look = () => {
        while (heard < words.length) {
          if (!words[heard++]!.startsWith(start)) continue;
          waits.delete(look);
          resolve(true);
          return;
        }
        if (!ended) return;
        waits.delete(look);
        resolve(false);
      };
      waits.add(look);
      look();
    });
  return { child, refused, words, errors: () => errors, end, word };
}

function note(ledger: Ledger, line: string, refused: string[], words: string[]): void {
  const [what, n, ids] = line.split(' ');
  if (what === 'b') ledger.begin(JSON.parse(line.slice(2)) as Operation);
  else if (what === 'a')
    ledger.apply(
      Number(n),
      (JSON.parse(ids!) as (number | null)[]).map((id) => id ?? undefined),
    );
  else if (what === 'f') {
    refused.push(line);
    // `disk_full` means that nothing was applied, unless the log failed and a restart is needed.
    // The judge relies on this.
    if (ids === 'disk_full' && !line.includes('restart')) ledger.forget(Number(n));
  } else words.push(line);
}
