// Defines raw-socket cases, part two: lengths, chunks and bodies that a well-behaved client never
// sends.

import {
  chunk,
  chunked,
  EDGE_BYTES,
  EDGE_HEX,
  edge,
  get,
  inChunks,
  insert,
  LIVE,
  lengthOf,
  live,
  post,
  type RawCase,
  request,
} from './raw-request.ts';

const N = EDGE_BYTES;

export const lengths: readonly RawCase[] = [
  { name: 'negative', send: [post('Content-Length: -1\r\n', edge(3001))], outcome: '400 closed' },
  { name: 'with a plus', send: [post(`Content-Length: +${N}\r\n`, edge(3002))], outcome: '400 closed' },
  { name: 'in hexadecimal', send: [post(`Content-Length: 0x${EDGE_HEX}\r\n`, edge(3003))], outcome: '400 closed' },
  { name: 'with a fraction', send: [post(`Content-Length: ${N}.0\r\n`, edge(3004))], outcome: '400 closed' },
  { name: 'not a number', send: [post('Content-Length: abc\r\n', edge(3005))], outcome: '400 closed' },
  { name: 'empty', send: [post('Content-Length:\r\n', '')], outcome: '400 closed' },
  { name: 'two in one value', send: [post(`Content-Length: ${N}, ${N}\r\n`, edge(3006))], outcome: '400 closed' },
  { name: 'with a space inside', send: [post('Content-Length: 3 6\r\n', edge(3007))], outcome: '400 closed' },
  {
    name: 'with zeros before it',
    send: [post(`Content-Length: 000${N}\r\n`, edge(3008))],
    outcome: '201 open',
    stores: [3008],
  },
  { name: '2^53', send: [post('Content-Length: 9007199254740993\r\n', edge(3009))], outcome: '413 closed' },
  { name: '2^64', send: [post('Content-Length: 18446744073709551616\r\n', edge(3010))], outcome: '400 closed' },
  { name: 'of 40 digits', send: [post(`Content-Length: ${'9'.repeat(40)}\r\n`, edge(3011))], outcome: '400 closed' },
  { name: 'over the limit', send: [post('Content-Length: 70000000\r\n', 'x')], outcome: '413 silent' },
  {
    name: 'twice, equal',
    send: [post(lengthOf(edge(3012)) + lengthOf(edge(3012)), edge(3012))],
    outcome: '400 closed',
  },
  {
    name: 'twice, 0 first',
    send: [post(`Content-Length: 0\r\nContent-Length: 500\r\n`, insert(3013))],
    outcome: 'closed',
  },
  {
    name: 'twice, 0 last',
    send: [post(`${lengthOf(edge(3014))}Content-Length: 0\r\n`, edge(3014))],
    outcome: '400 closed',
  },
  {
    name: 'twice, of a GET',
    send: [live(`Content-Length: 0\r\nContent-Length: 500\r\n`, insert(3023))],
    outcome: 'closed',
  },
  {
    name: 'twice, in other letter case',
    send: [post(`${lengthOf(edge(3015))}CONTENT-lENGTH: 2\r\n`, edge(3015))],
    outcome: '400 closed',
  },
  { name: 'no length and no chunks', send: [post('', '')], outcome: '400 closed' },
  { name: 'no length, but a body', send: [post('', edge(3016))], outcome: '400 closed' },
  { name: 'too short for the body', send: [insert(3017) + edge(3018)], outcome: '201 silent', stores: [3017] },
  { name: 'too long for the body', send: [post('Content-Length: 60\r\n', edge(3019))], outcome: 'silent' },
  {
    name: 'too long for the body, then the end of the stream',
    send: [post('Content-Length: 60\r\n', edge(3020)), 'FIN'],
    outcome: 'closed',
  },
];

const codings = (value: string, time: number) => post(`Transfer-Encoding:${value}\r\n`, inChunks(time));

export const chunks: readonly RawCase[] = [
  {
    name: 'two',
    send: [chunked(`${chunk(edge(4001).slice(0, 9))}${chunk(edge(4001).slice(9))}0\r\n\r\n`)],
    outcome: '411 closed',
  },
  {
    name: 'a size with zeros before it',
    send: [chunked(`0000${EDGE_HEX}\r\n${edge(4002)}\r\n0\r\n\r\n`)],
    outcome: '411 closed',
  },
  {
    name: 'an extension',
    send: [chunked(`${EDGE_HEX};name=value\r\n${edge(4003)}\r\n0\r\n\r\n`)],
    outcome: '400 closed',
  },
  {
    name: 'a quoted extension',
    send: [chunked(`${EDGE_HEX};n="a;b"\r\n${edge(4004)}\r\n0\r\n\r\n`)],
    outcome: '400 closed',
  },
  {
    name: 'an extension with a line break in quotes',
    send: [chunked(`${EDGE_HEX};n="a\r\n${edge(4005)}\r\n0\r\n\r\n`)],
    outcome: '400 closed',
  },
  // uWebSockets.js reads the size `1;` as 27.
  {
    name: 'an empty extension',
    send: [chunked(`${EDGE_HEX};\r\n${edge(4041)}\r\n0\r\n\r\n`)],
    outcome: '411 closed',
  },
  {
    name: 'an empty extension that may be read as a digit',
    send: [chunked(`2;\r\n${edge(4042).padEnd(0x2b)}\r\n0\r\n\r\n`)],
    outcome: '411 closed',
  },
  {
    name: 'an extension with a bare LF',
    send: [chunked(`${EDGE_HEX};a\n${edge(4033)}\r\n0\r\n\r\n`)],
    outcome: '411 closed',
  },
  {
    name: 'an extension of 100,000 letters',
    send: [chunked(`${EDGE_HEX};${'e'.repeat(100_000)}\r\n${edge(4006)}\r\n0\r\n\r\n`)],
    outcome: '400 closed',
  },
  {
    name: 'a trailer',
    send: [chunked(`${chunk(edge(4007))}0\r\nX-Trailer: a\r\n\r\n`)],
    outcome: '505 closed',
    mayStore: [4007],
  },
  {
    name: 'trailers with the names of headers',
    send: [chunked(`${chunk(edge(4008))}0\r\nContent-Length: 5\r\nHost: y\r\n\r\n`)],
    outcome: '505 closed',
    mayStore: [4008],
  },
  {
    name: 'a request in place of trailers',
    send: [chunked(`${chunk(edge(4034))}0\r\n${insert(4035)}`)],
    outcome: 'closed',
    mayStore: [4034],
  },
  { name: 'a size that is not a number', send: [chunked(`zz\r\n${edge(4009)}\r\n0\r\n\r\n`)], outcome: '400 closed' },
  { name: 'a negative size', send: [chunked(`-${EDGE_HEX}\r\n${edge(4010)}\r\n0\r\n\r\n`)], outcome: '400 closed' },
  { name: 'a size with 0x', send: [chunked(`0x${EDGE_HEX}\r\n${edge(4011)}\r\n0\r\n\r\n`)], outcome: '400 closed' },
  { name: 'an empty size', send: [chunked(`\r\n${edge(4012)}\r\n0\r\n\r\n`)], outcome: '411 closed' },
  {
    name: 'an empty size, then a request',
    send: [chunked(`\r\n\r\n${insert(4036)}`)],
    outcome: 'closed',
  },
  { name: 'a size of 16 digits', send: [chunked(`ffffffffffffffff\r\n${edge(4013)}`)], outcome: '400 closed' },
  {
    name: 'a size that wraps 64 bits',
    send: [chunked(`10000000000000${EDGE_HEX}\r\n${edge(4014)}\r\n0\r\n\r\n`)],
    outcome: '400 closed',
  },
  {
    name: 'a size that wraps 32 bits',
    send: [chunked(`1000000${EDGE_HEX}\r\n${edge(4037)}\r\n0\r\n\r\n`)],
    outcome: '411 closed',
  },
  {
    name: 'a space before a size',
    send: [chunked(` ${EDGE_HEX}\r\n${edge(4015)}\r\n0\r\n\r\n`)],
    outcome: '411 closed',
  },
  {
    name: 'a space after a size',
    send: [chunked(`${EDGE_HEX} \r\n${edge(4038)}\r\n0\r\n\r\n`)],
    outcome: '411 closed',
  },
  {
    name: 'lines that end with LF only',
    send: [chunked(`${EDGE_HEX}\n${edge(4016)}\n0\n\n`)],
    outcome: '411 closed',
  },
  { name: 'a chunk longer than its size', send: [chunked(`5\r\n${edge(4017)}\r\n0\r\n\r\n`)], outcome: '400 closed' },
  { name: 'a chunk shorter than its size', send: [chunked(`40\r\n${edge(4018)}\r\n0\r\n\r\n`)], outcome: '411 closed' },
  { name: 'no last chunk', send: [chunked(chunk(edge(4019)))], outcome: '411 closed' },
  {
    name: 'no last chunk, then the end of the stream',
    send: [chunked(chunk(edge(4020))), 'FIN'],
    outcome: '411 closed',
  },
  {
    name: 'a last chunk without its empty line',
    send: [chunked(`${chunk(edge(4021))}0\r\n`)],
    outcome: '411 closed',
  },
  {
    name: '5,000 chunks of one byte',
    send: [chunked(`${chunk(' ').repeat(5000)}${inChunks(4022)}`)],
    outcome: '411 closed',
  },
  { name: 'none', send: [chunked('0\r\n\r\n')], outcome: '411 closed' },
  {
    name: 'after Content-Length',
    send: [post(`Content-Length: 5\r\nTransfer-Encoding: chunked\r\n`, '0\r\n\r\n')],
    outcome: '400 closed',
  },
  { name: 'before Content-Length', send: [chunked('0\r\n\r\n', 'Content-Length: 5\r\n')], outcome: '400 closed' },
  {
    name: 'Transfer-Encoding twice',
    send: [chunked(inChunks(4023), 'Transfer-Encoding: chunked\r\n')],
    outcome: '400 closed',
  },
  { name: 'chunked twice in one value', send: [codings(' chunked, chunked', 4024)], outcome: '400 closed' },
  { name: 'of coding identity', send: [codings(' identity', 4025)], outcome: '400 closed' },
  { name: 'of coding gzip, chunked', send: [codings(' gzip, chunked', 4026)], outcome: '400 closed' },
  { name: 'of coding chunked, gzip', send: [codings(' chunked, gzip', 4039)], outcome: '400 closed' },
  { name: 'of coding xchunked', send: [codings(' xchunked', 4027)], outcome: '400 closed' },
  {
    name: 'Transfer-Encoding in capitals',
    send: [post('TRANSFER-ENCODING: CHUNKED\r\n', inChunks(4028))],
    outcome: '411 closed',
  },
  { name: 'chunked after a tab', send: [codings('\tchunked', 4032)], outcome: '411 closed' },
  { name: 'chunked after a vertical tab', send: [codings(' \x0bchunked', 4040)], outcome: '400 closed' },
  {
    name: 'of no coding, beside a length',
    send: [insert(4029, 'Transfer-Encoding:\r\n')],
    outcome: '400 closed',
  },
  {
    name: 'of coding identity, beside a length',
    send: [insert(4030, 'Transfer-Encoding: identity\r\n')],
    outcome: '400 closed',
  },
  {
    name: 'with a space before the colon',
    send: [insert(4031, 'Transfer-Encoding : chunked\r\n')],
    outcome: '400 closed',
  },
];

const json = (body: string, headers = '') => [post(lengthOf(body) + headers, body)];
const NDJSON = 'Content-Type: application/x-ndjson\r\n';
const hidden = insert(5100);
const hiddenLength = lengthOf(hidden);

export const bodies: readonly RawCase[] = [
  { name: '30,000 open brackets', send: json('['.repeat(30_000)), outcome: '400 open' },
  {
    name: 'an edge 30,000 objects deep',
    send: json(`{"event_ts":1,"members":${'{"a":'.repeat(30_000)}1${'}'.repeat(30_001)}`),
    outcome: '400 open',
  },
  {
    name: 'bytes that are not UTF-8',
    send: json('{"event_ts":5001,"members":[1],"formation":"\xff\xfe"}'),
    outcome: '400 open',
  },
  { name: 'a NUL in the text', send: json('{"event_ts":5002,"members":[1],"formation":"a\0b"}'), outcome: '400 open' },
  { name: 'a byte order mark first', send: json(`\xef\xbb\xbf${edge(5003)}`), outcome: '201 open', stores: [5003] },
  { name: '__proto__', send: json('{"__proto__":{"event_ts":1,"members":[1]}}'), outcome: '400 open' },
  {
    name: 'a member of 400 digits',
    send: json(`{"event_ts":5004,"members":[${'9'.repeat(400)}]}`),
    outcome: '400 open',
  },
  { name: '1e400 as a time', send: json('{"event_ts":1e400,"members":[1]}'), outcome: '400 open' },
  {
    name: 'gzip with its Content-Encoding',
    send: json('\x1f\x8b\x08\0\0\0\0\0\0\x03', 'Content-Encoding: gzip\r\n'),
    outcome: '415 open',
  },
  {
    name: 'lines, the second of which is wrong',
    send: json(`${edge(5005)}\n{"event_ts":}\n${edge(5006)}\n`, NDJSON),
    outcome: '400 open',
  },
  {
    name: 'lines that end with CRLF, except the last',
    send: json(`${edge(5007)}\r\n${edge(5008)}`, NDJSON),
    outcome: '201 open',
    stores: [5007, 5008],
  },
  { name: 'of a GET', send: [live(hiddenLength, hidden)], outcome: '200 open' },
  {
    name: 'of a GET, in chunks',
    send: [live('Transfer-Encoding: chunked\r\n', `${chunk(hidden)}0\r\n\r\n`)],
    outcome: '411 closed',
  },
  { name: 'of a HEAD', send: [request('HEAD /v1/tables', hiddenLength, hidden)], outcome: '200 open' },
  { name: 'of an OPTIONS', send: [request('OPTIONS /v1/tables', hiddenLength, hidden)], outcome: '200 open' },
  {
    name: 'of a DELETE whose route takes no body',
    send: [request('DELETE /v1/tables/none', hiddenLength, hidden)],
    outcome: '404 open',
  },
  { name: 'of an unknown path', send: [request('POST /nope', hiddenLength, hidden)], outcome: '404 open' },
  {
    name: 'of a method that the path does not have',
    send: [request('PUT /v1/tables', hiddenLength, hidden)],
    outcome: '405 open',
  },
  { name: 'of another type', send: json(hidden, 'Content-Type: text/plain\r\n'), outcome: '415 open' },
  {
    name: 'without a key',
    send: [`POST /v1/hyperedges HTTP/1.1\r\nHost: x\r\n${hiddenLength}\r\n${hidden}`],
    outcome: '401 open',
  },
  {
    name: 'with a wrong key',
    send: [`POST /v1/hyperedges HTTP/1.1\r\nHost: x\r\nX-API-Key: no\r\n${hiddenLength}\r\n${hidden}`],
    outcome: '401 open',
  },
  {
    name: 'after Expect: 100-continue',
    send: [post(`${lengthOf(edge(5009))}Expect: 100-continue\r\n`, ''), 50, edge(5009)],
    outcome: '100 201 open',
    stores: [5009],
  },
  { name: 'after an unknown Expect', send: json(edge(5010), 'Expect: tea\r\n'), outcome: '201 open', stores: [5010] },
  {
    name: 'of a read that should upgrade to a WebSocket',
    send: [
      get(
        '/v1/tables',
        'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
      ),
    ],
    outcome: '200 open',
  },
  {
    name: 'of a read that should upgrade to HTTP/2',
    send: [
      get(
        '/v1/tables',
        'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n',
      ),
    ],
    outcome: '200 open',
  },
  { name: 'garbage after a read', send: [`${LIVE}\x00\xff garbage \r\n\r\n`], outcome: '505 closed' },
];
