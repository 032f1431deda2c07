// Runs a small chat-completions server that answers as the test prescribes and records its
// requests.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  headers: IncomingHttpHeaders;
  body: string;
}

export interface ModelStandIn {
  readonly baseUrl: string;
  readonly asked: Asked[];
  /** The function that answers the next requests. Tests replace it. */
  answer: (response: ServerResponse, asked: Asked) => void;
  close(): Promise<void>;
}

export async function startModel(): Promise<ModelStandIn> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', () => {
      const one = { headers: request.headers, body: Buffer.concat(chunks).toString() };
      asked.push(one);
      model.answer(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const model: ModelStandIn = {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    asked,
    answer: says('Nothing.'),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return model;
}

/** Returns a function that sends a successful answer with this text. */
export function says(text: string): ModelStandIn['answer'] {
  return sends({
    model: 'stand-in-1',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 },
  });
}

export function sends(value: unknown, status = 200, type = 'application/json'): ModelStandIn['answer'] {
  return (response) => {
    response.writeHead(status, { 'content-type': type });
    response.end(typeof value === 'string' ? value : JSON.stringify(value));
  };
}
