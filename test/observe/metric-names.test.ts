import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../src/observe/log.ts';
import { createObserver, type ServiceObserver } from '../../src/observe/service-observer.ts';
import { send, startServer, type TestServer } from '../http/support.ts';
import { metricComplaints } from './metric-names.ts';

/**
 * The only name that breaks a rule. It cannot change, because the name and its type (a gauge) are
 * part of the published interface.
 */
const FIXED = ['hedgerow_records_total non-counter metrics should not have "_total" suffix'];

let server: TestServer;
let observer: ServiceObserver;
let text: string;

beforeAll(async () => {
  const log = createLogger({ format: 'json', level: 'error', now: () => new Date(), write: () => {} });
  const transport = { name: 'node', version: '24.1.0', reason: 'no_binary' };
  observer = createObserver({ log, audit: undefined, version: '1.2.3', transport });
  server = await startServer({ auth: true, observer });
  observer.attach(server.database.statistics);
  const headers = { 'x-api-key': server.keys.admin };
  // Makes one request of each kind: a write, a read and a refused one.
  expect((await send(server, 'POST', '/v1/hyperedges', { event_ts: 1, members: [1, 2] }, headers)).status).toBe(201);
  expect((await send(server, 'GET', '/v1/hyperedges/node/1', undefined, headers)).status).toBe(200);
  expect((await send(server, 'GET', '/v1/tables')).status).toBe(401);
  text = (await send(server, 'GET', '/metrics', undefined, headers)).text;
});

afterAll(async () => {
  await server.close();
  observer.close();
});

test('names, types, labels and help texts follow the rules', () => {
  expect(text).toContain('hedgerow_records_total 1\n');
  expect(metricComplaints(text)).toEqual(FIXED);
});

const promtool = spawnSync('promtool', ['--version']).status === 0;
const why = promtool ? '' : ' (skipped: no promtool on this machine; Debian has it in the package prometheus)';

test.skipIf(!promtool)(`promtool check metrics finds no other fault${why}`, () => {
  const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  const complaints = `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
  expect([...new Set(complaints)]).toEqual(FIXED);
});

describe('the check of the rules', () => {
  const head = (name: string, type: string, help = 'Some.') => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
  const CASES: [string, string, string][] = [
    ['a counter without _total', `${head('a_requests', 'counter')}a_requests 1\n`, 'counter metrics should have'],
    ['a gauge with _total', `${head('a_total', 'gauge')}a_total 1\n`, 'non-counter metrics should not'],
    ['no help', '# TYPE a gauge\na 1\n', 'no help text'],
    ['a gauge with a quantile', `${head('a', 'gauge')}a{quantile="1"} 1\n`, '"quantile" label'],
    ['a gauge with le', `${head('a', 'gauge')}a{le="1"} 1\n`, '"le" label'],
    ['a gauge with _count', `${head('a_count', 'gauge')}a_count 1\n`, '"_count" suffix'],
    ['a gauge with _bucket', `${head('a_bucket', 'gauge')}a_bucket 1\n`, '"_bucket" suffix'],
    ['milliseconds', `${head('a_milliseconds', 'gauge')}a_milliseconds 1\n`, 'use base unit "seconds"'],
    ['an abbreviation', `${head('a_wait_ms', 'gauge')}a_wait_ms 1\n`, 'abbreviated units'],
    ['camel case', `${head('aWait', 'gauge')}aWait 1\n`, 'snake_case'],
    ['the type in the name', `${head('a_gauge', 'gauge')}a_gauge 1\n`, 'should not include type'],
    ['a unit in the middle', `${head('a_bytes_used', 'gauge')}a_bytes_used 1\n`, 'the unit should be the suffix'],
  ];

  test.each(CASES)('finds %s', (_, given, complaint) => {
    expect(metricComplaints(given)).toEqual([expect.stringContaining(complaint)]);
  });

  test('finds no fault in a histogram and a counter', () => {
    const histogram = `${head('a_seconds', 'histogram')}a_seconds_bucket{le="1"} 1\na_seconds_bucket{le="+Inf"} 1\na_seconds_sum 1\na_seconds_count 1\n`;
    expect(metricComplaints(`${histogram}${head('a_bytes_total', 'counter')}a_bytes_total 1\n`)).toEqual([]);
  });
});
