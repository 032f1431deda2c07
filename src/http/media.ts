// Media types that the service supports, and which one a request asks for.

export const JSON_TYPE = 'application/json';
export const NDJSON_TYPE = 'application/x-ndjson';
export const JSON_BODY: readonly string[] = [JSON_TYPE];
export const JSON_OR_NDJSON_BODY: readonly string[] = [JSON_TYPE, NDJSON_TYPE];
export const NO_BODY: readonly string[] = [];

/** The type without parameters, in lower case; a body without a type is taken as JSON. */
export function mediaType(header: string): string {
  if (header === '' || header === JSON_TYPE) return JSON_TYPE;
  const end = header.indexOf(';');
  return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase();
}

/** True if `Accept` names NDJSON, and names it before JSON. */
export function wantsNdjson(accept: string): boolean {
  if (accept === '' || accept === '*/*') return false;
  const lower = accept.toLowerCase();
  const ndjson = lower.indexOf(NDJSON_TYPE);
  if (ndjson < 0) return false;
  const json = lower.indexOf(JSON_TYPE);
  return json < 0 || ndjson < json;
}
