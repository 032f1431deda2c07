// What a service does differently while it follows another one, its leader: writes are the
// leader's, so they are redirected to it or passed on, and a read can ask how far behind it may be
// answered.

import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { HedgerowError, refusal } from '../errors.ts';
import type { RequestCall } from './call.ts';
import type { Exchange } from './exchange.ts';
import { parseInteger } from './integers.ts';
import type { Reply } from './reply.ts';
import type { Route } from './route.ts';
import type { TransportRequest } from './transport.ts';

/** Who leads, where that changes while the services run (high availability). */
export interface ElectionPort {
  /** Base address of the leader; undefined while nobody leads, or if this service does. */
  readonly url: string | undefined;
  /** Whether this service leads by now. */
  readonly isHere: boolean;
  /** Aborted when the leader changes. */
  readonly term: AbortSignal;
  /** Resolves when the leader changes, or after so many milliseconds. */
  change(ms: number): Promise<void>;
}

/** The service that this one follows. */
export interface LeaderPort {
  /** Base address, without a slash at its end; undefined while nobody leads. */
  readonly url: string | undefined;
  /** Undefined if the leader is always the same. */
  readonly election?: ElectionPort;
  /** True if writes are passed on to the leader, false if clients are redirected to it. */
  readonly forwards: boolean;
  /**
   * Milliseconds since this service last knew that it had all of the leader's writes; Infinity if
   * it has not had them since its start.
   */
  readonly lagMs: number;
  /** Aborted when requests that were passed on must end, because this service ends. */
  readonly ending: AbortSignal;
  /**
   * Set if this process and its leader are one service, which listens on one port (src/workers).
   */
  readonly own?: OwnLeader | undefined;
}

/** What a worker, one of the processes of a service, has of the process that leads the service. */
export interface OwnLeader {
  /** Returns the newest LSN that any client of the service may know of. */
  freshLsn(): number;
  /** Whether this process cannot follow at present, so that the leader answers for it. */
  isStuck(): boolean;
  /** Passes a request on; resolves with the answer. Rejects if the leader is lost. */
  pass(request: PassedRequest): Promise<PassedAnswer>;
}

export interface PassedRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Forwardable['headers'];
  readonly body: Buffer;
  /** Address of the client, 4 or 16 bytes. */
  readonly address: ArrayBuffer;
  /** Called with the size of the answer so far; false if there is no memory for it. */
  readonly hold: (bytes: number) => boolean;
  /** Sets what is called when the client disconnects. */
  readonly whenGone: (stop: () => void) => void;
}

export interface PassedAnswer {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** Headers of a request that belong to its connection, and are not passed on. */
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
/** How long the leader may be silent while it has a request. */
const FORWARD_MS = 30_000;
const NO_ADDRESS = new ArrayBuffer(0);
/** How long the answer to a write waits until this service has the write too. */
const SEEN_MS = 1000;

/** A request that may have to be passed on. */
export interface Forwardable {
  readonly headers: readonly (readonly [string, string])[];
  /** Address of the client; used if the leader and this process are one service. */
  readonly address: ArrayBuffer;
}

/**
 * Returns true for routes that only the leader can answer. If it and this process are one service,
 * these are also those that answer for the whole service.
 */
export function isForLeader({ role, method, isLocal, isOfService }: Route, isOneService = false): boolean {
  if (isOneService && (isLocal === true || isOfService === true)) return true;
  return method !== 'GET' && (role === 'readwrite' || role === 'admin') && isLocal !== true;
}

/**
 * Returns true for routes that a follower may redirect: those that only the leader can answer, and
 * those that read or write depending on what is asked, such as `POST /v1/query`.
 */
export function mayRedirect(route: Route): boolean {
  if (!route.database) return false;
  return isForLeader(route) || (route.method !== 'GET' && route.idempotent && route.isLocal !== true);
}

/**
 * Returns what is needed to pass a request on; undefined if another follower has passed it on.
 * Within one service, requests are passed on also then, with the client's address and the id of the
 * request.
 */
export function forwardable(request: TransportRequest, exchange: Exchange, isOneService: boolean) {
  const headers: [string, string][] = [];
  let isPassedOn = false;
  request.forEach((name, value) => {
    if (name === FORWARDED) isPassedOn = true;
    if (!OWN_HEADERS.has(name) && !(isOneService && name === 'x-request-id')) headers.push([name, value]);
  });
  if (isOneService) {
    headers.push(['x-request-id', exchange.requestId]);
    return { headers, address: exchange.remoteAddress };
  }
  return isPassedOn ? undefined : { headers: [...headers, [FORWARDED, '1'] as [string, string]], address: NO_ADDRESS };
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
  if (url === undefined) return nobodyLeads();
  return refusal('not_leader', `This server follows ${url}, which takes the writes. Send the request there.`, {
    fields: { location: `${url}${target}` },
  });
}

export function nobodyLeads(): HedgerowError {
  return refusal('leader_unavailable', 'No server leads at present. The write was not carried out. Try again shortly.');
}

/** A leader whose address is known. */
export interface Addressed extends Pick<LeaderPort, 'ending' | 'own'> {
  readonly url: string;
}

/**
 * Passes a request on to the leader at an address; resolves with its answer, once reads here see
 * what it has written or a second has passed. The request ends if the signal is aborted. Rejects
 * with `leader_unavailable`; the field `isUnsent` tells whether the request was certainly not
 * carried out.
 */
export async function forward(
  leader: Addressed,
  target: string,
  { headers, address }: Forwardable,
  method: string,
  { body, database, client }: RequestCall,
): Promise<Reply> {
  const { length } = body;
  const hold = (bytes: number) => {
    client.hold(length + bytes);
    return !client.services.load.isFullFor(0);
  };
  const whenGone = (stop: () => void) => {
    client.whenGone = stop;
  };
  const request: PassedRequest = { method, target, headers, body, address, hold, whenGone };
  let answer: PassedAnswer;
  try {
    answer = await (leader.own === undefined ? send(leader, request) : leader.own.pass(request));
  } catch (error) {
    throw error instanceof HedgerowError ? error : unavailable(leader, error as NodeJS.ErrnoException);
  }
  const { status } = answer;
  const lsn = answer.headers.get('x-hedgerow-lsn');
  // Within one service, each read waits for what its client may know of.
  if (lsn !== undefined && status < 400 && leader.own === undefined) await database.whenVisible(Number(lsn), SEEN_MS);
  const passed: [string, string][] = [];
  for (const [name, shown] of PASSED_BACK) {
    const value = answer.headers.get(name);
    if (value !== undefined) passed.push([shown, value]);
  }
  return {
    status,
    contentType: answer.headers.get('content-type') ?? 'application/octet-stream',
    body: answer.body,
    lsn: lsn === undefined ? undefined : Number(lsn),
    headers: passed.length === 0 ? undefined : passed,
    source: undefined,
    tag: undefined,
    // The leader has written the audit line.
    facts: { audit: 'none', kept: false },
  };
}

/**
 * Sends a request. It ends, with its answer, when nothing has come from the leader for
 * `FORWARD_MS`, or when this service ends.
 */
async function send(
  { url, ending }: Addressed,
  { target, headers, method, body, hold, whenGone }: PassedRequest,
): Promise<PassedAnswer> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = url.startsWith('https:') ? httpsRequest : httpRequest;
    const sent = request(`${url}${target}`, { method, timeout: FORWARD_MS });
    for (const [name, value] of headers) sent.appendHeader(name, value);
    if (body.length > 0) sent.setHeader('content-length', body.length);
    const stop = () => sent.destroy(ending.reason instanceof Error ? ending.reason : new Error('it was ended'));
    ending.addEventListener('abort', stop, { once: true });
    if (ending.aborted) stop();
    sent.on('timeout', () => sent.destroy(new Error(`nothing came for ${FORWARD_MS / 1000} s`)));
    sent.on('close', () => ending.removeEventListener('abort', stop));
    sent.on('error', reject);
    whenGone(() => sent.destroy(new Error('the client has disconnected')));
    sent.on('response', resolve);
    sent.end(body);
  });
  const names = Object.entries(answer.headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    bytes += piece.length;
    // Leaving the loop ends the request.
    if (!hold(bytes)) throw noMemory();
    pieces.push(piece);
  }
  return { status: answer.statusCode!, headers: new Map(names), body: Buffer.concat(pieces) };
}

/** Returns the error for an answer of the leader for which there is no memory here. */
export function noMemory(): HedgerowError {
  return refusal(
    'overloaded',
    'The leader carried out the request, but there is no memory here for its answer. Ask for fewer rows at a time, or ask the leader.',
  );
}

/** Codes of connections that were never made: the request was not carried out. */
const NEVER_SENT: readonly (string | undefined)[] = ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH'];

function unavailable({ url }: { readonly url: string }, { code, message }: NodeJS.ErrnoException): HedgerowError {
  const isUnsent = NEVER_SENT.includes(code);
  const outcome = isUnsent
    ? 'The write was not carried out. Try again shortly.'
    : 'It is not known whether the write was carried out. Try again; with an Idempotency-Key it is not done twice.';
  return refusal('leader_unavailable', `The leader ${url} did not answer (${message}). ${outcome}`, {
    fields: { isUnsent },
  });
}
