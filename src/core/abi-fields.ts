// Constants of the ABI that the core does not export: numbers of fields, section kinds and
// separators (assembly/README.md).

/** Fields of `hg_segment_field`. */
export const SEGMENT_FIELD = {
  version: 0,
  bytes: 1,
  rows: 2,
  incidences: 3,
  nodes: 4,
  buckets: 5,
  bucketSeconds: 6,
  timeMin: 7,
  timeMax: 8,
  idMin: 9,
  idMax: 10,
  nodeMin: 11,
  nodeMax: 12,
  firstId: 13,
  lastId: 14,
  maxSize: 15,
  table: 16,
  sections: 17,
  nodeWidth: 18,
  ends: 19,
} as const;

/** Kinds of the sections that the host uses (FORMAT.md section 2). */
export const SECTION_KIND = { nodes: 6, filter: 9, roles: 10, column: 16, psi: 17, interval: 18, text: 19 } as const;

/** Separators of row text (assembly/json/rows.ts). */
export const SEPARATOR = { commaBetween: 0, commaBefore: 1, newline: 2, columns: 3 } as const;
export type Separator = (typeof SEPARATOR)[keyof typeof SEPARATOR];
