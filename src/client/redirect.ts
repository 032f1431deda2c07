// Sends a request that a follower does not carry out itself to its leader.
//
// The API key goes only to addresses that the program has given, whatever a server answers. So
// `Location` merely selects one of them, and the path and query remain those of the request.

import { HedgerowApiError } from './errors.ts';
import type { FetchAnswer } from './host-types.ts';
import type { PreparedRequest } from './request.ts';

const ADVICE = 'The client does so if its option `leaders` lists that address.';
const HIDDEN =
  'The server redirected the request. A follower does so with writes: send them to its leader, or list the leader in the option `leaders`.';

/**
 * Returns the answer of the leader to a request that was answered with `first`, a redirect. `send`
 * sends the request to an address of `leaders`; `refusalOf` takes the body of an answer that is not
 * a success, and returns its error. Throws the error of the last answer if no leader has carried
 * the request out.
 */
export async function askLeader<A extends FetchAnswer>(
  request: PreparedRequest,
  first: A,
  leaders: readonly string[],
  send: (leader: string) => Promise<A>,
  refusalOf: (answer: A) => Promise<HedgerowApiError>,
): Promise<A> {
  let error = withAdvice(first, await refusalOf(first));
  for (const leader of leadersFor(request, first, error, leaders)) {
    const answer = await send(leader);
    if (answer.ok) return answer;
    error = withAdvice(answer, await refusalOf(answer));
    if (!isRedirect(answer, error)) break;
  }
  throw error;
}

/**
 * Returns the addresses of `leaders` to which a refused request is sent instead, one after the
 * other while each of them redirects it too. `error` describes the answer.
 */
export function leadersFor(
  request: PreparedRequest,
  answer: FetchAnswer,
  error: HedgerowApiError,
  leaders: readonly string[],
): readonly string[] {
  // A follower answers reads itself, apart from statements of a session, which are sent by POST.
  if (isHidden(answer)) return request.init.method === 'GET' ? [] : leaders;
  if (!isRedirect(answer, error)) return [];
  const location = normalized(answer.headers.get('location') ?? '');
  const leader = leaders.find((address) => normalized(address + request.path) === location);
  return leader === undefined ? [] : [leader];
}

/** Adds to the error of a redirect how the client would follow it. */
function withAdvice(answer: FetchAnswer, error: HedgerowApiError): HedgerowApiError {
  if (isHidden(answer)) return new HedgerowApiError({ ...error, detail: HIDDEN, statusCode: 307 });
  return error.code === 'not_leader' ? new HedgerowApiError({ ...error, detail: `${error.detail} ${ADVICE}` }) : error;
}

/** Returns whether the answer says that another server must be asked. */
function isRedirect(answer: FetchAnswer, { code }: HedgerowApiError): boolean {
  return isHidden(answer) || (answer.status === 307 && code === 'not_leader');
}

/** Returns whether the answer is a redirect as browsers show it: without its status and headers. */
function isHidden({ type }: FetchAnswer): boolean {
  return type === 'opaqueredirect';
}

function normalized(address: string): string | undefined {
  try {
    return new URL(address).href;
  } catch {
    return undefined;
  }
}
