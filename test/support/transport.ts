// The transports that the HTTP tests run over. HEDGEROW_TRANSPORT=node|uws chooses for tests that
// run over one; the contract suite runs over both.

import { chooseTransport, type TransportSetting } from '../../src/http/choose-transport.ts';
import type { Transport, TransportName } from '../../src/http/transport.ts';

const CHOSEN = (process.env.HEDGEROW_TRANSPORT ?? 'auto') as TransportSetting;

export function testTransport(name?: TransportName): Transport {
  return chooseTransport(name ?? CHOSEN);
}

/** The transport that `testTransport` returns. */
export const USUAL: TransportName = testTransport().facts.name;

/** Both transports, or only node:http (with a note) where no binary of uWebSockets.js loads. */
export function transportsHere(): TransportName[] {
  const found = chooseTransport('auto').facts;
  if (found.name === 'uws') return ['uws', 'node'];
  process.stdout.write(`not tested over uWebSockets.js: ${found.detail}\n`);
  return ['node'];
}
