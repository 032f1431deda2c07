// Chooses the key to send to a language model: the server's own key is sent only to the server's
// own model address.

import { refusal } from '../errors.ts';
import { isSameAddress } from './address.ts';

/** Characters that are safe in any header. */
const HEADER_SAFE = /^[\x21-\x7e]{1,1024}$/;

export interface KeyChoice {
  /** As sent in the request; null or undefined if absent. */
  readonly requestedBaseUrl: string | null | undefined;
  readonly requestedKey: string | null | undefined;
  readonly configuredBaseUrl: string;
  readonly configuredKey: string | undefined;
}

/**
 * Returns the key to send, or undefined for none. If a caller chooses another address (even just
 * another path) and sends no key, no key is used. Throws `invalid_input` for a key that a header
 * cannot contain.
 */
export function keyFor({
  requestedBaseUrl,
  requestedKey,
  configuredBaseUrl,
  configuredKey,
}: KeyChoice): string | undefined {
  // An empty form field counts as absent.
  if (requestedKey !== null && requestedKey !== undefined && requestedKey !== '') return checkedKey(requestedKey);
  const isOwnAddress =
    requestedBaseUrl === null || requestedBaseUrl === undefined || isSameAddress(requestedBaseUrl, configuredBaseUrl);
  return isOwnAddress ? configuredKey : undefined;
}

/** Returns the key or throws; the error message does not contain the key itself. */
export function checkedKey(key: string): string {
  if (HEADER_SAFE.test(key)) return key;
  throw refusal(
    'invalid_input',
    'The key of the language model must be 1 to 1024 printable ASCII characters without spaces. Check how it was copied.',
  );
}
