// Limits and defaults that several folders need. The limits of the format itself are exported by
// the core.

/** The largest integer accepted for times, node ids and parameters. */
export const MAX_INTEGER = Number.MAX_SAFE_INTEGER;
/** Default maximum number of members per edge, counted after repeated members are dropped. */
export const DEFAULT_MAX_MEMBERS = 64;
/**
 * Maximum number of members that the record and segment formats can store; the upper bound of
 * `HEDGEROW_MAX_MEMBERS`.
 */
export const FORMAT_MAX_MEMBERS = 255;
export const DEFAULT_PRIMARY_TABLE = 'hyperedges';
export const MEGABYTE = 2 ** 20;
/** Default for how long changes are kept for readers. */
export const DEFAULT_HISTORY = { seconds: 3600, bytes: 1024 * MEGABYTE };
