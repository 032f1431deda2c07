// Defines the ways in which a language model service can fail, each with the message that reports
// the failure.

import { gzipSync } from 'node:zlib';
import { answering, completionJson, type Respond } from './model-server.ts';

/** A key that must not appear in any message, like a real secret. */
export const KEY = 'sk-canary-0123456789abcdefghijklmnop';
const MEGABYTE = 2 ** 20;

/** Answers with a status and a body that repeats the key. */
function refusing(status: number, headers: Readonly<Record<string, string>> = {}): Respond {
  return (response, _, { headers: sent }) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error: { message: `Incorrect API key provided: ${sent.authorization}` } }));
  };
}

/** Answers with raw bytes, without HTTP. */
export function raw(...parts: readonly (string | Buffer)[]): Respond {
  return (_, socket) => {
    for (const part of parts) socket.write(part);
    socket.end();
  };
}

export const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
export const withMessage = (message: unknown) => answering(completionJson('', { choices: [{ index: 0, message }] }));

/** Faults and the messages that report them. All have the code `model_failed`. */
export const FAULTS: Readonly<Record<string, readonly [Respond, RegExp]>> = {
  'status-400': [refusing(400), /refused the request: check the model name "asked-model".*\(status 400\)/],
  'status-401': [refusing(401), /refused the key: check that it is valid.*\(status 401\)/],
  'status-403': [refusing(403), /refused the key.*\(status 403\)/],
  'status-404': [refusing(404), /check the model name "asked-model" and the base address \(status 404\)/],
  'status-413': [refusing(413), /token budget/],
  'status-429': [refusing(429, { 'retry-after': '20' }), /try again later, or check its quota \(status 429\)/],
  'status-500': [refusing(500), /try again later \(status 500\)/],
  'status-503': [refusing(503), /try again later \(status 503\)/],
  'status-201': [refusing(201), /check the base address \(status 201\)/],
  'status-204': [(response) => response.writeHead(204).end(), /\(status 204\)/],
  'redirect-301': [refusing(301, { location: '/good/chat/completions' }), /redirects are not followed/],
  'redirect-307': [
    refusing(307, { location: 'http://169.254.169.254/latest/meta-data/' }),
    /redirects are not followed/,
  ],
  'redirect-308': [refusing(308, { location: `/${KEY}` }), /redirects are not followed/],
  'not-modified': [(response) => response.writeHead(304).end(), /\(status 304\)/],
  html: [answering('<html>', { 'content-type': 'text/html' }), /something other than JSON/],
  'no-type': [raw('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'), /something other than JSON/],
  'event-stream': [answering('data: {}\n\n', { 'content-type': 'text/event-stream' }), /something other than JSON/],
  'broken-json': [answering(`{"choices": [${KEY}`), /broken JSON/],
  'empty-body': [answering(''), /broken JSON/],
  'two-values': [answering(`${completionJson('a')}${completionJson('b')}`), /broken JSON/],
  'deep-json': [answering(`${'['.repeat(500_000)}${']'.repeat(500_000)}`), /no choices/],
  'json-null': [answering('null'), /no choices/],
  'json-list': [answering('[]'), /no choices/],
  'missing-choices': [answering(JSON.stringify({ error: { message: KEY } })), /no choices/],
  'choices-object': [answering('{"choices": {"0": {}}}'), /no choices/],
  'empty-choices': [answering('{"choices": []}'), /no message/],
  'choice-null': [answering('{"choices": [null]}'), /no message/],
  'missing-message': [answering('{"choices": [{"text": "old"}]}'), /no message/],
  'message-list': [withMessage([]), /no message/],
  'content-number': [withMessage({ content: 42 }), /is not text/],
  'content-object': [withMessage({ content: { text: KEY } }), /is not text/],
  'content-parts-of-numbers': [withMessage({ content: [1, 2] }), /is not text/],
  'content-part-without-text': [withMessage({ content: [{ type: 'text', text: 7 }] }), /is not text/],
  'invalid-utf8': [
    answering(Buffer.concat([Buffer.from('{"choices": "'), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from('"}')])),
    /not UTF-8/,
  ],
  latin1: [answering(Buffer.from(completionJson('Übung'), 'latin1')), /not UTF-8/],
  gzip: [answering(gzipSync(completionJson('packed')), { 'content-encoding': 'gzip' }), /compressed its answer/],
  'gzip-bomb': [
    answering(gzipSync(Buffer.alloc(64 * MEGABYTE)), { 'content-encoding': 'gzip' }),
    /compressed its answer/,
  ],
  'unknown-encoding': [answering('{}', { 'content-encoding': 'identity, br' }), /compressed its answer/],
  'over-1-mb': [answering(completionJson('x'.repeat(MEGABYTE))), /longer answer than 1 MB/],
  'over-1-mb-in-chunks': [
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      for (let i = 0; i < 40; i++) response.write(' '.repeat(64 * 1024));
      response.end(completionJson('late'));
    },
    /longer answer than 1 MB/,
  ],
  'endless-body': [
    (response, socket) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        while (!socket.destroyed && response.write(' '.repeat(16 * 1024)));
      };
      response.on('drain', more);
      more();
    },
    /longer answer than 1 MB/,
  ],
  'length-of-a-terabyte': [raw(`${HEAD}content-length: 1099511627776\r\n\r\n{`), /longer answer than 1 MB/],
  'reset-before-head': [(_, socket) => socket.resetAndDestroy(), /closed the connection early/],
  'closed-before-head': [(_, socket) => socket.end(), /closed the connection early/],
  'closed-within-head': [raw('HTTP/1.1 200 OK\r\ncontent-ty'), /closed the connection early/],
  'closed-mid-body': [raw(`${HEAD}content-length: 5000\r\n\r\n{"choices": [`), /closed the connection early/],
  'reset-mid-body': [
    (response, socket) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 5000 });
      response.write('{"choices": [', () => socket.resetAndDestroy());
    },
    /closed the connection early/,
  ],
  'chunks-cut-off': [raw(`${HEAD}transfer-encoding: chunked\r\n\r\n5\r\n{"cho`), /closed the connection early/],
  'wrong-chunk-size': [raw(`${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`), /did not answer in HTTP/],
  'length-that-is-short': [
    raw(`${HEAD}content-length: 2\r\n\r\n${completionJson('a')}`),
    /broken JSON|closed the connection early/,
  ],
  'two-lengths': [
    raw(`${HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\n{}`),
    /did not answer in HTTP|closed the connection early/,
  ],
  'no-status': [raw('HTTP/1.1 2xx OK\r\n\r\n'), /did not answer in HTTP/],
  'no-http': [raw(`SSH-2.0-OpenSSH_9.6 ${KEY}\r\n`), /did not answer in HTTP/],
  'huge-head': [raw('HTTP/1.1 200 OK\r\n', `x-filler: ${'y'.repeat(100_000)}\r\n\r\n`), /did not answer in HTTP/],
};

/** Faults in which the answer never begins or never ends. */
export const SLOW: Readonly<Record<string, Respond>> = {
  'no-answer': () => {},
  'head-only': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
  },
  'half-a-head': (_, socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: appli');
  },
  'trickled-body': (response, socket) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 5);
    socket.on('close', () => clearInterval(timer));
  },
  'trickled-head': (_, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('x-a: 1\r\n'), 5);
    socket.on('close', () => clearInterval(timer));
  },
  'endless-hints': (_, socket) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'), 5);
    socket.on('close', () => clearInterval(timer));
  },
};
