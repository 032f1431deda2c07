// Runs the examples that newcomers copy from the documents, and compares their output with that in
// the documents. The examples are programs, a page, and commands of the README.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/engine/index.ts';
import { hasDataFile, readDataFile } from '../data/data-file.ts';
import { ADMIN_KEY, type ChildServer, MAIN, startChild } from '../service/child.ts';
import { CHROMIUM, openPage } from '../support/chromium.ts';
import { blocksOf, blocksUnder } from '../support/readme-blocks.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
let folder = '';

/**
 * Sets up a project in which `import 'hedgerow'` and the command `hedgerow` work, as for a user of
 * the package.
 */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hedgerow-examples-'));
  mkdirSync(join(folder, 'node_modules/@duckdb'), { recursive: true });
  symlinkSync(root, join(folder, 'node_modules/hedgerow'));
  const duckdb = join(root, 'node_modules/@duckdb/node-api');
  if (existsSync(duckdb)) symlinkSync(duckdb, join(folder, 'node_modules/@duckdb/node-api'));
  writeFileSync(join(folder, 'package.json'), '{"name": "example", "type": "module"}');
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/hedgerow'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`, {
    mode: 0o755,
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const environment = () => ({
  PATH: `${join(folder, 'bin')}:${join(process.execPath, '..')}:${process.env.PATH}`,
  HOME: folder,
});

async function runProgram(name: string, code: string): Promise<string> {
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, code);
  const { stdout } = await run(process.execPath, [path], { cwd: folder, env: environment() });
  return stdout;
}

/** Returns the output of a shell that stops at the first failing command. */
async function runShell(script: string, cwd = folder): Promise<string> {
  const { stdout } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    cwd,
    env: environment(),
    maxBuffer: 64 << 20,
  });
  return stdout;
}

/** Compiles several programs and returns the compiler errors of each, or '' if there are none. */
async function compileErrors(programs: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const paths = Object.entries(programs).map(([name, code]) => {
    const path = join(folder, `${name}.ts`);
    writeFileSync(path, code);
    return path;
  });
  const flags =
    '--ignoreConfig --noEmit --strict --skipLibCheck --target es2023 --module nodenext --moduleResolution nodenext';
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
  const compiler = join(root, 'node_modules/.bin/tsc');
  const { stdout } = await run(compiler, [...flags.split(' '), ...types, ...paths], { cwd: folder }).catch(
    (error) => error,
  );
  const found = Object.fromEntries(Object.keys(programs).map((name) => [name, '']));
  let of = '';
  for (const line of (stdout as string).trimEnd().split('\n')) {
    // Continuation lines of an error are indented.
    if (/^\S/.test(line)) of = /^([\w-]+)\.ts\(/.exec(line)?.[1] ?? line;
    if (line !== '') found[of] = `${found[of] ?? ''}${line}\n`;
  }
  return found;
}

describe('a program that embeds the database', () => {
  it('runs as printed with the engine, and has types', async () => {
    const [program] = blocksUnder('src/engine/README.md', 'Embedding', 'ts');
    const lines = (await runProgram('embedding', program!)).trimEnd().split('\n');
    expect(lines.slice(0, 2).map((line) => JSON.parse(line))).toMatchObject([
      { event_ts: 1700000000, members: [1, 2, 3], room: 'blue' },
      { event_ts: 1700000060, members: [2, 4], room: null },
    ]);
    const promised = /console\.log\(result\);.*\/\/ (.*)\n/.exec(program!)![1];
    expect(lines.slice(2).join('\n')).toBe(promised);
    const source = `import process from 'node:process';\n${program}`;
    const programs = { right: source, wrong: source.replace('startTs:', 'start:') };
    expect(await compileErrors(programs)).toEqual({ right: '', wrong: expect.stringContaining('start') });
  });

  it('runs as printed with measures', async () => {
    const database = await openDatabase({ dir: join(folder, 'data'), memoryBudgetMb: 64 });
    const table = await database.createTable({ name: 'meetings' });
    await table.insert({ event_ts: 1700000001, members: [1, 2] });
    await database.close();
    const [program] = blocksOf('src/analytics/README.md').filter(({ language }) => language === 'ts');
    const show = '\nconsole.log(JSON.stringify(result));\nawait database.close();\n';
    expect(JSON.parse(await runProgram('measures', program!.code + show))).toEqual({ 1: 0.5, 2: 0.5 });
  });

  it('finds every member that the README of the engine lists, and prints what the examples promise', async () => {
    const [first, listing, statements, statementListing] = blocksOf('src/engine/README.md').map(({ code }) => code);
    expect(await runProgram('engine', first!)).toBe(printedBy(first!));
    expect(await runProgram('statements', statements!)).toBe(printedBy(statements!));
    const uses = listedMembers(`${listing}\n${statementListing}`);
    expect(uses.length).toBeGreaterThan(60);
    const programs = {
      'statements-right': statements!,
      'statements-wrong': statements!.replace('{ room: ', 'null, { signal: '),
      members: declarationsOf(uses),
      'no-member': declarationsOf([['Table', 'noSuchMember']]),
    };
    expect(await compileErrors(programs)).toEqual({
      'statements-right': '',
      'statements-wrong': expect.stringContaining('null'),
      members: '',
      'no-member': expect.stringContaining('noSuchMember'),
    });
  });
});

/** Returns the output that an example claims to print. */
function printedBy(example: string): string {
  return [...example.matchAll(/\/\/ prints (.*)\n/g)].map(([, line]) => `${line}\n`).join('');
}

/** Returns every member of every class and interface in a listing, with its owner. */
function listedMembers(listing: string): (readonly [owner: string, member: string])[] {
  // Object types inside a member have their own members, which do not count.
  const plain = listing.replaceAll(/\/\/.*/g, '').replaceAll(/(\(|: |<)\{[^{}]*\}/g, '$1object');
  const members: [string, string][] = [];
  let owner = '';
  for (const line of plain.split('\n')) {
    owner = /^(?:class|interface) (\w+)/.exec(line)?.[1] ?? (/^\S/.test(line) ? '' : owner);
    if (owner === '') continue;
    for (const [, isStatic, name] of line.matchAll(/(?:^ {2}|[;{] )(?:(static) )?(?:readonly )?(\w+)\??(?=[(:])/g))
      members.push([owner, isStatic === undefined ? name! : `static ${name}`]);
  }
  return members;
}

/** Returns a program that compiles only if all of these members exist. */
function declarationsOf(uses: readonly (readonly [string, string])[]): string {
  const names = [...new Set(uses.map(([name]) => name))];
  const lines = uses.map(([name, member], at) =>
    member.startsWith('static ')
      ? `export type T${at} = (typeof ${name})['${member.slice(7)}'];`
      : `export type T${at} = ${name}['${member}'];`,
  );
  return `import type { ${names.join(', ')} } from 'hedgerow';\n${lines.join('\n')}\n`;
}

describe('examples against a running server', () => {
  let server: ChildServer;
  /** Replaces the address and the key used in the documents with the real ones. */
  const here = (text: string) =>
    text.replaceAll(/(localhost|127\.0\.0\.1):8000/g, `127.0.0.1:${server.port}`).replaceAll('hgr_...', ADMIN_KEY);

  beforeAll(async () => {
    mkdirSync(join(folder, 'served/data'), { recursive: true });
    symlinkSync(join(folder, 'node_modules'), join(folder, 'served/node_modules'));
    server = await startChild({ dir: join(folder, 'served/data') });
  });
  afterAll(() => server.stop());

  it.each(['README.md', 'src/routes/README.md'])('succeed: every command of the first minute in %s', async (guide) => {
    const [script] = blocksUnder(guide, 'The first minute', '');
    const statuses = await runShell(
      here(script!).replaceAll(/^curl -s /gm, "curl -s -o /dev/null -w '%{http_code}\\n' "),
      join(folder, 'served'),
    );
    expect(
      statuses
        .trim()
        .split('\n')
        .filter((status) => !/^20[01]$/.test(status)),
    ).toEqual([]);
    expect(statuses.trim().split('\n').length).toBe(script!.match(/^curl/gm)!.length);
  });

  it.each([
    ['README.md', 'The first minute', 1],
    ['src/cli/README.md', 'Importing a file of your own', 0],
  ] as const)('include a file in %s that is imported and found', async (guide, heading, place) => {
    const script = blocksUnder(guide, heading, '')[place]!.replaceAll('--table calls', `--table calls${place}`);
    const shell = here(script)
      .replaceAll('node dist/main.js', 'hedgerow')
      .replaceAll(/^(hedgerow.*)$/gm, `$1 --url 127.0.0.1:${server.port}`);
    const shown = await runShell(shell.replace('(c:calls)', `(c:calls${place})`), join(folder, 'served'));
    if (place === 1) expect(shown).toContain('2024-05-01T10:00:00Z');
    const [names] = blocksUnder('src/cli/README.md', 'Importing a file of your own', '').slice(-1);
    const queries = here(names!)
      .replaceAll(
        /^node dist\/main\.js (.*)$/gm,
        `HEDGEROW_API_KEY=${ADMIN_KEY} hedgerow $1 --url 127.0.0.1:${server.port}`,
      )
      .replace('(c:calls)', `(c:calls${place})`)
      .replaceAll('calls_node', `calls${place}_node`)
      .replace('c.topic', 'c.minutes');
    expect(await runShell(queries, join(folder, 'served'))).toContain('45');
    const born = `MATCH (p:calls${place}_node) WHERE p.name = "Ada" RETURN p.born`;
    const found = await fetch(`http://127.0.0.1:${server.port}/v1/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_KEY}` },
      body: JSON.stringify({ query: born }),
    });
    expect(((await found.json()) as { rows: unknown }).rows).toEqual([{ born: 1815 }]);
  });

  it('run as printed if they are client examples', async () => {
    // The file that the virtual graph of the example reads.
    mkdirSync(join(folder, 'served/data/virtual'), { recursive: true });
    const trips = 'trip_id,driver_id,vehicle_id,started_at\n1,7,12,2024-01-01 08:00:00\n2,8,12,2024-01-01 09:30:00\n';
    writeFileSync(join(folder, 'served/data/virtual/trips.csv'), trips);
    const blocks = blocksOf('src/client/README.md').filter(({ language }) => language === 'ts');
    const [long] = blocks;
    const failing = blocks.find(({ code }) => code.includes("tables.get('nope')"));
    const edges = 'const edges = [{ event_ts: 1700000001, members: [12, 40] }];\n';
    const shown = await runProgram('client-page', here(long!.code.replace('\n\n', `\n\n${edges}`)));
    expect(shown).toContain('11.5');
    const setup = here(long!.code).split('\n').slice(0, 3).join('\n');
    expect(await runProgram('client-errors', `${setup}\n${failing!.code}`)).toContain('table_not_found');
  });

  const duckdb = existsSync(join(root, 'node_modules/@duckdb/node-api'));
  if (!duckdb) console.log('examples: virtual graph skipped: no @duckdb/node-api');
  it.skipIf(!duckdb)('include a recipe about tags that shows its hyperedges and counts them', async () => {
    const recipe = blocksUnder('src/cli/README.md', 'Recipes', 'sh')[3]!;
    const shell = `K="Authorization: Bearer ${ADMIN_KEY}"\n${here(recipe).replaceAll(/^curl -s /gm, "curl -s -w '\\n' ")}`;
    const [stored, found, copied, pairs] = (await runShell(shell, join(folder, 'served')))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(stored).toMatchObject({ id: 'tags', spec_version: 1 });
    expect(found.hyperedges.map((edge: { members: unknown[] }) => edge.members.length)).toEqual([3, 2]);
    expect(copied).toMatchObject({ table: 'questions', inserted: 3, nodes: 5 });
    expect(pairs.result[0][2]).toBe(2);
  });
});

const SETS = ['contact-primary-school', 'email-Enron'] as const;

describe.skipIf(!SETS.map(hasDataFile).every(Boolean))('the recipes on real data', () => {
  const [prepare, school, mail] = blocksUnder('src/cli/README.md', 'Recipes', 'sh');

  /** Writes a data set in the form in which it is published: three files of numbers. */
  function unpack(name: string, timesASecond: number): object[] {
    const { times, members } = readDataFile(name);
    const write = (part: string, values: readonly number[]) =>
      writeFileSync(join(folder, name, `${name}-${part}.txt`), `${values.join('\n')}\n`);
    mkdirSync(join(folder, name), { recursive: true });
    write(
      'nverts',
      members.map((each) => each.length),
    );
    write(
      'times',
      times.map((time) => time * timesASecond),
    );
    write('simplices', members.flat());
    return times.map((event_ts, edge) => ({ event_ts, members: members[edge] }));
  }

  it('convert three files to one edge per line', async () => {
    const sets = [unpack('contact-primary-school', 1), unpack('email-Enron', 1000)];
    await runShell(prepare!);
    for (const [at, file] of ['school.ndjson', 'mail.ndjson'].entries()) {
      const made = readFileSync(join(folder, file), 'utf8').trimEnd().split('\n');
      expect(made.map((line) => JSON.parse(line))).toEqual(sets[at]);
    }
  });

  it('find the children who connect the classes of a school', async () => {
    const output = await runShell(school!);
    const { result } = JSON.parse(output.split('\n').find((line) => line.startsWith('{"measure":"modularity"'))!);
    expect(result.communities.length).toBeGreaterThan(3);
    expect(output).toMatch(/^200 +0\.0132/m);
    expect(output).toContain('"members":[1,2,119,138,200]');
  });

  it('count the causal chains of mails', async () => {
    const output = await runShell(mail!);
    expect(output).toContain('{"chains":4454}');
    expect(output.match(/"follow_ups":\d+/g)).toEqual(['6', '4', '4', '3', '2'].map((n) => `"follow_ups":${n}`));
  });
});

describe.skipIf(CHROMIUM === undefined)('the page with the core', () => {
  it('finds the edges that it lists, in a browser', async () => {
    const files: Record<string, [type: string, path: string]> = {
      '/': ['text/html', 'test/hosts/browser-page.html'],
      '/core.wasm': ['application/wasm', 'build/core.wasm'],
    };
    const pages = createServer((request, response) => {
      const [type, path] = files[request.url!] ?? [];
      if (type === undefined) response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': type }).end(readFileSync(join(root, path!)));
    });
    await new Promise<void>((listening) => pages.listen(0, '127.0.0.1', listening));
    try {
      const { html } = await openPage(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
      const rows = /<pre id="rows">([\s\S]*?)<\/pre>/.exec(html)![1]!.trim().split('\n');
      expect(rows).toEqual(['{"id":1,"event_ts":100,"members":[3,5,300]}', '{"id":2,"event_ts":160,"members":[5,7]}']);
    } finally {
      pages.close();
    }
  });
});
