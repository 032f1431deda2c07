// Tells work that a request waits for when its client has gone.

import { refusal } from '../errors.ts';
import type { Call } from '../http/index.ts';

/** Whether the client is still there is looked at so often. */
const LOOK_MS = 100;

export interface ClientWatch {
  readonly signal: AbortSignal;
  /** Nothing waits any more. */
  end(): void;
}

/** `controller`: aborts it, which others may do too. */
export function watchClient({ client }: Call, controller = new AbortController()): ClientWatch {
  const look = setInterval(() => {
    if (client.gone) controller.abort(clientGone());
  }, LOOK_MS);
  return { signal: controller.signal, end: () => clearInterval(look) };
}

/** Nobody reads it. */
export function clientGone(): Error {
  return refusal('timeout', 'The client has gone.');
}
