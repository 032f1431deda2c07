// Starts a chat-completions service for tests on a free loopback port. Each path is answered in a
// different way.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface Received {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

/** Answers a request. `socket` can be used to send raw bytes. */
export type Respond = (response: ServerResponse, socket: Socket, request: Received) => void;

export interface ModelServer {
  readonly port: number;
  /** Returns the base address at which requests get this kind of answer. */
  at(name: string): string;
  readonly received: Received[];
  /** Returns how many connections have been made, and how many of them are open. */
  connections(): { made: number; open: number };
  close(): Promise<void>;
}

export async function startModelServer(
  ways: Readonly<Record<string, Respond>>,
  host = '127.0.0.1',
): Promise<ModelServer> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  let made = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers, socket } = request;
      const one = { method, path: url, headers, body: Buffer.concat(chunks).toString() };
      received.push(one);
      ways[url?.split('/')[1] ?? '']?.(response, socket, one);
    });
  });
  server.on('connection', (socket) => {
    made++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    at: (name) => `http://${host}:${port}/${name}`,
    received,
    connections: () => ({ made, open: sockets.size }),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns the JSON body of a completion. */
export function completionJson(content: unknown, more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'test-model-2026',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 21, completion_tokens: 4, total_tokens: 25 },
    ...more,
  });
}

/** Answers with status 200 and the given body as JSON. */
export function answering(body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): Respond {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.end(body);
  };
}
