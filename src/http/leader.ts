// What a service does differently while it follows another one, its leader: writes are the
// leader's, so they are redirected to it or passed on, and a read can ask how far behind it may be
// answered.

import { type HedgerowError, refusal } from '../errors.ts';
import type { RequestCall } from './call.ts';
import { parseInteger } from './integers.ts';
import type { Reply } from './reply.ts';
import type { Route } from './route.ts';
import type { TransportRequest } from './transport.ts';

/** The service that this one follows. */
export interface LeaderPort {
  /** Base address, without a slash at its end. */
  readonly url: string;
  /** True if writes are passed on to the leader, false if clients are redirected to it. */
  readonly forwards: boolean;
  /**
   * Milliseconds since this service last knew that it had all of the leader's writes; Infinity if
   * it has not had them since its start.
   */
  readonly lagMs: number;
}

/** Headers of a request that are not passed on, besides those that `fetch` sets itself. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Set on a request that was passed on, so that two followers do not pass it to each other. */
const FORWARDED = 'x-hedgerow-forwarded';
/** Headers of the leader's answer that are passed back. */
const PASSED_BACK = [
  ['idempotent-replayed', 'Idempotent-Replayed'],
  ['location', 'Location'],
  ['retry-after', 'Retry-After'],
  ['x-next-cursor', 'X-Next-Cursor'],
] as const;
/** How long a write may take at the leader. */
const FORWARD_MS = 300_000;

/** A request that may have to be passed on. */
export interface Forwardable {
  readonly headers: readonly (readonly [string, string])[];
}

/** Returns true for routes that only the leader can answer. */
export function isForLeader({ role, method, isLocal }: Route): boolean {
  return method !== 'GET' && (role === 'readwrite' || role === 'admin') && isLocal !== true;
}

/** Returns what is needed to pass a request on; undefined if another follower has passed it on. */
export function forwardable(request: TransportRequest): Forwardable | undefined {
  const headers: [string, string][] = [];
  let isPassedOn = false;
  request.forEach((name, value) => {
    if (name === FORWARDED) isPassedOn = true;
    if (!OWN_HEADERS.has(name)) headers.push([name, value]);
  });
  return isPassedOn ? undefined : { headers: [...headers, [FORWARDED, '1']] };
}

/**
 * Checks the header `X-Max-Lag-Ms`. Throws `invalid_input`, or `too_far_behind` if the leader's
 * writes of so many milliseconds may be missing here.
 */
export function checkLag(header: string, lagMs: number): void {
  if (header === '') return;
  const most = parseInteger(header);
  if (!(most >= 0))
    throw refusal('invalid_input', 'X-Max-Lag-Ms must be a number of milliseconds: an integer of 0 or more.', {
      errors: [{ loc: ['header', 'X-Max-Lag-Ms'], msg: 'must be an integer of 0 to 2^53-1' }],
    });
  if (lagMs <= most) return;
  const since = Number.isFinite(lagMs)
    ? `last had all of its writes ${Math.round(lagMs)} ms ago`
    : 'has not had all of its writes since it was started';
  throw refusal(
    'too_far_behind',
    `This server follows another one and ${since}. Try again shortly, or ask the leader.`,
  );
}

/** Returns the error that redirects a client to the leader. `target` is the path with the query. */
export function atLeader({ url }: LeaderPort, target: string): HedgerowError {
  return refusal('not_leader', `This server follows ${url}, which takes the writes. Send the request there.`, {
    fields: { location: `${url}${target}` },
  });
}

/**
 * Passes a request on to the leader; resolves with its answer. Rejects with `leader_unavailable`.
 */
export async function forward(
  { url }: LeaderPort,
  target: string,
  { headers }: Forwardable,
  method: string,
  { body }: RequestCall,
): Promise<Reply> {
  let answer: Response;
  let bytes: Buffer;
  try {
    answer = await fetch(`${url}${target}`, {
      method,
      headers: headers as [string, string][],
      redirect: 'manual',
      signal: AbortSignal.timeout(FORWARD_MS),
      ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
    });
    bytes = Buffer.from(await answer.arrayBuffer());
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : message;
    throw refusal(
      'leader_unavailable',
      `The leader ${url} did not answer (${reason}), so it is not known whether the write was carried out. Try again; with an Idempotency-Key it is not done twice.`,
    );
  }
  const lsn = answer.headers.get('x-hedgerow-lsn');
  const passed: [string, string][] = [];
  for (const [name, shown] of PASSED_BACK) {
    const value = answer.headers.get(name);
    if (value !== null) passed.push([shown, value]);
  }
  return {
    status: answer.status,
    contentType: answer.headers.get('content-type') ?? 'application/octet-stream',
    body: bytes,
    lsn: lsn === null ? undefined : Number(lsn),
    headers: passed.length === 0 ? undefined : passed,
    source: undefined,
    tag: undefined,
    // The leader has written the audit line.
    facts: { audit: 'none', kept: false },
  };
}
