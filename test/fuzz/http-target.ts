// A fuzz target that sends raw HTTP to the service in this process. Each connection must be
// answered or closed, and no answer may have status 500 or contain a stack trace.

import { connect } from 'node:net';
import { startServer } from '../http/support.ts';
import { REQUEST_WORDS, REQUESTS } from './corpus/texts.ts';
import { type Target, Wrong } from './fuzz-loop.ts';
import { mutateText } from './support/mutate-text.ts';

/** How long the service may wait for the rest of a request after the client has ended its side. */
const PATIENCE_MS = 900;
const STACK = /\bat [\w.<>]+ \(?(file:|\/|node:)/;

export async function httpTarget(): Promise<Target<string>> {
  const server = await startServer();
  return {
    name: 'http',
    share: 10,
    seeds: REQUESTS,
    guided: true,
    mutate: (random, source, corpus) => mutateText(random, source, REQUEST_WORDS, corpus),
    async run(text) {
      const answer = await exchange(server.port, Buffer.from(text, 'latin1'));
      const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
      if (answer !== '' && !answer.startsWith('HTTP/1.1 ')) throw new Wrong(`the answer is ${answer.slice(0, 200)}`);
      if (statuses.some((status) => status === 500)) throw new Wrong(`a status 500: ${answer.slice(0, 500)}`);
      if (STACK.test(answer)) throw new Wrong(`a stack in the answer: ${answer.slice(0, 500)}`);
      if (server.errors.length > 0) throw new Wrong(`the service logged ${server.errors[0]}`);
      return statuses.some((status) => status < 300);
    },
    show: (text) => JSON.stringify(text),
    end: () => server.close(),
  };
}

/**
 * Returns everything received until the service closes the connection or has been silent for long
 * enough.
 */
function exchange(port: number, bytes: Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let text = '';
    const end = () => {
      socket.destroy();
      resolve(text);
    };
    socket.setTimeout(PATIENCE_MS, end);
    socket.on('data', (data) => {
      text += data.toString('latin1');
    });
    socket.on('close', end);
    socket.on('error', end);
    socket.end(bytes);
  });
}
