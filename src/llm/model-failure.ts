// Explains why a language model could not be asked and what to do. Never quotes the provider's own
// text, which may contain anything.

import { type HedgerowError, refusal } from '../errors.ts';
import { AnswerTooLong } from './http-post.ts';

/** Returns an error; `what` completes the sentence "The language model ...". */
export function modelFailed(what: string): HedgerowError {
  return refusal('model_failed', `The language model ${what}.`);
}

export function timeoutFailure(timeoutMs: number): HedgerowError {
  return modelFailed(`did not answer within ${timeoutMs / 1000} s; try again later, or ask for a smaller context`);
}

/** Explains an answer whose status is not 200. `model` is the name that was requested. */
export function statusFailure(status: number, model: string, hasKey: boolean): HedgerowError {
  return modelFailed(`${meaningOf(status, model, hasKey)} (status ${status})`);
}

function meaningOf(status: number, model: string, hasKey: boolean): string {
  if (status === 401 || status === 403) {
    return hasKey
      ? 'refused the key: check that it is valid and may use this model'
      : 'wants a key: send one with the request; the key of the server is used at the configured address only';
  }
  if (status === 404) return `was not found: check the model name ${JSON.stringify(model)} and the base address`;
  if (status === 413) return 'found the request too long: lower the token budget';
  if (status === 429) return 'takes no more requests with this key for now: try again later, or check its quota';
  if (status >= 500 || status === 408) return 'reported an internal error: try again later';
  if (status >= 300 && status < 400)
    return 'answered with a redirect; redirects are not followed, correct the base address';
  if (status >= 400) return `refused the request: check the model name ${JSON.stringify(model)} and the token budget`;
  return 'gave no answer: check the base address';
}

/** Explains a value that was thrown while sending; reads only its code and name. */
export function transportFailure(thrown: unknown): HedgerowError {
  if (thrown instanceof AnswerTooLong) return modelFailed('sent a longer answer than 1 MB; ask for less');
  const code = codeOf(thrown);
  if (NO_HTTP.has(code)) return modelFailed('did not answer in HTTP; check the base address');
  if (NOT_FOUND.has(code)) return modelFailed('has a host whose address cannot be found; check the base address');
  if (NOT_REACHED.has(code)) return modelFailed('could not be reached; check the base address, or try again later');
  if (CERTIFICATE.test(code)) return modelFailed('has no valid certificate for its host; check the base address');
  if (/^ERR_(SSL|TLS)_|^EPROTO$/.test(code)) return modelFailed('did not answer over TLS; check the base address');
  return modelFailed('closed the connection early; try again later');
}

const NO_HTTP: ReadonlySet<string> = new Set(['HTTPParserError', 'UND_ERR_HEADERS_OVERFLOW']);
const NOT_FOUND: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
  'EAI_NONAME',
  'ENODATA',
]);
const NOT_REACHED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EACCES',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|CRL/;

/**
 * Returns the code of an error, or of the first error in an aggregate (if several addresses were
 * tried); without a code, or with a code of the HTTP parser, returns the name of the error.
 */
function codeOf(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return '';
  const { name, code, errors } = thrown as { name?: unknown; code?: unknown; errors?: unknown };
  if (typeof code === 'string' && !code.startsWith('HPE_')) return code;
  if (Array.isArray(errors) && errors.length > 0) return codeOf(errors[0]);
  return typeof name === 'string' ? name : '';
}
