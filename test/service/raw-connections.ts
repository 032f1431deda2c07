// Defines raw-socket cases, part three: other protocols, pipelining, slow clients and clients that
// disconnect.

import { BULK, chunk, chunked, edge, get, insert, LIVE, lengthOf, post, type RawCase, request } from './raw-request.ts';

export const protocols: readonly RawCase[] = [
  {
    name: 'the preface of HTTP/2',
    send: ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'],
    outcome: '505 closed',
  },
  {
    name: 'the first message of TLS',
    send: [`\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03${'r'.repeat(150)}`],
    outcome: '505 closed',
  },
  { name: 'SSH', send: ['SSH-2.0-OpenSSH_9.6\r\n'], outcome: 'silent' },
  { name: 'SOCKS 5', send: ['\x05\x01\x00'], outcome: 'silent' },
  { name: 'SMTP', send: ['EHLO x\r\nMAIL FROM:<a@b>\r\n'], outcome: '505 closed' },
  { name: 'Redis', send: ['*1\r\n$4\r\nPING\r\n'], outcome: 'silent' },
  { name: 'the PROXY protocol, version 1', send: [`PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n${LIVE}`], outcome: '505 closed' },
  {
    name: 'the PROXY protocol, version 2',
    send: [`\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c\x01\x02\x03\x04\x05\x06\x07\x08\x00\x01\x00\x02${LIVE}`],
    outcome: 'closed',
  },
  // uWebSockets.js skips this header silently, and it has no effect.
  {
    name: 'the PROXY protocol, version 2, without an address',
    send: [`\r\n\r\n\0\r\nQUIT\n\x20\x00\x00\x00${LIVE}`],
    outcome: '200 open',
  },
];

export const pipelines: readonly RawCase[] = [
  { name: '50 reads', send: [get('/v1/wal').repeat(50)], outcome: `${'200 '.repeat(50)}open` },
  {
    name: 'reads, one of which is wrong',
    send: [get('/v1/wal') + get('/nope') + get('/v1/wal')],
    outcome: '200 404 200 open',
  },
  { name: 'HEAD, then a read', send: [request('HEAD /v1/tables') + get('/v1/tables')], outcome: '200 200 open' },
  {
    name: 'a read cut in the middle',
    send: [get('/v1/wal') + LIVE.slice(0, 20), 20, LIVE.slice(20)],
    outcome: '200 200 open',
  },
  { name: 'a read, then a write', send: [get('/v1/wal') + insert(6001)], outcome: '200 201 open', stores: [6001] },
  { name: 'a write, then a read', send: [insert(6002) + get('/v1/wal')], outcome: 'closed', mayStore: [6002] },
  { name: 'two writes', send: [insert(6003) + insert(6004)], outcome: 'closed', mayStore: [6003, 6004] },
  {
    name: 'a refused write, then a read',
    send: [post(lengthOf('{}'), '{}') + get('/v1/wal')],
    outcome: '400 200 open',
  },
  { name: 'a long stream, then a read', send: [get(BULK) + get('/v1/wal')], outcome: 'closed' },
  {
    name: 'reads after Connection: close',
    send: [get('/v1/wal', 'Connection: close\r\n') + get('/v1/wal')],
    outcome: '200 200 open',
  },
  { name: 'a write, then garbage', send: [`${insert(6005)}\xff\xff\r\n\r\n`], outcome: '505 closed', mayStore: [6005] },
  {
    name: 'writes, each after its answer',
    send: [insert(6006), 'ANSWER', insert(6007)],
    outcome: '201 201 open',
    stores: [6006, 6007],
  },
];

const letters = (text: string, ms: number) => [...text].flatMap((letter) => [letter, ms]);

export const leavers: readonly RawCase[] = [
  { name: 'a head sent letter by letter', send: letters(LIVE, 2), outcome: '200 open' },
  {
    name: 'a body sent letter by letter',
    send: [post(lengthOf(edge(7001)), ''), ...letters(edge(7001), 3)],
    outcome: '201 open',
    stores: [7001],
  },
  { name: 'half-closed after a read', send: [get('/v1/wal'), 'FIN'], outcome: '200 closed' },
  {
    name: 'half-closed after a write',
    send: [insert(7002), 'FIN'],
    outcome: '201 closed',
    // The end of the stream may be noticed before the write is durable.
    orElse: 'closed',
    mayStore: [7002],
  },
  { name: 'half-closed after half a head', send: [LIVE.slice(0, 30), 'FIN'], outcome: 'closed' },
  { name: 'reset in a head', send: [LIVE.slice(0, 30), 5, 'RESET'], outcome: 'gone' },
  { name: 'reset in a body', send: [post('Content-Length: 500\r\n', edge(7003)), 5, 'RESET'], outcome: 'gone' },
  { name: 'reset in a chunk', send: [chunked('1f4\r\n{"event_ts"'), 5, 'RESET'], outcome: 'gone' },
  { name: 'reset between chunks', send: [chunked(chunk(edge(7004))), 5, 'RESET'], outcome: 'gone' },
  {
    name: 'reset in an upload of lines',
    send: [
      post('Content-Type: application/x-ndjson\r\nContent-Length: 900000\r\n', `${edge(7005)}\n`.repeat(20_000)),
      5,
      'RESET',
    ],
    outcome: 'gone',
  },
  { name: 'reset after a write', send: [insert(7006), 'RESET'], outcome: 'gone', mayStore: [7006] },
  { name: 'reset after a batch of pipelined reads', send: [get(BULK).repeat(20), 'RESET'], outcome: 'gone' },
  { name: 'reset in a stream', send: [get(BULK), 30, 'RESET'], outcome: 'gone' },
  { name: 'reset in a stream that is not read', send: ['PAUSE', get(BULK), 50, 'RESET'], outcome: 'gone' },
];

/**
 * These cases take as long as the time limits of the service. They run at the same time as each
 * other and as all other cases.
 */
export const waiters: readonly RawCase[] = [
  { name: 'a connection without any bytes', send: [], outcome: 'closed' },
  { name: 'half a head, then nothing', send: [LIVE.slice(0, 30)], outcome: 'closed' },
  { name: 'half a body, then nothing', send: [post('Content-Length: 500\r\n', edge(8001))], outcome: 'closed' },
  { name: 'half a chunk, then nothing', send: [chunked('1f4\r\n{"event_ts"')], outcome: '411 closed' },
  { name: 'an answer, then nothing', send: [LIVE], outcome: '200 closed' },
  { name: 'a head sent at a letter per second', send: [...letters(LIVE.slice(0, 16), 1000)], outcome: 'closed' },
  {
    name: 'a body sent at a letter per second',
    send: [post(lengthOf(edge(8002)), ''), ...letters(edge(8002).slice(0, 16), 1000)],
    outcome: 'closed',
  },
];
