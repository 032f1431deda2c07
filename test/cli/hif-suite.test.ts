// The cases of the HIF test suite, one file each. Compliant files are imported, and non-compliant
// files are refused. The README.md next to the files lists the results; `HEDGEROW_WRITE_GOLDEN=1`
// rewrites it.

import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { importCommand } from '../../src/cli/import/command.ts';
import { HIF_SCHEMA } from './hif-schema.ts';
import { lookInto, rowsOf, TestWorld } from './support.ts';

const FOLDER = fileURLToPath(new URL('hif-suite/', import.meta.url));
const TABLE = `${FOLDER}README.md`;
const isHif = new Ajv({ strict: false }).compile(HIF_SCHEMA);

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

const filesOf = (folder: string) => readdirSync(FOLDER + folder).sort();
const rows: string[] = [];

async function imported(path: string): Promise<{ code: number; edges: object[]; tables: string[] }> {
  copyFileSync(FOLDER + path, world.path('x.json'));
  const code = await importCommand(['x.json'], { data: 'db', table: 't', create: true, ts: '2020-01-01' }, world);
  const said = world.err.replaceAll('\n', ' ').replaceAll('hedgerow: ', '').replaceAll('|', '\\|').trim();
  if (!existsSync(world.path('db'))) {
    rows.push(`| ${path} | ${code} | 0 | ${said} |`);
    return { code, edges: [], tables: [] };
  }
  const found = await lookInto(world.path('db'), (database) => ({
    edges: rowsOf(database.table('t')),
    tables: database.tables().map(({ name }) => name),
  }));
  rows.push(`| ${path} | ${code} | ${found.edges.length} | ${said} |`);
  return { code, ...found };
}

describe('valid files of the HIF suite', () => {
  test.each(filesOf('compliant'))('are imported: %s', async (file) => {
    const path = `compliant/${file}`;
    const document = JSON.parse(readFileSync(FOLDER + path, 'utf8'));
    expect(isHif(document)).toBe(true);
    const edges = new Set(document.incidences.map(({ edge }: { edge: string }) => edge));
    const found = await imported(path);
    expect(found.code, world.err).toBe(0);
    expect(found.edges).toMatchObject([...edges].map((edge) => ({ edge, event_ts: 1577836800 })));
  });
});

describe('invalid files of the HIF suite', () => {
  test.each(filesOf('non-compliant'))('are refused, and nothing is created: %s', async (file) => {
    const path = `non-compliant/${file}`;
    expect(isHif(JSON.parse(readFileSync(FOLDER + path, 'utf8')))).toBe(false);
    expect(await imported(path)).toEqual({ code: 1, edges: [], tables: [] });
    expect(world.err).toMatch(/^hedgerow: Not valid HIF: .*\.\n$/);
  });
});

test('the suite has 15 valid and 16 invalid files, and the README matches their results', () => {
  expect([filesOf('compliant').length, filesOf('non-compliant').length]).toEqual([15, 16]);
  const text = `${HEADING}${rows.join('\n')}\n`;
  if (process.env.HEDGEROW_WRITE_GOLDEN === '1') writeFileSync(TABLE, text);
  expect(readFileSync(TABLE, 'utf8')).toBe(text);
});

const HEADING = `# The cases of the HIF test suite

Each file has the name of a file in \`tests/test_files\` of the HIF standard, and the same fault or feature
(https://github.com/HIF-org/HIF-standard, formerly pszufe/HIF-standard; MIT licence, HIF development team). The documents were written from scratch for the published
schema, version 0.1.0 (\`../hif-schema.ts\`). The table lists the results of \`hedgerow import FILE --create --ts 2020-01-01\`; \`../hif-suite.test.ts\` compares
them, and rewrites this file with HEDGEROW_WRITE_GOLDEN=1.

| file | exit code | edges | what is said |
|---|---|---|---|
`;
