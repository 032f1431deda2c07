// The declarations of the built client contain the types of the routes in full, not inferred from
// their schemas. They match the schemas, compile quickly, and do not need `dom`.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');
const COMPILER = join(root, 'node_modules/.bin/tsc');
const STRICT =
  '--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --skipLibCheck false --target es2023 --module nodenext --moduleResolution nodenext';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hedgerow-types-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/hedgerow'));
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Compiles a program and returns the output of the compiler, including its figures. */
function compile(program: string, flags: string): Promise<string> {
  const file = join(folder, 'program.ts');
  writeFileSync(file, program);
  const types = ['--typeRoots', join(root, 'node_modules/@types')];
  const parameters = [...STRICT.split(' '), ...flags.split(' '), ...types, '--extendedDiagnostics', file];
  return new Promise((resolve, reject) => {
    execFile(COMPILER, parameters, { cwd: folder }, (error, stdout) => {
      if (stdout === '') reject(error);
      else resolve(stdout);
    });
  });
}

const errorsOf = (said: string): string[] => said.split('\n').filter((line) => line.includes('error TS'));
const instantiationsOf = (said: string): number => Number(/^Instantiations:\s+(\d+)$/m.exec(said)![1]);

const CLIENT = `
  import { HedgerowClient, type Hyperedge } from 'hedgerow/client';
  const client = new HedgerowClient({ url: 'http://127.0.0.1:8000' });
  export const rows: Hyperedge[] = [];
  for await (const row of client.hyperedges.rangeRows({ start_ts: 0, end_ts: 9 })) rows.push(row);
`;

test('each type equals the type inferred from its schema', async () => {
  const names = [...readFileSync(join(root, 'src/client/types.ts'), 'utf8').matchAll(/^export type (\w+) =/gm)].map(
    ([, name]) => name!,
  );
  expect(names.length).toBeGreaterThan(60);
  const checks = names.map((name) => `same<plain.${name}, inferred.${name}>(true);`);
  const program = (last: string) => `
    import type * as plain from '${root}/dist/client/types.d.ts';
    import type * as inferred from '${root}/src/client/types.ts';
    type Flat<T> = T extends (infer I)[] ? Flat<I>[] : T extends object ? { [K in keyof T]: Flat<T[K]> } : T;
    type Same<A, B> = (<T>() => T extends Flat<A> ? 1 : 2) extends <T>() => T extends Flat<B> ? 1 : 2 ? true : never;
    const same = <A, B>(_isSame: Same<A, B>): void => {};
    ${checks.join('\n    ')}
    ${last}
  `;
  const flags = '--lib es2023,es2024.string,dom --types node --allowImportingTsExtensions --skipLibCheck true';
  expect(errorsOf(await compile(program(''), flags))).toEqual([]);
  // The comparison must be able to fail: on an extra field, on an optional field, and on another
  // type deep inside.
  for (const wrong of [
    'same<plain.Hyperedge & { more: 1 }, inferred.Hyperedge>(true);',
    'same<Omit<plain.LookupAnswer, "next_cursor"> & { next_cursor?: string | null }, inferred.LookupAnswer>(true);',
    'same<plain.RangeAnswer, Omit<inferred.RangeAnswer, "hyperedges"> & { hyperedges: { id: string }[] }>(true);',
  ])
    expect(errorsOf(await compile(program(wrong), flags)).length, wrong).toBe(1);
});

test.each([
  ['the client without types of a host', CLIENT, '--lib es2023 --types '],
  ['the client in Node', CLIENT, '--lib es2023 --types node'],
  ['the client in a browser', CLIENT, '--lib es2023,dom --types '],
  [
    'the engine in Node',
    `import { openDatabase } from 'hedgerow'; export const open = openDatabase;`,
    '--lib es2023 --types node',
  ],
  [
    'the core without types of a host',
    `import { loadCore } from 'hedgerow/core'; export const load = loadCore;`,
    '--lib es2023 --types ',
  ],
])('a program with all declarations checked compiles with every lib: %s', async (_name, program, flags) => {
  expect(errorsOf(await compile(program, flags))).toEqual([]);
});

test('a program that uses the client costs the compiler less than twice as much as an empty one', async () => {
  const flags = '--lib es2023 --types ';
  const empty = instantiationsOf(await compile('export {};', flags));
  const client = instantiationsOf(await compile(CLIENT, flags));
  expect(empty).toBeGreaterThan(100);
  expect(client).toBeLessThan(2 * empty);
});
