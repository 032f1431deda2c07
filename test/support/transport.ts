// Over which transports the tests of HTTP run: HEDGEROW_TRANSPORT=node|uws chooses for those that run over one; the contract suite runs over both.

import { chooseTransport, type TransportSetting } from '../../src/http/choose-transport.ts';
import type { Transport, TransportName } from '../../src/http/transport.ts';

const CHOSEN = (process.env.HEDGEROW_TRANSPORT ?? 'auto') as TransportSetting;

export function testTransport(name?: TransportName): Transport {
  return chooseTransport(name ?? CHOSEN);
}

/** The one that `testTransport` gives. */
export const USUAL: TransportName = testTransport().facts.name;

/** Both, or node:http alone where no binary of uWebSockets.js loads, with a note. */
export function transportsHere(): TransportName[] {
  const found = chooseTransport('auto').facts;
  if (found.name === 'uws') return ['uws', 'node'];
  process.stdout.write(`not tested over uWebSockets.js: ${found.detail}\n`);
  return ['node'];
}
