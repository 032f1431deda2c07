// Sends one POST to one origin and reads its answer: no redirect, no proxy, no second attempt, no other address than the ones it is given.

import type { LookupFunction, Socket } from 'node:net';
import { isIP } from 'node:net';
import type { buildConnector } from 'undici';

export interface PostRequest {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The addresses of the origin's host; empty when it is one itself. */
  readonly addresses: readonly string[];
  /** Limit of an answer in bytes; above it `AnswerTooLong` is thrown. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface AnswerHead {
  readonly status: number;
  /** By lower-case name; repeated ones joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
}

/** `onHead` throws when the body is not wanted. Rejects with whatever failed; once it has settled, the connection is closed. */
export type Post = (request: PostRequest, onHead: (head: AnswerHead) => void) => Promise<Uint8Array>;

export class AnswerTooLong extends Error {}

export const post: Post = async (request, onHead) => {
  // Some 130 ms of one core, paid with the first question and not at start.
  const { Client, buildConnector } = await import('undici');
  request.signal.throwIfAborted();
  const sockets: Socket[] = [];
  const connect = buildConnector({
    // A name is looked up no second time: it could lead elsewhere by then.
    lookup: lookupIn(request.addresses),
    autoSelectFamily: true,
    rejectUnauthorized: true,
    timeout: 0, // the signal counts for everything
  }) as (options: buildConnector.Options, callback: buildConnector.Callback) => Socket;
  const client = new Client(request.origin, {
    connect: (options, callback) => sockets.push(connect(options, callback)),
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 0, // one request a connection
  });
  const close = () => {
    client.destroy().catch(() => {});
    // One that is still connecting is not the client's yet.
    for (const socket of sockets) socket.destroy();
  };
  // The client itself heeds a signal only once it is connected.
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
  // It may fail once more after it was left.
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
