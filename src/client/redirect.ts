// Decides where a request goes that a follower does not carry out itself, without side effects.
//
// The API key goes only to addresses that the program has given, whatever a server answers. So
// `Location` merely selects one of them, and the path and query remain those of the request.

import type { HedgerowApiError } from './errors.ts';
import type { FetchAnswer } from './host-types.ts';
import type { PreparedRequest } from './request.ts';

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
  if (isHiddenRedirect(answer)) return request.init.method === 'GET' ? [] : leaders;
  if (!isRedirect(answer, error)) return [];
  const location = normalized(answer.headers.get('location') ?? '');
  const leader = leaders.find((address) => normalized(address + request.path) === location);
  return leader === undefined ? [] : [leader];
}

/** Returns whether the answer says that another server must be asked. */
export function isRedirect(answer: FetchAnswer, { code }: HedgerowApiError): boolean {
  return isHiddenRedirect(answer) || (answer.status === 307 && code === 'not_leader');
}

/** Returns whether the answer is a redirect as browsers show it: without its status and headers. */
export function isHiddenRedirect({ type }: FetchAnswer): boolean {
  return type === 'opaqueredirect';
}

function normalized(address: string): string | undefined {
  try {
    return new URL(address).href;
  } catch {
    return undefined;
  }
}
