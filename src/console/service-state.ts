// Tracks whether the service could be reached by the last request.

import { signal } from './preact.ts';

/** When the service stopped answering, in epoch milliseconds; undefined while it answers. */
export const goneSince = signal<number | undefined>(undefined);

const OF_GATEWAYS: ReadonlySet<number> = new Set([502, 503, 504]);
/** Works like the browser's `fetch`, and records whether the service answered. */
export const watchedFetch: typeof fetch = async (input, init) => {
  try {
    const response = await fetch(input, init);
    note(isOfService(response));
    return response;
  } catch (error) {
    // An aborted request does not show whether the service can be reached.
    if (init?.signal?.aborted !== true) note(false);
    throw error;
  }
};

/**
 * Returns whether an answer comes from the service. A gateway that cannot reach the service answers
 * with a page of its own; errors of the service are JSON.
 */
export function isOfService({ status, headers }: Response): boolean {
  return !OF_GATEWAYS.has(status) || headers.get('content-type')?.startsWith('application/json') === true;
}

/** Records whether a request was answered. */
export function note(answers: boolean): void {
  if (answers) goneSince.value = undefined;
  else goneSince.value ??= Date.now();
}
