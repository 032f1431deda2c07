// Tests which directories a backup may be written to. Every path that leads out of the backup root
// is refused before anything is created.

import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { targetDirectory } from '../../src/engine/backup/target-directory.ts';
import type { HedgerowError } from '../../src/errors.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';

let home: string;
let root: string;

beforeAll(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'hedgerow-target-')));
  root = `${home}/backups`;
  mkdirSync(`${root}/inside/deep`, { recursive: true });
  mkdirSync(`${home}/outside/deep`, { recursive: true });
  mkdirSync(`${home}/backups-evil`);
  writeFileSync(`${root}/file`, 'x');
  symlinkSync(`${home}/outside`, `${root}/out`);
  symlinkSync('../outside', `${root}/out-relative`);
  symlinkSync('..', `${root}/up`);
  symlinkSync('/', `${root}/slash`);
  symlinkSync(`${home}/nowhere`, `${root}/dangling`);
  symlinkSync(`${root}/loop`, `${root}/loop`);
  symlinkSync(`${root}/file`, `${root}/to-file`);
  symlinkSync(`${root}/inside`, `${root}/in`);
  symlinkSync(`${home}/outside`, `${root}/inside/out`);
  symlinkSync(`${home}/backups-evil`, `${root}/evil`);
  symlinkSync(root, `${home}/linked-root`);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** The functions that the check may call. They only read. */
const LOOKS = { kindOf: nodeFs.kindOf, realPath: nodeFs.realPath };

function outcome(given: string | undefined, at = root): string {
  try {
    return targetDirectory(LOOKS, at, given);
  } catch (error) {
    const { code, errors } = error as HedgerowError;
    expect(errors).toMatchObject([{ loc: ['body', 'backup_dir'] }]);
    return code;
  }
}

const TRICKS: (string | (() => string))[] = [
  '',
  '.',
  './x',
  'x/.',
  '..',
  '../',
  '../outside',
  '../backups',
  '../backups-evil',
  'x/../..',
  'inside/../../outside',
  'inside/..',
  '....',
  '.../x',
  '/..',
  '/',
  '//',
  '/etc',
  '/tmp/x',
  '//etc',
  () => `${home}/outside`,
  () => `${home}/backups-evil`,
  () => `${home}`,
  () => `${root}/../outside`,
  () => `${root}/`,
  () => `${root}//x`,
  () => `/${root}`,
  'out',
  'out/deep',
  'out/made-new',
  'out-relative',
  'up',
  'up/outside',
  'slash/etc',
  'dangling',
  'dangling/x',
  'loop',
  'to-file',
  'evil',
  'inside/out',
  'in/out',
  () => `${root}/out`,
  'file',
  'file/x',
  'a//b',
  'a/',
  '%2e%2e',
  '..%2f',
  '..%5cx',
  '%00',
  'a/%252e%252e/b',
  'a\\b',
  '..\\outside',
  'a/..\\..\\b',
  'C:',
  'c:\\x',
  'C:/x',
  'a/D:b',
  '\\\\server\\share',
  'a\0b',
  '\0',
  '../\0',
  'a\n',
  'a\r\n',
  '\ta',
  'a\u007f',
  'a\u0085b',
  'a\u2028b',
  'a\u202eb',
  'a\u200bb',
  '\ufeffa',
  'a\ud800',
  'a.',
  'a...',
  'a ',
  ' a',
  'a/ /b',
  'a/. /b',
  'x'.repeat(256),
  `${'y/'.repeat(600)}z`,
  'é'.repeat(200),
];

test.each(
  TRICKS.map((trick) => [JSON.stringify(typeof trick === 'string' ? trick : trick.toString()).slice(0, 60), trick]),
)('%s is refused', (_name, trick) => {
  expect(outcome(typeof trick === 'string' ? trick : trick())).toBe('invalid_input');
});

test('more than 40 refused paths are tested', () => {
  expect(TRICKS.length).toBeGreaterThan(40);
});

test.each([
  [undefined, ''],
  ['nightly', '/nightly'],
  ['inside/deep', '/inside/deep'],
  ['inside/deep/new/and/newer', '/inside/deep/new/and/newer'],
  ['in/deep', '/in/deep'],
  ['50%', '/50%'],
  ['..a', '/..a'],
  ['..;/x', '/..;/x'],
  ['.hidden', '/.hidden'],
  ['~', '/~'],
  ['$HOME', '/$HOME'],
  ['nuit d’été', '/nuit d’été'],
  ['x'.repeat(255), `/${'x'.repeat(255)}`],
])('%s is accepted as a path inside the root', (given, path) => {
  expect(outcome(given)).toBe(root + path);
});

test('an absolute path inside the root is accepted, even when the root is reached through a link', () => {
  expect(outcome(root)).toBe(root);
  expect(outcome(`${root}/nightly/a`)).toBe(`${root}/nightly/a`);
  const linked = `${home}/linked-root`;
  expect(outcome('nightly', linked)).toBe(`${linked}/nightly`);
  expect(outcome(`${linked}/nightly`, linked)).toBe(`${linked}/nightly`);
  expect(outcome(`${root}/nightly`, linked)).toBe(`${linked}/nightly`);
  expect(outcome('out', linked)).toBe('invalid_input');
  expect(outcome('in', linked)).toBe(`${linked}/in`);
});

test('paths below a root that does not exist yet are accepted, and no others', () => {
  const later = `${home}/later/backups`;
  expect(outcome(undefined, later)).toBe(later);
  expect(outcome('a/b', `${later}/`)).toBe(`${later}/a/b`);
  expect(outcome('../x', later)).toBe('invalid_input');
  expect(outcome('/x', later)).toBe('invalid_input');
  expect(existsSync(later)).toBe(false);
});
