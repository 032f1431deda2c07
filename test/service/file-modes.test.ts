// Files are accessible only to their owner (0600, directories 0700), whatever the umask.
// Directories with a wider mode are reported at startup and left unchanged.

import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dumpCommand } from '../../src/cli/dump/command.ts';
import { exportCommand } from '../../src/cli/export/command.ts';
import { importCommand } from '../../src/cli/import/command.ts';
import { TestWorld } from '../cli/support.ts';
import { ADMIN_KEY, type ChildServer, startChild } from './child.ts';

const SIZE = 3000;

let world: TestWorld;
let umask: number;
let server: ChildServer | undefined;
beforeEach(() => {
  world = new TestWorld();
  umask = process.umask(0);
});
afterEach(async () => {
  process.umask(umask);
  await server?.stop();
  server = undefined;
  world.remove();
});

/**
 * Returns a directory and everything below it, as `mode path`. Sockets are omitted: they contain no
 * data, and other users must be able to ask which process holds the lock.
 */
function modesBelow(dir: string): string[] {
  const names = readdirSync(dir, { recursive: true }) as string[];
  return [dir, ...names.map((name) => join(dir, name))].flatMap((path) => {
    const facts = lstatSync(path);
    return facts.isSocket() ? [] : [`${(facts.mode & 0o777).toString(8)} ${relative(world.cwd, path)}`];
  });
}

/** Returns the entries whose mode is neither 600 nor 700. */
function wide(dir: string): string[] {
  return modesBelow(dir).filter((line) => !/^(600|700) /.test(line));
}

async function post(path: string, body: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY };
  const answer = await fetch(server!.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  expect([path, answer.status, answer.ok ? '' : await answer.text()]).toEqual([path, answer.status, '']);
  return answer;
}

test('a service with umask 0 keeps all its files private: data, backups, COPY and the audit log', async () => {
  const audit = world.path('logs/deep/audit.log');
  const environment = {
    HEDGEROW_COPY_ROOT: world.path('copies'),
    HEDGEROW_BACKUP_ROOT: world.path('backups/daily'),
    HEDGEROW_AUDIT_LOG: audit,
  };
  const dir = world.path('new/data');
  server = await startChild({ dir, environment });
  const operations = Array.from({ length: SIZE }, (_, i) => ({ type: 'insert', event_ts: i, members: [i, i + 1] }));
  await post('/v1/batch', { operations });
  await post('/v1/hyperedges/compact', {});
  await post('/v1/batch', { operations: operations.slice(0, 10) });
  await post('/v1/backup', {});
  for (const name of ['out.csv', 'out.ndjson', 'out.parquet'])
    await post('/v1/query', { query: `COPY hyperedges TO '${name}'` });
  await post('/v1/keys', { role: 'readonly', description: 'audited' });
  const running = [dir, world.path('backups'), world.path('copies'), world.path('logs')];
  expect(running.flatMap(wide)).toEqual([]);
  expect(await server.stop()).toBe('exit code 0');
  expect([world.path('new'), ...running].flatMap(wide)).toEqual([]);
  // Makes sure that there are files at all.
  expect(modesBelow(dir).filter((line) => line.startsWith('600 ')).length).toBeGreaterThan(4);
  expect(modesBelow(world.path('copies')).length).toBe(4);
  expect(statSync(audit).size).toBeGreaterThan(0);
  expect(server.output.error).not.toMatch(/others than its owner/);
  server = undefined;
});

test('files written by commands are private to their user', async () => {
  world.file('edges.ndjson', '{"event_ts":1,"members":[1]}\n{"event_ts":2,"members":[1]}\nnonsense\n');
  const flags = { data: 'db', table: 'made', createTable: true, onError: 'skip' };
  expect(await importCommand(['edges.ndjson'], flags, world), world.err).toBe(0);
  for (const out of ['out.ndjson', 'out.csv.gz', 'out.parquet'])
    expect(await exportCommand({ data: 'db', table: 'made', out }, world), world.err).toBe(0);
  for (const format of ['parquet', 'statements'])
    expect(await dumpCommand(`dump-${format}`, { data: 'db', format }, world), world.err).toBe(0);
  expect(readdirSync(world.cwd).sort()).toEqual([
    'db',
    'dump-parquet',
    'dump-statements',
    'edges.ndjson',
    'edges.ndjson.rejects.ndjson',
    'out.csv.gz',
    'out.ndjson',
    'out.parquet',
  ]);
  const given = '666 edges.ndjson';
  expect(wide(world.cwd).filter((line) => line !== given)).toEqual([]);
});

test('directories readable by others are reported at startup with advice and are not changed', async () => {
  const dir = world.path('old');
  const backups = world.path('backups');
  const copies = world.path('copies');
  for (const path of [dir, backups, copies]) mkdirSync(path, { mode: 0o755 });
  chmodSync(backups, 0o750);
  const environment = { HEDGEROW_BACKUP_ROOT: backups, HEDGEROW_COPY_ROOT: copies };
  const warned = async (): Promise<string[]> => {
    const child = await startChild({ dir, environment });
    // Lines are written in the background, but all of them have been written when the process ends.
    await child.stop();
    return child.output.error.split('\n').filter((line) => line.includes('others than its owner'));
  };
  const lines = await warned();
  expect(lines.length).toBe(2);
  expect(lines[0]).toContain(`${dir} can be used by others than its owner (mode 0755)`);
  expect(lines[0]).toContain(`chmod -R go-rwx ${dir}`);
  expect(lines[1]).toContain(`${backups} can be used by others than its owner (mode 0750)`);
  expect([dir, backups].map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual(['755', '750']);
  chmodSync(dir, 0o700);
  chmodSync(backups, 0o700);
  expect(await warned()).toEqual([]);
});
