// Defines raw-socket cases, part one: request lines, paths and headers that a well-behaved client
// never sends.

import { ADMIN_KEY } from './child.ts';
import { edge, get, insert, LIVE, lengthOf, live, post, type RawCase, request } from './raw-request.ts';

const line = (text: string) => `${text}\r\nHost: x\r\n\r\n`;

export const lines: readonly RawCase[] = [
  { name: 'nothing, then the end', send: ['FIN'], outcome: 'closed' },
  { name: 'an empty line first', send: [`\r\n${LIVE}`], outcome: 'silent' },
  { name: 'bytes that are not a request', send: ['\x00\x01\x02\xff\r\n\r\n'], outcome: '505 closed' },
  { name: 'HTTP/0.9: no version', send: ['GET /health/live\r\n\r\n'], outcome: '505 closed' },
  { name: 'HTTP/0.9 by name', send: [line('GET /health/live HTTP/0.9')], outcome: '505 closed' },
  { name: 'HTTP/1.0', send: [line('GET /health/live HTTP/1.0')], outcome: '505 closed' },
  { name: 'HTTP/1.2', send: [line('GET /health/live HTTP/1.2')], outcome: '505 closed' },
  { name: 'HTTP/2.0 in the line', send: [line('GET /health/live HTTP/2.0')], outcome: '505 closed' },
  { name: 'a version in lower case', send: [line('GET /health/live http/1.1')], outcome: '505 closed' },
  { name: 'another protocol', send: [line('GET /health/live HTTQ/1.1')], outcome: '505 closed' },
  { name: 'text after the version', send: [line('GET /health/live HTTP/1.1 x')], outcome: '505 closed' },
  { name: 'lines that end with LF only', send: ['GET /health/live HTTP/1.1\nHost: x\n\n'], outcome: '505 closed' },
  { name: 'two spaces after the method', send: [line('GET  /health/live HTTP/1.1')], outcome: '505 closed' },
  { name: 'tabs between the parts', send: [line('GET\t/health/live\tHTTP/1.1')], outcome: '505 closed' },
  { name: 'a space before the method', send: [` ${LIVE}`], outcome: '505 closed' },
  { name: 'no method', send: [line('/health/live HTTP/1.1')], outcome: '505 closed' },
  { name: 'no target', send: [line('GET HTTP/1.1')], outcome: '505 closed' },
  { name: 'a method in lower case', send: [request('get /v1/tables')], outcome: '405 open' },
  { name: 'an unknown method', send: [request('BREW /v1/tables')], outcome: '405 open' },
  { name: 'a method with a NUL', send: [request('GE\0T /v1/tables')], outcome: '505 closed' },
  { name: 'a method of 3,000 letters', send: [request(`${'G'.repeat(3000)} /v1/tables`)], outcome: '405 open' },
  { name: 'a target without a slash', send: [request('GET health/live')], outcome: '505 closed' },
  { name: 'absolute form', send: [request('GET http://x/health/live')], outcome: '505 closed' },
  { name: 'absolute form of another host', send: [request('GET http://elsewhere/health/live')], outcome: '505 closed' },
  { name: 'CONNECT', send: [request('CONNECT x:80')], outcome: '505 closed' },
  { name: 'CONNECT with a path', send: [request('CONNECT /v1/tables')], outcome: '405 open' },
  { name: 'OPTIONS *', send: [request('OPTIONS *')], outcome: '505 closed' },
  { name: 'TRACE', send: [request('TRACE /v1/tables')], outcome: '405 open' },
];

export const paths: readonly RawCase[] = [
  { name: 'of 3,000 letters', send: [get(`/${'a'.repeat(3000)}`)], outcome: '404 open' },
  { name: 'of 100,000 letters', send: [get(`/${'a'.repeat(100_000)}`)], outcome: '431 closed' },
  { name: 'with 8-bit bytes', send: [get('/v1/tables/\xe9\xff')], outcome: '404 open' },
  { name: 'with a NUL', send: [get('/v1/tables/a\0b')], outcome: '505 closed' },
  { name: 'with a tab', send: [get('/v1/tables/a\tb')], outcome: '505 closed' },
  { name: 'with DEL', send: [get('/v1/tables/a\x7fb')], outcome: '404 open' },
  { name: 'with %00', send: [get('/v1/tables/a%00b')], outcome: '404 open' },
  { name: 'with %2f for a slash', send: [get('/v1%2ftables')], outcome: '404 open' },
  { name: 'with %2f in a parameter', send: [get('/v1/tables/..%2f..%2fetc')], outcome: '404 open' },
  { name: 'with a bad escape', send: [get('/v1/tables/%zz')], outcome: '400 open' },
  { name: 'with an escape cut short', send: [get('/v1/tables/%4')], outcome: '400 open' },
  { name: 'with escaped bytes that are not UTF-8', send: [get('/v1/tables/%ff%fe')], outcome: '400 open' },
  {
    name: 'with an escaped line break',
    send: [get('/v1/tables/a%0d%0aX-Bad:%20yes')],
    outcome: '404 open',
    saysNot: '\nX-Bad',
  },
  { name: 'with dot segments', send: [get('/v1/../v1/tables')], outcome: '404 open' },
  { name: 'with two slashes', send: [get('//v1/tables')], outcome: '404 open' },
  { name: 'with a slash at the end', send: [get('/v1/tables/')], outcome: '404 open' },
  { name: 'with a backslash', send: [get('/v1\\tables')], outcome: '404 open' },
  { name: 'with a fragment', send: [get('/v1/tables#x')], outcome: '404 open' },
  { name: 'with many question marks', send: [get('/v1/tables????a=b?&&&=&')], outcome: '200 open' },
  { name: 'with 8-bit bytes in the query', send: [get('/v1/hyperedges?start_ts=1&end_ts=\xb2')], outcome: '400 open' },
  { name: 'with a NUL in the query', send: [get('/v1/hyperedges?start_ts=1&end_ts=2\0')], outcome: '505 closed' },
  {
    name: 'with an escaped line break in the query',
    send: [get('/v1/wal?a=1%0d%0aX-Bad:1')],
    outcome: '200 open',
    saysNot: '\nX-Bad',
  },
  { name: 'with 1,700 names in the query', send: [get(`/v1/wal?${'a&'.repeat(1700)}`)], outcome: '200 open' },
  { name: 'with a bad escape in the query', send: [get('/v1/hyperedges?start_ts=%zz&end_ts=2')], outcome: '400 open' },
];

export const headers: readonly RawCase[] = [
  { name: 'no Host', send: ['GET /health/live HTTP/1.1\r\n\r\n'], outcome: '400 closed' },
  { name: 'an empty Host', send: ['GET /health/live HTTP/1.1\r\nHost:\r\n\r\n'], outcome: '200 open' },
  { name: 'two equal Hosts', send: [live('Host: x\r\n')], outcome: '400 closed' },
  { name: 'two Hosts', send: [live('hOST: y\r\n')], outcome: '400 closed' },
  { name: 'no colon', send: [live('X-Odd\r\n')], outcome: '400 closed' },
  // uWebSockets.js ignores the headers after a line without a name. A length hidden in this way
  // does not count (see src/http/README.md).
  { name: 'no name', send: [live(': x\r\n')], outcome: '200 open' },
  {
    name: 'no name, before the key',
    send: [`GET /v1/wal HTTP/1.1\r\nHost: x\r\n: x\r\nX-API-Key: ${ADMIN_KEY}\r\n\r\n`],
    outcome: '401 open',
  },
  {
    name: 'no name, before the length',
    send: [post(`: x\r\n${lengthOf(edge(2009))}`, edge(2009))],
    outcome: '400 closed',
  },
  {
    name: 'no name, before a length that hides a request',
    send: [post(`: x\r\n${lengthOf(insert(2010))}`, insert(2010))],
    outcome: 'closed',
  },
  {
    name: 'two equal keys',
    send: [get('/v1/wal', `X-API-Key: ${ADMIN_KEY}\r\nX-API-Key: ${ADMIN_KEY}\r\n`)],
    outcome: '200 open',
  },
  {
    name: 'two keys, the right one first',
    send: [get('/v1/wal', `X-API-Key: ${ADMIN_KEY}\r\nX-API-Key: other\r\n`)],
    outcome: '401 open',
    says: 'Two different API keys',
  },
  {
    name: 'two keys, the right one last',
    send: [get('/v1/wal', `X-API-Key: other\r\nX-API-Key: ${ADMIN_KEY}\r\n`)],
    outcome: '401 open',
  },
  {
    name: 'two bearers',
    send: [get('/v1/wal', 'Authorization: Bearer other\r\n')],
    outcome: '401 open',
    says: 'Two different API keys',
  },
  {
    name: 'a right key beside another bearer',
    send: [`GET /v1/wal HTTP/1.1\r\nHost: x\r\nX-API-Key: ${ADMIN_KEY}\r\nAuthorization: Bearer other\r\n\r\n`],
    outcome: '200 open',
  },
  { name: 'a space before the colon', send: [live('X-Odd : x\r\n')], outcome: '400 closed' },
  { name: 'a folded header', send: [live('X-Odd: a\r\n b\r\n')], outcome: '400 closed' },
  {
    name: 'a space before the first header',
    send: ['GET /v1/wal HTTP/1.1\r\n X: y\r\nHost: x\r\n\r\n'],
    outcome: '400 closed',
  },
  { name: 'a name with a NUL', send: [live('X\0Y: x\r\n')], outcome: '400 closed' },
  { name: 'a name with 8-bit bytes', send: [live('X\xe9: x\r\n')], outcome: '400 closed' },
  { name: 'a value with a NUL', send: [live('X-Odd: a\0b\r\n')], outcome: '400 closed' },
  { name: 'a value with a bare CR', send: [live('X-Odd: a\rb\r\n')], outcome: 'silent' },
  { name: 'a value with a bare LF', send: [live('X-Odd: a\nX-Evil: b\r\n')], outcome: '400 closed' },
  {
    name: 'X-Request-Id with 8-bit bytes',
    send: [live('X-Request-Id: not-mine\xe9\xffb\r\n')],
    outcome: '200 open',
    // The service's own ids may begin with any letter, hence a distinctive prefix.
    saysNot: 'not-mine',
  },
  { name: 'X-Request-Id with a NUL', send: [live('X-Request-Id: a\0b\r\n')], outcome: '400 closed' },
  { name: 'X-Request-Id with a bare CR', send: [live('X-Request-Id: a\rSet-Cookie: b\r\n')], outcome: 'silent' },
  { name: 'X-Request-Id with a bare LF', send: [live('X-Request-Id: a\nSet-Cookie: b\r\n')], outcome: '400 closed' },
  { name: 'X-Request-Id twice', send: [live('X-Request-Id: a\r\nX-Request-Id: b\r\n')], outcome: '200 open' },
  {
    name: 'X-Request-Id of 3,000 letters',
    send: [live(`X-Request-Id: ${'i'.repeat(3000)}\r\n`)],
    outcome: '200 open',
    saysNot: 'iiii',
  },
  {
    name: 'Idempotency-Key with 8-bit bytes',
    send: [insert(2008, 'Idempotency-Key: a\xe9\xffb\r\n')],
    outcome: '400 open',
    says: 'printable ASCII',
  },
  // uWebSockets.js treats 8-bit bytes at the end of a value as blanks.
  {
    name: 'Idempotency-Key of 8-bit bytes only',
    send: [insert(2001, 'Idempotency-Key: \xe9\xff\r\n')],
    outcome: '400 open',
    says: 'printable ASCII',
  },
  { name: 'Idempotency-Key with a NUL', send: [insert(2002, 'Idempotency-Key: a\0b\r\n')], outcome: '400 closed' },
  { name: 'Idempotency-Key with a bare CR', send: [insert(2003, 'Idempotency-Key: a\rb\r\n')], outcome: 'silent' },
  {
    name: 'Idempotency-Key with a bare LF',
    send: [insert(2007, 'Idempotency-Key: a\nb: c\r\n')],
    outcome: '400 closed',
  },
  {
    name: 'Idempotency-Key of 3,000 letters',
    send: [insert(2004, `Idempotency-Key: ${'i'.repeat(3000)}\r\n`)],
    outcome: '400 open',
    saysNot: 'iiii',
  },
  { name: 'Idempotency-Key, empty', send: [insert(2005, 'Idempotency-Key:\r\n')], outcome: '400 open' },
  {
    name: 'Content-Type with 8-bit bytes',
    send: [insert(2006, 'Content-Type: \xe9\r\n')],
    outcome: '201 open',
    stores: [2006],
  },
  {
    name: 'X-Min-LSN that is not a number',
    send: [get('/v1/hyperedges?start_ts=0&end_ts=0', 'X-Min-LSN: \xb2\r\n')],
    outcome: '200 open',
  },
  {
    name: 'Accept of 3,000 letters',
    send: [get('/v1/hyperedges?start_ts=0&end_ts=0', `Accept: ${'a/b,'.repeat(750)}\r\n`)],
    outcome: '200 open',
  },
  {
    name: 'Accept-Encoding of 3,000 letters',
    send: [get('/v1/wal', `Accept-Encoding: ${'gzip;q=0.'.repeat(333)}\r\n`)],
    outcome: '200 open',
  },
  {
    name: 'If-None-Match of 3,000 letters',
    send: [get('/v1/tables', `If-None-Match: ${'"a",'.repeat(750)}\r\n`)],
    outcome: '200 open',
  },
  {
    name: 'Origin with 8-bit bytes',
    send: [get('/v1/tables', 'Origin: http://\xe9\xff\r\n')],
    outcome: '200 open',
    saysNot: '\xe9',
  },
  {
    name: 'a key with 8-bit bytes',
    send: ['GET /v1/wal HTTP/1.1\r\nHost: x\r\nX-API-Key: a\xe9\xffb\r\n\r\n'],
    outcome: '401 open',
  },
  {
    name: 'a key of 3,000 letters',
    send: [`GET /v1/wal HTTP/1.1\r\nHost: x\r\nX-API-Key: ${'k'.repeat(3000)}\r\n\r\n`],
    outcome: '401 open',
    saysNot: 'kkkk',
  },
  { name: '90 headers', send: [live('X: y\r\n'.repeat(90))], outcome: '200 open' },
  { name: '1,000 headers', send: [live('X:\r\n'.repeat(1000))], outcome: '431 closed' },
  { name: 'a header of 100,000 letters', send: [live(`X: ${'x'.repeat(100_000)}\r\n`)], outcome: '431 closed' },
  {
    name: 'an endless header',
    send: [`GET /health/live HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(6000)}`],
    outcome: '431 closed',
  },
  {
    name: 'an endless number of headers, one at a time',
    send: [
      'GET /health/live HTTP/1.1\r\n',
      ...Array.from({ length: 24 }, () => [5, `X: ${'y'.repeat(250)}\r\n`]).flat(),
    ],
    outcome: '431 closed',
  },
];
