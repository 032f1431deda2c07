// Imports messy CSV files that users have. Each must give the result that `messy-csv.ts` lists. The
// README.md next to the files shows the results; `HEDGEROW_WRITE_GOLDEN=1` rewrites it.

import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { importCommand } from '../../src/cli/import/command.ts';
import { MESSY_CASES, type MessyCase } from './messy-csv.ts';
import { keyRowsOf, lookInto, TestWorld } from './support.ts';

const FOLDER = fileURLToPath(new URL('messy-csv/', import.meta.url));
const TABLE = `${FOLDER}README.md`;
const EVERY_EDGE = ['id', 'event_ts', 'members'];

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

interface Outcome {
  readonly code: number;
  readonly edges: readonly string[];
  readonly rejected: number;
}

async function outcomeOf({ file, flags }: MessyCase): Promise<Outcome> {
  copyFileSync(FOLDER + file, world.path(file));
  const all = { data: 'db', table: 't', create: true, memberColumns: 'from,to', ...flags };
  const code = await importCommand([file], all, world);
  const rejects = world.path(`${file}.rejects.ndjson`);
  return {
    code,
    edges: existsSync(world.path('db')) ? await edgesOfTable() : [],
    rejected: existsSync(rejects) ? world.objects(`${file}.rejects.ndjson`).length : 0,
  };
}

async function edgesOfTable(): Promise<string[]> {
  return lookInto(world.path('db'), (database) => {
    const tables = database.tables().map(({ name }) => name);
    if (!tables.includes('t')) return [];
    return keyRowsOf(database, 't').map((row) => {
      const time = new Date((row.event_ts as number) * 1000)
        .toISOString()
        .replace('.000Z', '')
        .replace('T00:00:00', '');
      const nodes = (row.members as unknown[]).map(String).sort();
      const properties = Object.entries(row).filter(([name, value]) => !EVERY_EDGE.includes(name) && value !== null);
      return [time, nodes.join('+'), ...properties.map(([name, value]) => `${name}=${JSON.stringify(value)}`)].join(
        ' ',
      );
    });
  });
}

const lines: string[] = [];

describe('messy CSV', () => {
  test.each(MESSY_CASES)('is imported or refused as the case of $file states: $what', async (each) => {
    const outcome = await outcomeOf(each);
    lines.push(lineOf(each, outcome));
    expect(outcome, world.err).toEqual({ code: each.code, edges: each.edges, rejected: each.rejected ?? 0 });
    for (const what of each.says ?? []) expect(world.err).toMatch(what);
    if ((each.rejected ?? 0) === 0 && each.says === undefined) expect(world.err).toBe('');
    expect(world.err).not.toMatch(/\n\s+at /);
  });

  test('has a case for every file, and a README that matches the results', () => {
    const files = readdirSync(FOLDER).filter((name) => /\.[ct]sv$/.test(name));
    expect(new Set(MESSY_CASES.map(({ file }) => file))).toEqual(new Set(files));
    const text = `${HEADING}${lines.join('\n')}\n`;
    if (process.env.HEDGEROW_WRITE_GOLDEN === '1') writeFileSync(TABLE, text);
    expect(readFileSync(TABLE, 'utf8')).toBe(text);
  });
});

const HEADING = `# Messy CSV files

The results of \`hedgerow import FILE --create\`, with \`--member-columns from,to\` unless the flags name other columns. \`../messy-csv.test.ts\` compares them
with what \`../messy-csv.ts\` lists for each file and with this table. HEDGEROW_WRITE_GOLDEN=1 rewrites the table.

| file | what is odd | flags | exit code | edges | rejected | first edge, and what is said |
|---|---|---|---|---|---|---|
`;

function lineOf({ file, what, flags }: MessyCase, { code, edges, rejected }: Outcome): string {
  const given = Object.entries(flags ?? {}).map(([name, value]) => {
    const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return value === false ? `--no-${name}` : `${flag} '${value}'`;
  });
  const said = world.err
    .replaceAll(world.cwd, '')
    .split('\n')
    .filter((line) => line.startsWith('hedgerow: ') && !line.includes('.rejects.ndjson'));
  const shown = [...edges.slice(0, 1), ...said.map((line) => line.slice('hedgerow: '.length))].map(shortened);
  return `| ${[file, shortened(what), shortened(given.join(' ')), code, edges.length, rejected, shown.join('<br>')].join(' | ')} |`;
}

/** Shortens the text to fit into a cell of a Markdown table. */
function shortened(text: string): string {
  const safe = text.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;');
  return safe.length > 240 ? `${safe.slice(0, 240)} ...` : safe;
}
