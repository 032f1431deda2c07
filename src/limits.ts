// Limits and defaults that more than one room needs. The format's own limits are exported by the core, not typed here.

/** Largest integer taken for times, node ids and parameters (contract section 1). */
export const MAX_INTEGER = Number.MAX_SAFE_INTEGER;
/** Default insert guard, counted after repeated members are dropped (specification section 8). */
export const DEFAULT_MAX_MEMBERS = 64;
/** What the record and segment formats can hold. `HEDGEROW_MAX_MEMBERS` cannot pass it. */
export const FORMAT_MAX_MEMBERS = 255;
export const DEFAULT_PRIMARY_TABLE = 'hyperedges';
export const MEGABYTE = 2 ** 20;
