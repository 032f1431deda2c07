// Brings a write to the leader where the leader can change: to the service that leads, or to this
// one if it leads by now. While nobody leads, the write is held for a while.

import { HedgerowError } from '../errors.ts';
import type { RequestCall } from './call.ts';
import { type ElectionPort, type Forwardable, forward, type LeaderPort, nobodyLeads } from './leader.ts';
import type { Reply } from './reply.ts';

/** How long a write is held while nobody leads. */
const HOLD_MS = 2000;
/** If a service says that it does not lead, and no other is known, it is asked again after this. */
const AGAIN_MS = 100;
/** The status of a service that does not lead. */
const ELSEWHERE = 307;

export interface HeldWrite {
  readonly target: string;
  readonly forwardable: Forwardable;
  readonly method: string;
  readonly call: RequestCall;
  /** Carries the write out here. */
  readonly here: () => Reply | Promise<Reply>;
}

/**
 * Resolves with the answer of the leader. If the connection to it is lost, the write is sent again
 * only if it has an Idempotency-Key, or if it was certainly not carried out. Rejects with
 * `leader_unavailable`.
 */
export async function toLeader(
  { ending }: LeaderPort,
  election: ElectionPort,
  { target, forwardable, method, call, here }: HeldWrite,
): Promise<Reply> {
  const { now } = call.services;
  const untilMs = now() + HOLD_MS;
  for (;;) {
    if (election.isHere) return here();
    const { url, term } = election;
    let failure: HedgerowError | undefined;
    if (url !== undefined) {
      try {
        const signals = AbortSignal.any([ending, term]);
        const reply = await forward({ url, ending: signals }, target, forwardable, method, call);
        if (reply.status !== ELSEWHERE) return reply;
      } catch (error) {
        if (!(error instanceof HedgerowError)) throw error;
        if (error.fields?.isUnsent !== true && call.idempotencyKey === '') throw error;
        failure = error;
      }
    }
    const leftMs = untilMs - now();
    if (leftMs <= 0 || ending.aborted) throw failure ?? nobodyLeads();
    if (!term.aborted) await election.change(Math.min(url === undefined ? leftMs : AGAIN_MS, leftMs));
  }
}
