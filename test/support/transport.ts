// Chooses the transports for the HTTP tests. HEDGEROW_TRANSPORT=node|uws sets the transport of the
// tests that use only one. The contract suite runs over both.

import { chooseTransport, type TransportSetting } from '../../src/http/choose-transport.ts';
import type { Transport, TransportName } from '../../src/http/transport.ts';

const CHOSEN = (process.env.HEDGEROW_TRANSPORT ?? 'auto') as TransportSetting;

export function testTransport(name?: TransportName): Transport {
  return chooseTransport(name ?? CHOSEN);
}

/** Name of the transport that `testTransport` returns by default. */
export const USUAL: TransportName = testTransport().facts.name;

/**
 * Returns both transports. Returns only node:http, and prints a note, where no binary of
 * uWebSockets.js loads.
 */
export function transportsHere(): TransportName[] {
  const found = chooseTransport('auto').facts;
  if (found.name === 'uws') return ['uws', 'node'];
  process.stdout.write(`not tested over uWebSockets.js: ${found.detail}\n`);
  return ['node'];
}
