// Sends one POST to one origin and reads its answer: no redirects, no proxy, no retry, and no
// addresses other than those given.

import type { LookupFunction, Socket } from 'node:net';
import { isIP } from 'node:net';
import type { buildConnector } from 'undici';

export interface PostRequest {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The addresses of the origin's host; empty if the host is itself an address. */
  readonly addresses: readonly string[];
  /** Maximum size of an answer in bytes. `post` rejects with `AnswerTooLong` if it is longer. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface AnswerHead {
  readonly status: number;
  /** By lower-case name; the values of repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Sends a request and resolves to the body of the answer. `onHead` may throw to refuse the body.
 * Rejects with the underlying error. The connection is closed before the promise settles.
 */
export type Post = (request: PostRequest, onHead: (head: AnswerHead) => void) => Promise<Uint8Array>;

export class AnswerTooLong extends Error {}

export const post: Post = async (request, onHead) => {
  // undici is loaded at the first question, not at startup, because loading takes 130 ms of a core.
  const { Client, buildConnector } = await import('undici');
  request.signal.throwIfAborted();
  const sockets: Socket[] = [];
  const connect = buildConnector({
    // The name is not looked up again: it could resolve to another address by then.
    lookup: lookupIn(request.addresses),
    autoSelectFamily: true,
    rejectUnauthorized: true,
    timeout: 0, // the signal covers every timeout
  }) as (options: buildConnector.Options, callback: buildConnector.Callback) => Socket;
  const client = new Client(request.origin, {
    connect: (options, callback) => sockets.push(connect(options, callback)),
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 0, // one request per connection
  });
  const close = () => {
    client.destroy().catch(() => {});
    // A socket that is still connecting does not belong to the client yet.
    for (const socket of sockets) socket.destroy();
  };
  // The client observes a signal only once it is connected.
  request.signal.addEventListener('abort', close, { once: true });
  try {
    return await send(client, request, onHead);
  } finally {
    request.signal.removeEventListener('abort', close);
    close();
  }
};

type UndiciClient = InstanceType<typeof import('undici').Client>;

async function send(
  client: UndiciClient,
  request: PostRequest,
  onHead: (head: AnswerHead) => void,
): Promise<Uint8Array> {
  const { path, headers, signal, maxBytes } = request;
  const response = await client.request({ method: 'POST', path, headers, body: request.body, signal });
  const { body } = response;
  // The body may emit another error after it was abandoned.
  body.on('error', () => {});
  const head = { status: response.statusCode, headers: joined(response.headers) };
  onHead(head);
  if (Number(head.headers['content-length']) > maxBytes) throw new AnswerTooLong();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxBytes) throw new AnswerTooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

function lookupIn(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    const first = found[0];
    if (first === undefined) callback(new Error('no address to connect to'), '');
    else if (options.all === true) callback(null, found);
    else callback(null, first.address, first.family);
  };
}

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}
