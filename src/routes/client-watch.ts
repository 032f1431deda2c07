// Aborts the work for a request when its client has disconnected.

import { refusal } from '../errors.ts';
import type { Call } from './application.ts';

/** Interval in milliseconds at which the connection of the client is checked. */
const LOOK_MS = 100;

export interface ClientWatch {
  readonly signal: AbortSignal;
  /** Stops watching. */
  end(): void;
}

/** Aborts `controller` when the client has disconnected. Other code may abort it too. */
export function watchClient({ client }: Call, controller = new AbortController()): ClientWatch {
  const look = setInterval(() => {
    if (client.gone) controller.abort(clientGone());
  }, LOOK_MS);
  return { signal: controller.signal, end: () => clearInterval(look) };
}

/** Returns the reason of such an abort. Nobody receives it as an answer. */
export function clientGone(): Error {
  return refusal('timeout', 'The client has gone.');
}
