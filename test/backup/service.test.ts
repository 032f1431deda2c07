// Backups over HTTP: permissions, target directories and answers. A backup contains the database
// and no other file of the server.

import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Recorder, send, startServer, type TestServer } from '../http/support.ts';
import { addEdges, check, entriesOf, removeDir, temporaryDir } from './support.ts';

let home: string;
let server: TestServer;
let recorder: Recorder;
/** The backup root. */
let root: string;

beforeEach(async () => {
  home = temporaryDir();
  recorder = new Recorder();
  server = await startServer({ auth: true, dir: `${home}/db`, observer: recorder });
  root = join(`${home}/db`, 'backups');
  await addEdges(server.database.table(), 50);
});
afterEach(async () => {
  await server.close();
  removeDir(home);
});

function backup(body?: unknown, headers: Record<string, string> = {}) {
  return send(server, 'POST', '/v1/backup', body, { 'x-api-key': server.keys.admin, ...headers });
}

test('a request without a body writes into the root, which is created, and is audited', async () => {
  expect(existsSync(root)).toBe(false);
  const { status, json } = await backup();
  expect(status).toBe(200);
  expect(json).toEqual({
    path: expect.stringMatching(/^\/.*\/backups\/hedgerow-\d{8}T\d{6}Z-\d+\.tar\.gz$/),
    size_bytes: statSync(json.path).size,
    tables: ['hyperedges'],
    compact_first: false,
  });
  const { facts } = await check(json.path);
  expect(json.path).toContain(`-${facts.lsn}.tar.gz`);
  expect(facts.created_at * 1000).toBeLessThanOrEqual(Date.now());
  expect(recorder.audits.filter(({ event }) => event === 'backup.created')).toMatchObject([
    { status: 200, role: 'admin' },
  ]);
});

test('a backup can be written below the root and can be preceded by a compaction', async () => {
  const { status, json } = await backup({ backup_dir: 'nightly/deep', compact_first: true });
  expect(status).toBe(200);
  expect(json).toMatchObject({ compact_first: true });
  expect(json.path).toContain('/backups/nightly/deep/hedgerow-');
  expect(server.database.wal().pending).toBe(0);
  expect(entriesOf(json.path).some((name) => name.startsWith('tables/1/seg-'))).toBe(true);
});

test('a backup contains no other backup, no audit log, no lock, no spare and no plaintext key', async () => {
  mkdirSync(root);
  writeFileSync(`${home}/db/audit.log`, 'secret');
  await backup();
  const { json } = await backup({ backup_dir: 'second' });
  const names = entriesOf(json.path).filter((name) => !/^(tables|log|replays)\//.test(name));
  expect(names).toEqual(['backup.json', 'manifest', 'SHA256SUMS']);
  expect(entriesOf(json.path).filter((name) => /backups|audit|lock|spare/.test(name))).toEqual([]);
});

test('only an admin may make backups, wrong values are refused, and a refusal creates nothing', async () => {
  expect((await send(server, 'POST', '/v1/backup')).status).toBe(401);
  for (const role of ['readonly', 'readwrite'] as const)
    expect((await backup({}, { 'x-api-key': server.keys[role] })).status).toBe(403);
  mkdirSync(root);
  symlinkSync(home, `${root}/out`);
  for (const given of [
    '..',
    '../x',
    '/etc',
    '/',
    'a/../..',
    'out',
    'out/x',
    'a\0b',
    '',
    'a//b',
    'a\\b',
    'C:\\x',
    'a\n',
    'a.',
    'x'.repeat(2000),
    7,
    true,
    ['a'],
    {},
  ]) {
    const { status, json } = await backup({ backup_dir: given });
    expect(status, JSON.stringify(given)).toBe(400);
    expect(json.errors[0].loc).toEqual(['body', 'backup_dir']);
  }
  expect((await backup({ compact_first: 'yes' })).status).toBe(400);
  expect((await backup('[]')).status).toBe(400);
  expect(readdirSync(root)).toEqual(['out']);
  expect(readdirSync(home)).toEqual(['db']);
  expect((await send(server, 'GET', '/v1/backup', undefined, { 'x-api-key': server.keys.admin })).status).toBe(405);
});

test('null is treated as an absent field, and encoded dots are refused', async () => {
  expect((await backup({ backup_dir: null, compact_first: null })).status).toBe(200);
  const escaping = await backup({ backup_dir: '%2e%2e' });
  expect(escaping.status).toBe(400);
  expect(escaping.json.detail).toMatch(/below the backup root\. See the setting HEDGEROW_BACKUP_ROOT\.$/);
  expect((await backup({ backup_dir: '..%2F..%2foutside' })).status).toBe(400);
});

test('a backup whose file already exists answers 409 and leaves the file unchanged', async () => {
  const made = await Promise.all([backup(), backup(), backup(), backup()]);
  const statuses = made.map(({ status }) => status).sort();
  // Without writes between them, several backups within one second have the same name.
  expect(statuses[0]).toBe(200);
  for (const { status, json } of made)
    if (status !== 200) expect(json).toMatchObject({ status: 409, code: 'backup_exists' });
  const names = readdirSync(root);
  expect(names.length).toBe(statuses.filter((status) => status === 200).length);
  for (const name of names) await check(`${root}/${name}`);
});

test('the same Idempotency-Key returns the same backup again', async () => {
  const headers = { 'idempotency-key': 'once' };
  const first = await backup({ backup_dir: 'x' }, headers);
  const second = await backup({ backup_dir: 'x' }, headers);
  expect(first.status).toBe(200);
  expect(second.json).toEqual(first.json);
  expect(readdirSync(`${root}/x`).length).toBe(1);
});

test('a path that cannot be a directory is refused with 400', async () => {
  mkdirSync(root);
  writeFileSync(`${root}/file`, 'x');
  expect((await backup({ backup_dir: 'file' })).status).toBe(400);
  expect((await backup({ backup_dir: 'file/below' })).status).toBe(400);
  expect(server.errors).toEqual([]);
});
