// What answers that wait for further commits have in common.

import { refusal } from '../errors.ts';
import type { Call } from './application.ts';

/** With durability `async`, reads see commits that cannot be read from the log yet. */
export const SOON_MS = 50;
export const NOTHING = new Uint8Array(0);

export function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

/** Throws `unauthorized` once the key of the caller has been revoked or has expired. */
export function assertKeyValid({ services, caller }: Call): void {
  if (caller.keyId === null || services.keys?.isValid(caller.keyId) !== false) return;
  throw refusal('unauthorized', 'The API key was revoked or has expired.');
}
