// Limits and defaults that several folders need. The limits of the format itself are exported by
// the core.

/** Largest integer accepted for times, node ids and parameters (contract section 1). */
export const MAX_INTEGER = Number.MAX_SAFE_INTEGER;
/**
 * Default maximum of members per edge, counted after repeated members are dropped (specification
 * section 8).
 */
export const DEFAULT_MAX_MEMBERS = 64;
/** What the record and segment formats can hold; upper bound of `HEDGEROW_MAX_MEMBERS`. */
export const FORMAT_MAX_MEMBERS = 255;
export const DEFAULT_PRIMARY_TABLE = 'hyperedges';
export const MEGABYTE = 2 ** 20;
