// Checks that the package, as npm would publish it, works in an empty project: imports, types, the
// command and the files of the console.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
let folder = '';
let installed = '';
let manifest: { dependencies: object; optionalDependencies: object; exports: Record<string, unknown> };

/**
 * Packs the working tree, and unpacks the package into a project in which only the packages that
 * its manifest names are available.
 */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hedgerow-packed-'));
  const environment = { ...process.env, npm_config_cache: join(folder, 'cache') };
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root, env: environment });
  await run('tar', ['-xzf', readdirSync(folder).find((name) => name.endsWith('.tgz'))!], { cwd: folder });
  installed = join(folder, 'app/node_modules/hedgerow');
  mkdirSync(join(installed, '..'), { recursive: true });
  await run('mv', [join(folder, 'package'), installed]);
  manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    mkdirSync(join(installed, '..', name, '..'), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(installed, '..', name));
  }
  writeFileSync(join(folder, 'app/package.json'), '{"name": "app", "type": "module"}');
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

async function inProject(command: string, parameters: readonly string[]): Promise<string> {
  const { stdout } = await run(command, parameters, { cwd: join(folder, 'app'), env: { PATH: process.env.PATH } });
  return stdout;
}

test('every export exists, and a program that uses the exports runs', async () => {
  const names = Object.keys(manifest.exports).map((name) => name.replace(/^\./, 'hedgerow'));
  const program = `
    import { existsSync } from 'node:fs';
    import { fileURLToPath } from 'node:url';
    import { Analytics, openDatabase, Statements } from 'hedgerow';
    import { HedgerowClient } from 'hedgerow/client';
    import { loadCore } from 'hedgerow/core';
    const missing = ${JSON.stringify(names)}.filter((name) => !existsSync(fileURLToPath(import.meta.resolve(name))));
    const database = await openDatabase({ dir: './data' });
    const statements = new Statements({ database });
    const analytics = new Analytics({ database });
    await statements.run('INSERT INTO hyperedges (event_ts, members) VALUES (1, [1, 2]), (2, [2, 3])');
    const { rows } = await statements.run('MATCH (e:hyperedges) RETURN COUNT(*) AS n');
    const { result } = await analytics.run('hyperedges', 'node_degree', {});
    console.log(JSON.stringify({ missing, rows, result, client: typeof HedgerowClient, core: typeof loadCore }));
    await analytics.close();
    statements.close();
    await database.close();
  `;
  writeFileSync(join(folder, 'app/program.mjs'), program);
  expect(JSON.parse(await inProject(process.execPath, ['program.mjs']))).toEqual({
    missing: [],
    rows: [{ n: 2 }],
    result: { 1: 1, 2: 2, 3: 1 },
    client: 'function',
    core: 'function',
  });
});

test('the types of the package are correct in a strict project', async () => {
  const program = (values: string) => `
    import { type Database, openDatabase, type StatementAnswer, type StatementRow, Statements } from 'hedgerow';
    import { HedgerowClient } from 'hedgerow/client';
    import { loadCore } from 'hedgerow/core';
    const database: Database = await openDatabase({ dir: './data' });
    const statements = new Statements({ database });
    const answer: StatementAnswer = await statements.run('SHOW TABLES', ${values}, { session: 'one' });
    const row: StatementRow | undefined = answer.rows[0];
    for await (const one of statements.rows('SHOW TABLES')) if (one === row) break;
    void [loadCore, new HedgerowClient({ url: 'http://127.0.0.1:8000' })];
  `;
  const flags =
    '--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --verbatimModuleSyntax --skipLibCheck false --target es2022 --module nodenext --moduleResolution nodenext --types node';
  const compile = async (name: string, values: string): Promise<string> => {
    writeFileSync(join(folder, 'app', name), program(values));
    const types = ['--typeRoots', join(root, 'node_modules/@types')];
    return inProject(join(root, 'node_modules/.bin/tsc'), [...flags.split(' '), ...types, name]).catch(
      (error) => error.stdout,
    );
  };
  expect(await compile('right.ts', '{ n: 1 }')).toBe('');
  expect(await compile('wrong.ts', '7')).toContain('error TS');
});

test('the package takes less than 60 MB without optional packages, and contains no development files', async () => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: true; optional?: true; devOptional?: true; link?: true }>;
  };
  const needed = Object.entries(lock.packages)
    .filter(([path, facts]) => path.startsWith('node_modules/') && !Object.values(facts).includes(true))
    .map(([path]) => path);
  expect(needed).toContain('node_modules/valibot');
  for (const name of ['gpt-tokenizer', 'typescript', 'assemblyscript', 'vite', 'vitest', 'preact', 'better-sqlite3'])
    expect(needed).not.toContain(`node_modules/${name}`);
  // Nested packages are counted with the packages that contain them.
  const outer = needed.filter((path) => path.lastIndexOf('node_modules/') === 0).map((path) => join(root, path));
  const { stdout } = await run('du', ['-scm', installed, ...outer]);
  const total = Number(/(\d+)\s+total\n$/.exec(stdout)![1]);
  expect(total).toBeGreaterThan(10);
  expect(total, stdout).toBeLessThan(60);
});

test('tokens are counted as in a checkout, although the tokenizer package is not installed', async () => {
  const program = `
    import { countTokens } from './node_modules/hedgerow/dist/llm/tokens.js';
    console.log([countTokens('tiktoken is great!'), countTokens('antidisestablishmentarianism')].join());
  `;
  writeFileSync(join(folder, 'app/tokens.mjs'), program);
  expect(await inProject(process.execPath, ['tokens.mjs'])).toBe('6,6\n');
});

test('the command fills a demo database, and the console has all its files', async () => {
  const main = join(installed, 'dist/main.js');
  const said = await inProject(process.execPath, [
    main,
    'demo',
    '--people',
    '50',
    '--days',
    '2',
    '--no-serve',
    '--port',
    '0',
  ]);
  expect(said).toContain('hedgerow serve --data hedgerow-demo');
  const pages = join(installed, 'build/console');
  const html = readFileSync(join(pages, 'index.html'), 'utf8');
  const files = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, path]) => path!);
  expect(files.length).toBeGreaterThan(1);
  for (const path of files) expect(readFileSync(join(pages, path)).length).toBeGreaterThan(0);
  const names = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  expect(names.filter((name) => /\.map$|core\.debug|\.sources$/.test(name))).toEqual([]);
});
