// A test environment for commands. It captures output, supplies input, and provides a temporary
// directory.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { World } from '../../src/cli/world.ts';
import { type Database, type EdgeRow, openDatabase, type Table } from '../../src/engine/index.ts';

export class TestWorld implements World {
  environment: Record<string, string> = {};
  readonly cwd = mkdtempSync(join(tmpdir(), 'hedgerow-cli-'));
  stdin: AsyncIterable<Uint8Array> = stream([]);
  out = '';
  err = '';
  interrupt: (() => void) | undefined;
  /** The signal that `interrupt` passes on. */
  signal = 'SIGINT';
  readonly stdout = {
    write: (text: string) => {
      this.out += text;
    },
  };
  readonly stderr = {
    write: (text: string) => {
      this.err += text;
    },
  };
  readonly now = () => performance.now();

  onInterrupt(callback: (signal: string) => void): () => void {
    this.interrupt = () => callback(this.signal);
    return () => {
      this.interrupt = undefined;
    };
  }

  onHangup(): () => void {
    return () => {};
  }

  path(name: string): string {
    return join(this.cwd, name);
  }

  file(name: string, content: string | Uint8Array): string {
    writeFileSync(this.path(name), content);
    return this.path(name);
  }

  /** Returns the objects of an NDJSON file. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every form.
  objects(name: string): any[] {
    const lines = readFileSync(this.path(name), 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
  }

  remove(): void {
    rmSync(this.cwd, { recursive: true, force: true });
  }
}

export async function* stream(pieces: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece);
}

export function gzip(content: string | Uint8Array): Buffer {
  return gzipSync(content);
}

/**
 * Returns `count` edges, one per line, numbered from `from` on. Edge i has the time i and the
 * members i % 100 and 1000 + i.
 */
export function edgeLines(count: number, from = 0): string {
  let text = '';
  for (let i = from; i < from + count; i++) text += `{"event_ts":${i},"members":[${i % 100},${1000 + i}]}\n`;
  return text;
}

export function rowsOf(table: Table): EdgeRow[] {
  const scan = table.scan({ format: 'ndjson' });
  let text = '';
  for (let slice = scan.next(); slice !== null; slice = scan.next()) text += Buffer.from(slice).toString();
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as EdgeRow);
}

/** Returns the nodes of a node table, in the order of their numbers. */
export function nodeRowsOf(database: Database, name: string): Record<string, unknown>[] {
  return rowsOf(database.nodes.table(name)) as unknown as Record<string, unknown>[];
}

/** Returns the rows of a table with its members as answers show them. */
export function keyRowsOf(database: Database, name: string): Record<string, unknown>[] {
  const table = database.table(name);
  const isNamed = table.kinds !== undefined;
  const asObjects = isNamed && table.kinds.length > 1;
  const shown = (numbers: readonly number[]) =>
    isNamed ? numbers.map((number) => database.nodes.shown(number, asObjects)) : numbers;
  return rowsOf(table).map((row) => {
    const keyed = { ...row, members: shown(row.members) } as Record<string, unknown>;
    if (!('roles' in row)) return keyed;
    const roles = Object.entries(row.roles as unknown as Record<string, number[]>);
    return { ...keyed, roles: Object.fromEntries(roles.map(([role, numbers]) => [role, shown(numbers)])) };
  });
}

/** Opens the directory, runs `look` and closes the directory. */
export async function lookInto<T>(dir: string, look: (database: Database) => T | Promise<T>): Promise<T> {
  const database = await openDatabase({ dir, memoryBudgetMb: 64 });
  try {
    return await look(database);
  } finally {
    await database.close();
  }
}
