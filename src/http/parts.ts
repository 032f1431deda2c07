// The objects that the code in http/ shares, in addition to those that handlers may use; one value
// per running service.

import type { Cors } from './cors.ts';
import type { AnswerHeads } from './head-block.ts';
import type { Load } from './load.ts';
import type { ReaderLimits } from './reader-watch.ts';
import type { RequestIds } from './request-id.ts';
import type { Carried, Services } from './route.ts';
import type { Sample } from './sample.ts';

export interface Parts extends Services<Carried> {
  readonly ids: RequestIds;
  readonly heads: AnswerHeads;
  readonly cors: Cors;
  /** True if requests arrive over TLS; answers then tell browsers to use https only. */
  readonly isTls: boolean;
  /** True if requests come from the workers of this service, which have checked some of it. */
  readonly servesWorkers: boolean;
  readonly load: Load;
  readonly readerLimits: ReaderLimits;
  readonly sample: Sample;
  /** Epoch milliseconds. */
  readonly epochMs: () => number;
  /** Number for the observer of requests that match no route. */
  readonly unmatchedRoute: number;
  /** Number for the observer of OPTIONS requests. */
  readonly optionsRoute: number;
}
