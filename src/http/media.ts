// Media types of bodies.

export const JSON_TYPE = 'application/json';
export const NDJSON_TYPE = 'application/x-ndjson';
export const JSON_BODY: readonly string[] = [JSON_TYPE];
export const JSON_OR_NDJSON_BODY: readonly string[] = [JSON_TYPE, NDJSON_TYPE];
export const NO_BODY: readonly string[] = [];

/** Returns the type without parameters, in lower case; a body without a type is taken as JSON. */
export function mediaType(header: string): string {
  if (header === '' || header === JSON_TYPE) return JSON_TYPE;
  const end = header.indexOf(';');
  return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase();
}
