// Whether the service can be reached, as the last request found.

import { signal } from './preact.ts';

/** Since when nothing has come from the service, milliseconds; undefined: it answers. */
export const goneSince = signal<number | undefined>(undefined);

const OF_GATEWAYS: ReadonlySet<number> = new Set([502, 503, 504]);
/** As the browser's own, and takes note of what it finds. */
export const watchedFetch: typeof fetch = async (input, init) => {
  try {
    const response = await fetch(input, init);
    note(isOfService(response));
    return response;
  } catch (error) {
    // One that was given up tells nothing.
    if (init?.signal?.aborted !== true) note(false);
    throw error;
  }
};

/**
 * A gateway that cannot reach the service answers by itself, with a page of its own; errors of the
 * service are JSON.
 */
export function isOfService({ status, headers }: Response): boolean {
  return !OF_GATEWAYS.has(status) || headers.get('content-type')?.startsWith('application/json') === true;
}

/** What a request has found. */
export function note(answers: boolean): void {
  if (answers) goneSince.value = undefined;
  else goneSince.value ??= Date.now();
}
