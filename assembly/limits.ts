// Limits and layout constants. The ABI exports them so that no host has to define them again.

export const HG_MAX_MEMBERS: u32 = 255;
/** Maximum number of rows in a segment, because a row ordinal is a u16. */
export const HG_MAX_SEGMENT_ROWS: u32 = 65536;
export const HG_RECORD_HEADER_BYTES: u32 = 24;
export const HG_RECORD_ID_OFFSET: u32 = 16;
export const HG_RECORD_TIME_OFFSET: u32 = 8;
export const HG_SEGMENT_HEADER_BYTES: u32 = 128;
export const HG_SECTION_ENTRY_BYTES: u32 = 24;
/** Size in bytes of one filter entry in the input of `hg_filters_probe`. */
export const HG_FILTER_ENTRY_BYTES: u32 = 24;
/** Size in bytes of one range in the input of `hg_segment_filter` and `hg_memtable_filter`. */
export const HG_RANGE_ENTRY_BYTES: u32 = 32;
/** The column of a range of ids. Columns have ids of two bytes. */
export const HG_RANGE_ID: u32 = 0xffffffff;
/**
 * The column of a condition that a node has a role: the node is its lowest and highest value, and
 * the mask of the roles, of which one is enough, is its value for rows without the column.
 */
export const HG_RANGE_ROLE: u32 = 0xfffffffe;
export const HG_MAX_TEXT_BYTES: u32 = 65536;
/**
 * Number of spare bytes needed after the entries that `hg_rows_intersect` or `hg_segment_lookup`
 * writes.
 */
export const HG_ROWS_SLACK_BYTES: u32 = 32;

export const HG_TYPE_NULL: u32 = 0;
export const HG_TYPE_REAL: u32 = 1;
export const HG_TYPE_INTEGER: u32 = 2;
export const HG_TYPE_TEXT: u32 = 3;
export const HG_TYPE_BOOLEAN: u32 = 4;

/** Largest safe integer, 2^53 - 1. */
export const MAX_SAFE: i64 = 9007199254740991;
