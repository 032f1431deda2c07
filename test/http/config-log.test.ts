// Tests the settings of a log in PostgreSQL.

import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';

const load = (environment: Record<string, string>) => loadConfig({ environment, flags: {}, isTerminal: false });

describe('a log in PostgreSQL', () => {
  const dsn = 'postgres://hedgerow:secret@db:5432/hedgerow';
  const both = { HEDGEROW_LOG: 'postgres', HEDGEROW_LOG_DSN: dsn };

  test('takes its address and those of this server', () => {
    const more = { HEDGEROW_ADVERTISE_URL: 'http://one.example:8000/', HEDGEROW_SNAPSHOT_DIR: '/snapshots' };
    expect(load({ ...both, ...more }).config).toMatchObject({
      log: 'postgres',
      logDsn: dsn,
      advertiseUrl: 'http://one.example:8000',
      snapshotDir: '/snapshots',
      snapshotLogMb: 256,
    });
  });

  test.each([
    [{ HEDGEROW_LOG: 'mysql' }, /HEDGEROW_LOG is "mysql", but it takes files, postgres|files or postgres/],
    [{ HEDGEROW_LOG: 'postgres' }, /HEDGEROW_LOG_DSN is not set/],
    [{ ...both, HEDGEROW_LOG_DSN: 'mysql://hedgerow:secret@db/x' }, /HEDGEROW_LOG_DSN must be postgres:/],
    [{ HEDGEROW_LOG_DSN: dsn }, /HEDGEROW_LOG_DSN is set, but HEDGEROW_LOG is not postgres/],
    [{ HEDGEROW_SNAPSHOT_DIR: 'x' }, /HEDGEROW_SNAPSHOT_DIR is set, but HEDGEROW_LOG is not postgres/],
    [{ ...both, HEDGEROW_FOLLOW: 'http://127.0.0.1:1' }, /HEDGEROW_FOLLOW is set/],
    [{ ...both, HEDGEROW_DURABILITY: 'async' }, /HEDGEROW_DURABILITY must be fsync/],
    [{ ...both, HEDGEROW_CHANGES_KEEP_SECONDS: '0' }, /HEDGEROW_CHANGES_KEEP_SECONDS must be above 0/],
  ])('refuses %j', (environment, message) => {
    let text = '';
    try {
      load(environment);
    } catch (error) {
      text = (error as Error).message;
    }
    expect(text).toMatch(message);
    expect(text).not.toContain('secret');
  });
});
