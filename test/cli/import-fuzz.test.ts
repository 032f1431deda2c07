// Imports hostile files. Mutated CSV and HIF files give edges or a clear message, never a stack
// trace or an undocumented exit code. `HEDGEROW_FUZZ` sets how many files of each format are tried,
// and `HEDGEROW_SEED` sets the number of the first file.

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { importCommand } from '../../src/cli/import/command.ts';
import { Random } from '../support/random.ts';
import { lookInto, nodeRowsOf, rowsOf, TestWorld } from './support.ts';

const FILES = Number(process.env.HEDGEROW_FUZZ ?? 400);
const FIRST = Number(process.env.HEDGEROW_SEED ?? 1);
/** Only one file in this many is stored, because storing is slower. The others are dry runs. */
const STORED_IN = 10;

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

/** Reads the files below a folder next to this file, at most 4 KB of each. */
function seedsOf(folder: string, ending: RegExp): Buffer[] {
  const root = fileURLToPath(new URL(`${folder}/`, import.meta.url));
  return readdirSync(root, { recursive: true })
    .map(String)
    .filter((path) => ending.test(path))
    .sort()
    .map((path) => readFileSync(root + path).subarray(0, 4096));
}

const CSV_PIECES = [
  '"',
  '""',
  ',',
  ';',
  '\t',
  '\n',
  '\r',
  '\r\n',
  '\0',
  'sep=,\n',
  '\ufeff',
  'NULL',
  '1e999',
  '-0',
  '1.234,5',
  '2024-02-30',
  '14 Mär 2024',
  '99999999999999999999',
];
const HIF_PIECES = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '\\',
  '\\u',
  'null',
  '1e999',
  '-0',
  '1.5',
  '"edge":',
  '"node":1',
  '"attrs":{"event_ts":5}',
  '"__proto__":{}',
  '"constructor":1',
  '[['.repeat(300),
  '"direction":"head"',
];
const CSV_FLAGS: readonly Record<string, string | boolean>[] = [
  {},
  { header: false, tsColumn: 'column_1', memberColumns: 'column_2' },
  { columns: 'date,from,to' },
  { decimal: ',' },
  { encoding: 'utf-16le' },
  { encoding: 'shift_jis' },
  { tsFormat: '%d.%m.%y %Hh%M' },
  { ts: '5', memberColumn: 'from', separator: ' ' },
  { delimiter: ';', memberIds: 'number', maxRejects: '1' },
  { types: 'note=INTEGER', propertyColumns: 'note' },
];
const HIF_FLAGS: readonly Record<string, string | boolean>[] = [
  {},
  { ts: '5' },
  { tsColumn: 'timestamp' },
  { memberIds: 'number', ts: '1' },
];

/** Returns a copy with a few bytes changed, removed, duplicated or inserted. */
function mutated(seed: Buffer, pieces: readonly string[], random: Random): Buffer {
  let bytes = Buffer.from(seed);
  for (let change = random.below(6); change >= 0; change--) {
    const at = random.below(bytes.length + 1);
    const end = Math.min(bytes.length, at + random.below(20));
    const put = [
      Buffer.from([random.below(256)]),
      Buffer.alloc(0),
      Buffer.concat([bytes.subarray(at, end), bytes.subarray(at, end)]),
      Buffer.from(pieces[random.below(pieces.length)]!),
    ][random.below(4)]!;
    bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(random.chance(0.3) ? at : end)]);
  }
  return bytes;
}

test.each([
  ['csv', seedsOf('messy-csv', /\.[ct]sv$/), CSV_PIECES, CSV_FLAGS],
  ['hif', seedsOf('hif-suite', /\.json$/), HIF_PIECES, HIF_FLAGS],
] as const)('a mutated %s file gives edges or a sentence', async (format, seeds, pieces, choices) => {
  for (let number = FIRST; number < FIRST + FILES; number++) {
    const random = new Random(number);
    const bytes = mutated(seeds[random.below(seeds.length)]!, pieces, random);
    const isStored = number % STORED_IN === 0;
    const given = choices[random.below(choices.length)]!;
    const members = given.memberColumn === undefined && format === 'csv' ? { memberColumns: 'from,to' } : {};
    const onError = given.maxRejects === undefined && random.chance(0.5) ? { onError: 'skip' } : {};
    world.out = '';
    world.err = '';
    world.file('x', bytes);
    const flags = { data: 'db', table: 't', create: true, format, ...members, ...onError, ...given, dryRun: !isStored };
    const code = await importCommand(['x'], flags, world);
    const said = `${format} ${number}: exit code ${code}, ${JSON.stringify(flags)}\n${world.err}`;
    expect([0, 1, 2], said).toContain(code);
    if (code !== 0) expect(world.err, said).not.toBe('');
    for (const line of world.err.split('\n').slice(0, -1)) expect(line, said).toMatch(/^hedgerow: .*[.?)a-z\d]$/i);
    expect(world.err, said).not.toMatch(/\n\s+at |TypeError|RangeError|undefined|\[object/);
    if (isStored) await checkStored(said);
  }
});

/**
 * Checks that everything stored is an edge and that each node of an edge is in the node table.
 */
async function checkStored(said: string): Promise<void> {
  if (!existsSync(world.path('db'))) return;
  await lookInto(world.path('db'), (database) => {
    const tables = database.tables().map(({ name }) => name);
    if (!tables.includes('t')) return;
    const rows = rowsOf(database.table('t'));
    expect(
      rows.every(({ members }) => members.length > 0),
      said,
    ).toBe(true);
    if (database.table('t').kinds === undefined) return;
    const keys = nodeRowsOf(database, 't_node').map(({ name }) => name);
    expect(new Set(keys).size, said).toBe(keys.length);
    expect(
      rows.every(({ members }) => members.every((node) => keys.includes(database.nodes.shown(node, false)))),
      said,
    ).toBe(true);
  });
  for (const name of ['db', 'x.progress.json', 'x.rejects.ndjson'])
    rmSync(world.path(name), { recursive: true, force: true });
}
