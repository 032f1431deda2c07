// Tells work that a request waits for when the client has gone.

import { refusal } from '../errors.ts';
import type { Call } from './application.ts';

/** Poll interval for client disconnect. */
const LOOK_MS = 100;

export interface ClientWatch {
  readonly signal: AbortSignal;
  /** Stops watching. */
  end(): void;
}

/** `controller` is aborted when the client has gone; others may abort it too. */
export function watchClient({ client }: Call, controller = new AbortController()): ClientWatch {
  const look = setInterval(() => {
    if (client.gone) controller.abort(clientGone());
  }, LOOK_MS);
  return { signal: controller.signal, end: () => clearInterval(look) };
}

/** An error that nobody will read. */
export function clientGone(): Error {
  return refusal('timeout', 'The client has gone.');
}
