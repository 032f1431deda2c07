// Lists the raw-socket cases that have another result over node:http. The cases themselves contain
// the results over uWebSockets.js.
//
// The two parsers refuse the same requests with different statuses. In addition, node:http accepts
// some harmless deviations (a leading empty line, two spaces) and refuses some that uWebSockets.js
// skips. It parses chunks strictly, and holds back a pipelined request until its predecessor is
// answered.

import type { RawCase } from './raw-request.ts';

/** How the expected result of a case differs. A value of undefined removes the expectation. */
export type Difference = {
  [Name in 'outcome' | 'orElse' | 'says' | 'stores' | 'mayStore']?: RawCase[Name] | undefined;
};

const REFUSED: Difference = { outcome: '400 closed', says: undefined, stores: undefined, mayStore: undefined };

/** Returns all named cases with the same difference. */
const all = (names: readonly string[], difference: Difference = REFUSED): Record<string, Difference> =>
  Object.fromEntries(names.map((name) => [name, difference]));

const stored = (time: number, outcome = '201 open'): Difference => ({ outcome, stores: [time], mayStore: undefined });

/** The differences, by group and name of the case. */
export const OVER_NODE: Readonly<Record<string, Readonly<Record<string, Difference>>>> = {
  'a request line': {
    'an empty line first': { outcome: '200 open' },
    'two spaces after the method': { outcome: '200 open' },
    CONNECT: { outcome: 'closed' },
    'CONNECT with a path': { outcome: 'closed' },
    ...all([
      'bytes that are not a request',
      'a version in lower case',
      'another protocol',
      'tabs between the parts',
      'a space before the method',
      'no method',
      'no target',
      'a method with a NUL',
      'a target without a slash',
      'a method in lower case',
      'an unknown method',
      'a method of 3,000 letters',
      'absolute form',
      'absolute form of another host',
      'OPTIONS *',
    ]),
  },
  'a path': all([
    'with a NUL',
    'with a tab',
    'with a NUL in the query',
    'with 8-bit bytes',
    'with DEL',
    'with 8-bit bytes in the query',
  ]),
  headers: {
    ...all([
      'no name',
      'no name, before the key',
      'no name, before the length',
      'no name, before a length that hides a request',
      'a value with a bare CR',
      'X-Request-Id with a bare CR',
      'Idempotency-Key with a bare CR',
    ]),
    'Content-Type with 8-bit bytes': { outcome: '415 open', stores: undefined },
    'X-Min-LSN that is not a number': { outcome: '400 open' },
  },
  'a length': {
    ...all([
      'empty',
      'twice, equal',
      'twice, 0 first',
      'twice, 0 last',
      'twice, of a GET',
      'twice, in other letter case',
    ]),
    'no length and no chunks': { outcome: '400 open' },
    'no length, but a body': { outcome: '400 400 closed' },
    'too short for the body': { outcome: '201 400 closed' },
  },
  chunks: {
    two: stored(4001),
    'a size with zeros before it': stored(4002),
    'an extension': stored(4003),
    'a quoted extension': stored(4004),
    'a trailer': stored(4007),
    '5,000 chunks of one byte': stored(4022),
    'Transfer-Encoding in capitals': stored(4028),
    'chunked after a tab': stored(4032),
    none: { outcome: '400 open' },
    // node:http waits for the rest of such a body until the body as a whole is too slow.
    ...all(
      [
        'a size of 16 digits',
        'a size that wraps 64 bits',
        'a size that wraps 32 bits',
        'a chunk shorter than its size',
        'no last chunk',
        'a last chunk without its empty line',
      ],
      { outcome: 'silent' },
    ),
    'no last chunk, then the end of the stream': { outcome: 'closed' },
    ...all([
      'an empty extension',
      'an empty extension that may be read as a digit',
      'an extension with a bare LF',
      'trailers with the names of headers',
      'a request in place of trailers',
      'an empty size',
      'an empty size, then a request',
      'a space before a size',
      'a space after a size',
      'lines that end with LF only',
      'Transfer-Encoding twice',
      'chunked twice in one value',
      'of coding chunked, gzip',
      'of no coding, beside a length',
    ]),
  },
  'a body': {
    'of a GET, in chunks': { outcome: '200 open' },
    'garbage after a read': { outcome: '200 400 closed' },
  },
  'another protocol': all([
    'the preface of HTTP/2',
    'the first message of TLS',
    'SMTP',
    'the PROXY protocol, version 1',
    'the PROXY protocol, version 2',
    'the PROXY protocol, version 2, without an address',
    'SSH',
    'SOCKS 5',
    'Redis',
  ]),
  waiters: { 'half a chunk, then nothing': { outcome: 'closed' } },
  'a pipeline of': {
    'a write, then a read': { outcome: '201 200 open', stores: [6002], mayStore: undefined },
    'two writes': { outcome: '201 201 open', stores: [6003, 6004], mayStore: undefined },
    'a long stream, then a read': { outcome: '200 200 open' },
    'reads after Connection: close': { outcome: '200 closed' },
    'a write, then garbage': { outcome: '201 400 closed', stores: [6005], mayStore: undefined },
  },
};
