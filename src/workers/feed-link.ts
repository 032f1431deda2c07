// What a worker receives of its leader over the link: a snapshot, and the frames of the log.

import { type LeaderSource, logTarget, refusalOf, SNAPSHOT_TARGET } from '../follow/index.ts';
import type { LinkClient } from './link-client.ts';

export class FeedLink implements LeaderSource {
  readonly url: string;
  readonly #client: LinkClient;

  /** `url`: the address of the service, for messages. */
  constructor(url: string, client: LinkClient) {
    this.url = url;
    this.#client = client;
  }

  snapshot(signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#bytes(SNAPSHOT_TARGET, signal);
  }

  log(fromLsn: number, sum: number | undefined, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#bytes(logTarget(fromLsn, sum), signal);
  }

  async *#bytes(target: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    let status = 0;
    const refusal: Buffer[] = [];
    for await (const item of this.#client.stream(target, signal)) {
      if (typeof item === 'number') status = item;
      else if (status === 200) yield item;
      else refusal.push(item);
    }
    if (status !== 200) throw refusalOf(status, Buffer.concat(refusal).toString());
  }
}
