// Refuses connections on which a preamble of the PROXY protocol claims another client's address.
//
// uWebSockets.js reads such a preamble before any request and only tells of it by a call that makes an ArrayBuffer, some 5 % of a small request. The address
// of a client is that of its socket in any case, so nothing depends on the claim. Proxies that send preambles send them first: so one is looked for in the
// requests after a connection has opened, and in one of 16 at any other time.

import type { Sample } from './sample.ts';

/** Requests that are looked at for each connection that opens, whichever they come from: it is not known. */
const LOOKS = 64;
/** However many open at once. */
const MOST_LOOKS = 65_536;

export interface Relayed {
  /** The address claimed; empty without a preamble, and for one without an address. */
  getProxiedRemoteAddress(): ArrayBuffer;
}

export class PreambleWatch {
  readonly #sample: Sample;
  #looks = 0;

  constructor(sample: Sample) {
    this.#sample = sample;
  }

  opened(): void {
    this.#looks = Math.min(this.#looks + LOOKS, MOST_LOOKS);
  }

  /** Whether the request came after a preamble with an address. */
  refuses(response: Relayed): boolean {
    if (this.#looks > 0) this.#looks -= 1;
    else if (!this.#sample.next()) return false;
    return response.getProxiedRemoteAddress().byteLength > 0;
  }
}
