// Chooses the key that a language model is asked with: the server's own goes only to the server's own model address.

import { refusal } from '../errors.ts';
import { isSameAddress } from './address.ts';

/** What a header can hold without any doubt. */
const HEADER_SAFE = /^[\x21-\x7e]{1,1024}$/;

export interface KeyChoice {
  /** As the request brought it; null, undefined: it brought none. */
  readonly requestedBaseUrl: string | null | undefined;
  readonly requestedKey: string | null | undefined;
  readonly configuredBaseUrl: string;
  readonly configuredKey: string | undefined;
}

/**
 * The key to ask with, or none. A caller who chooses another address, were it only another path, brings a key of his own or asks without one. Throws `invalid_input` for a
 * key that no header can hold.
 */
export function keyFor({
  requestedBaseUrl,
  requestedKey,
  configuredBaseUrl,
  configuredKey,
}: KeyChoice): string | undefined {
  // An empty field of a form is a field left out.
  if (requestedKey !== null && requestedKey !== undefined && requestedKey !== '') return checkedKey(requestedKey);
  const isOwnAddress =
    requestedBaseUrl === null || requestedBaseUrl === undefined || isSameAddress(requestedBaseUrl, configuredBaseUrl);
  return isOwnAddress ? configuredKey : undefined;
}

/** No message contains the key itself. */
export function checkedKey(key: string): string {
  if (HEADER_SAFE.test(key)) return key;
  throw refusal(
    'invalid_input',
    'The key of the language model must be 1 to 1024 printable ASCII characters without spaces. Check how it was copied.',
  );
}
