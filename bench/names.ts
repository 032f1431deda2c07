// Times tables whose members are nodes with names beside tables of the same edges with numbers:
// loading lines, reading ranges, looking up nodes; and the size of both on disk and of the keys in
// memory.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { markedPlanOf, openDatabase } from 'hedgerow';
import { randomFrom } from '../test/core/support/random.ts';
import type { Edge } from './dataset.ts';
import { alternate, timed } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';
import type { Hedgerow } from './stores.ts';

/** Size of the text of one commit, about that of an upload of 50,000 edges. */
const COMMIT_BYTES = 2 ** 22;
const PIECE_BYTES = 2 ** 16;
const NEWLINE = 10;
const KEYS = 1_000_000;
const MEGABYTE = 2 ** 20;

type Form = 'numbers' | 'names';

export async function runNames({ tiny, dataset, workspace }: PartOptions): Promise<BenchRow[]> {
  const { edges } = dataset;
  const texts: Record<Form, Buffer> = { numbers: linesOf(edges, String), names: linesOf(edges, keyText) };
  const incidences = edges.reduce((sum, { members }) => sum + members.length, 0);
  const dirs: Record<Form, string> = { numbers: '', names: '' };

  const load = async (form: Form): Promise<number> => {
    if (dirs[form] !== '') workspace.remove(dirs[form]);
    const dir = workspace.fresh(`names-${form}`);
    dirs[form] = dir;
    const database = await openDatabase({ dir });
    await makeTable(database, form);
    const ms = await timed(() => insertLines(database, texts[form]));
    await database.compact();
    await database.close();
    return (edges.length / ms) * 1000;
  };
  const [plainRate, namedRate] = await alternate(tiny ? 1 : 3, [() => load('numbers'), () => load('names')]);
  const bytes = { numbers: bytesIn(dirs.numbers), names: bytesIn(dirs.names) };

  const open = { numbers: await openDatabase({ dir: dirs.numbers }), names: await openDatabase({ dir: dirs.names }) };
  try {
    const rounds = tiny ? 1 : 5;
    const last = edges[edges.length - 1]!.event_ts;
    const [plainRows, namedRows] = await alternate(
      rounds,
      [() => rowsPerSecond(open.numbers, 'numbers', last), () => rowsPerSecond(open.names, 'names', last)],
      true,
    );
    const nodes = lookedUp(edges, tiny ? 50 : 20_000);
    const [plainLookups, namedLookups] = await alternate(
      rounds,
      [() => lookupsPerSecond(open.numbers, 'numbers', nodes), () => lookupsPerSecond(open.names, 'names', nodes)],
      true,
    );
    return [
      benchRow({
        name: 'load of lines, durable: members as texts, beside numbers',
        unit: 'edges/s',
        ours: namedRate!,
        peer: plainRate!,
        target: { ratioAtLeast: 0.6 },
      }),
      benchRow({
        name: 'all edges to JSON with names, beside numbers',
        unit: 'rows/s',
        ours: namedRows!,
        peer: plainRows!,
        target: { ratioAtLeast: 0.5 },
      }),
      benchRow({
        name: 'lookup of a node by its key (20 edges), beside its number',
        unit: 'lookups/s',
        ours: namedLookups!,
        peer: plainLookups!,
        target: { ratioAtLeast: 0.9 },
      }),
      benchRow({
        name: 'bytes on disk more than with numbers, per incidence',
        unit: 'bytes',
        ours: (bytes.names - bytes.numbers) / incidences,
        target: { oursAtMost: 12 },
      }),
      await dictionaryRow(workspace.fresh('names-keys'), tiny ? 1000 : KEYS),
    ];
  } finally {
    await open.numbers.close();
    await open.names.close();
  }
}

const keyText = (node: number): string => `"user-${node}"`;

function linesOf(edges: readonly Edge[], memberText: (node: number) => string): Buffer {
  const lines = edges.map(
    ({ event_ts, members }) => `{"event_ts":${event_ts},"members":[${members.map(memberText)}]}\n`,
  );
  return Buffer.from(lines.join(''));
}

async function makeTable(database: Hedgerow, form: Form): Promise<void> {
  if (form === 'names') await database.nodes.createTable({ name: 'User', key: { name: 'name', type: 'TEXT' } });
  await database.createTable({ name: 'posts', memberTables: form === 'names' ? ['User'] : [] });
}

/** Inserts lines as the service does with the body of an upload, in commits of some megabytes. */
async function insertLines(database: Hedgerow, text: Buffer): Promise<void> {
  const table = database.table('posts');
  for (let from = 0; from < text.length; ) {
    const end = wholeLines(text, from, COMMIT_BYTES);
    const bulk = table.bulk();
    while (from < end) {
      const piece = text.subarray(from, wholeLines(text, from, Math.min(PIECE_BYTES, end - from)));
      const { bytes } = bulk.addLines(piece);
      if (bytes !== piece.length) throw new Error(`a line is not read: ${piece.subarray(bytes, bytes + 100)}`);
      from += bytes;
    }
    await bulk.commit();
  }
}

function wholeLines(text: Buffer, from: number, bytes: number): number {
  return from + bytes >= text.length ? text.length : text.lastIndexOf(NEWLINE, from + bytes - 1) + 1;
}

function rowsPerSecond(database: Hedgerow, form: Form, endTs: number): number {
  const begunMs = performance.now();
  const { rows } = readAll(database, form, { endTs });
  return (rows / (performance.now() - begunMs)) * 1000;
}

function readAll(
  database: Hedgerow,
  form: Form,
  bounds: { endTs?: number; nodes?: readonly number[]; limit?: number },
): { rows: number; bytes: number } {
  const table = database.table('posts');
  const isNamed = form === 'names';
  const scan = table.scan({
    format: 'json',
    rows: isNamed ? markedPlanOf(table.columns, table.definition) : undefined,
    keys: isNamed ? 'keys' : undefined,
    ...bounds,
  });
  let bytes = 0;
  for (let slice = scan.borrowNext(); slice !== null; slice = scan.borrowNext()) bytes += slice.length;
  const { rows } = scan;
  scan.close();
  return { rows, bytes };
}

/** Returns nodes of random edges, so that frequent nodes are looked up often. */
function lookedUp(edges: readonly Edge[], count: number): number[] {
  const random = randomFrom(7);
  return Array.from({ length: count }, () => {
    const { members } = edges[random.below(edges.length)]!;
    return members[random.below(members.length)]!;
  });
}

function lookupsPerSecond(database: Hedgerow, form: Form, nodes: readonly number[]): number {
  const user = form === 'names' ? database.nodes.table('User') : undefined;
  const keys = nodes.map((node) => `user-${node}`);
  const begunMs = performance.now();
  for (const [place, node] of nodes.entries()) {
    const number = user === undefined ? node : database.nodes.find(user, keys[place]!);
    if (readAll(database, form, { nodes: [number], limit: 20 }).rows === 0) throw new Error(`no edge has node ${node}`);
  }
  return (nodes.length / (performance.now() - begunMs)) * 1000;
}

function bytesIn(dir: string): number {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.hgs'))
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

/** Measures the memory of the keys of nodes that no edge has yet. */
async function dictionaryRow(dir: string, count: number): Promise<BenchRow> {
  const database = await openDatabase({ dir });
  try {
    await makeTable(database, 'names');
    const before = database.health().charged_bytes;
    const step = 10_000;
    for (let from = 0; from < count; from += step) {
      const bulk = database.table('posts').bulk();
      for (let node = from; node < Math.min(count, from + step); node += 4) {
        const members = [0, 1, 2, 3].map((place) => `u${String(node + place).padStart(11, '0')}`);
        bulk.add({ event_ts: node, members });
      }
      await bulk.commit();
    }
    const ours = (database.health().charged_bytes - before) / MEGABYTE;
    return benchRow({
      name: `keys of ${count} nodes of 12 bytes, in memory`,
      unit: 'MB',
      ours,
      target: { oursAtMost: 60 },
    });
  } finally {
    await database.close();
  }
}
