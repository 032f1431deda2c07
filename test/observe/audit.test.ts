import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AuditLog } from '../../src/observe/audit.ts';
import { createLogger } from '../../src/observe/log.ts';
import type { AuditFacts } from '../../src/observe/observer.ts';
import { MASK, Redactor } from '../../src/observe/redact.ts';

const TIME = '2026-01-02T03:04:05.678Z';
const FACTS: AuditFacts = {
  event: 'hyperedge.inserted',
  keyId: 'key_1',
  remoteIp: '127.0.0.1',
  role: 'readwrite',
  status: 201,
  requestId: 'r-1',
};

let dir: string;
const open: AuditLog[] = [];
let logged: string[];
let redactor: Redactor;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hedgerow-audit-'));
  logged = [];
  redactor = new Redactor();
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((audit) => audit.close()));
  rmSync(dir, { recursive: true, force: true });
});

function auditTo(file: string): AuditLog {
  const now = () => new Date(TIME);
  const log = createLogger({ format: 'json', level: 'info', now, write: (line) => void logged.push(line) });
  const audit = new AuditLog({ file, log, redactor, now });
  open.push(audit);
  return audit;
}

describe('a line', () => {
  it('has the documented fields in a fixed order', async () => {
    const file = join(dir, 'audit.log');
    const audit = auditTo(file);
    audit.write({ ...FACTS, table: 'trips', statement: 'INSERT INTO trips (event_ts) VALUES (1)' });
    audit.write({ ...FACTS, event: 'auth.failed', keyId: null, role: 'none', status: 401, remoteIp: '::1' });
    await audit.close();
    expect(readFileSync(file, 'utf8')).toBe(
      `{"ts":"${TIME}","audit":true,"event":"hyperedge.inserted","key_id":"key_1","remote_ip":"127.0.0.1","role":"readwrite",` +
        `"table":"trips","statement":"INSERT INTO trips (event_ts) VALUES (1)","status":201,"request_id":"r-1"}\n` +
        `{"ts":"${TIME}","audit":true,"event":"auth.failed","key_id":null,"remote_ip":"::1","role":"none","status":401,"request_id":"r-1"}\n`,
    );
  });

  it('stays one line and contains no secret', async () => {
    redactor.registerSecret('known "secret" 1');
    const file = join(dir, 'audit.log');
    const audit = auditTo(file);
    audit.write({
      ...FACTS,
      statement: `COPY t\nFROM 'x://u:w0rd@h/hgr_0123456789abcdef' // known "secret" 1 ${'y'.repeat(9000)}`,
      table: 'a"b\n',
      requestId: 'hgr_0123456789abcdef',
    });
    await audit.close();
    const text = readFileSync(file, 'utf8');
    expect(text.split('\n')).toHaveLength(2);
    const line = JSON.parse(text);
    expect(line.table).toBe('a"b\n');
    expect(line.request_id).toBe(MASK);
    expect(line.statement).toMatch(/^COPY t\nFROM 'x:\/\/u:\[masked\]@h\/\[masked\]' \/\/ \[masked\] y+\.\.\.$/);
    expect(line.statement.length).toBeLessThan(4200);
  });
});

describe('the file', () => {
  it('is created with its folders, accessible to its owner only', async () => {
    const file = join(dir, 'deep', 'er', 'audit.log');
    const audit = auditTo(file);
    audit.write(FACTS);
    await audit.close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is append-only', async () => {
    const file = join(dir, 'audit.log');
    for (const requestId of ['first', 'second']) {
      const audit = auditTo(file);
      audit.write({ ...FACTS, requestId });
      await audit.close();
    }
    const ids = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).request_id);
    expect(ids).toEqual(['first', 'second']);
  });

  it('is written while the service runs', async () => {
    const file = join(dir, 'audit.log');
    const audit = auditTo(file);
    audit.write(FACTS);
    await expect.poll(() => readFileSync(file, 'utf8')).toContain('r-1');
  });

  it('can be moved away, and later lines are written to a new file with the same name', async () => {
    const file = join(dir, 'audit.log');
    const audit = auditTo(file);
    audit.write({ ...FACTS, requestId: 'old' });
    await expect.poll(() => readFileSync(file, 'utf8')).toContain('old');
    renameSync(file, `${file}.1`);
    audit.reopen();
    audit.write({ ...FACTS, requestId: 'new' });
    await audit.close();
    expect(readFileSync(`${file}.1`, 'utf8')).not.toContain('new');
    expect(readFileSync(file, 'utf8')).toContain('new');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(logged).toEqual([]);
  });

  it('prevents the start with advice when it cannot be written', () => {
    const folder = join(dir, 'folder');
    mkdirSync(folder);
    expect(() => auditTo(folder)).toThrow(
      /^The audit log .*folder cannot be written \(EISDIR.*\)\. Name a file that this user may write\.$/,
    );
    expect(open).toEqual([]);
  });

  it('is complete even if the process exits immediately after a write', async () => {
    const file = join(dir, 'audit.log');
    const audit = auditTo(file);
    audit.write(FACTS);
    process.listeners('exit').at(-1)?.call(process, 0);
    expect(readFileSync(file, 'utf8')).toContain('r-1');
  });
});

describe('a disk that fails later', () => {
  it.skipIf(!existsSync('/dev/full'))('is logged once, and the service continues and counts lost lines', async () => {
    const audit = auditTo('/dev/full');
    audit.write(FACTS);
    await expect.poll(() => logged.length).toBe(1);
    expect(JSON.parse(logged[0]!)).toMatchObject({
      level: 'error',
      file: '/dev/full',
      error: expect.stringMatching(/ENOSPC/),
    });
    for (let count = 0; count < 60_000; count++) audit.write(FACTS);
    expect(audit.lost).toBeGreaterThan(1000);
    const before = audit.lost;
    await audit.close();
    expect(audit.lost - before).toBe(60_001 - before);
    expect(logged).toHaveLength(1);
  });
});
