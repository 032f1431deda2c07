// The exports of the core as TypeScript sees them (assembly/README.md). All arguments and results are numbers; addresses may come signed.

export interface CoreExports {
  readonly memory: WebAssembly.Memory;
  readonly HG_MAX_MEMBERS: WebAssembly.Global;
  readonly HG_MAX_SEGMENT_ROWS: WebAssembly.Global;
  readonly HG_RECORD_HEADER_BYTES: WebAssembly.Global;
  readonly HG_SEGMENT_HEADER_BYTES: WebAssembly.Global;
  readonly HG_SECTION_ENTRY_BYTES: WebAssembly.Global;
  readonly HG_FILTER_ENTRY_BYTES: WebAssembly.Global;
  readonly HG_RANGE_ENTRY_BYTES: WebAssembly.Global;
  readonly HG_MAX_TEXT_BYTES: WebAssembly.Global;
  readonly HG_ROWS_SLACK_BYTES: WebAssembly.Global;
  readonly HG_FIGURES_BYTES: WebAssembly.Global;
  hg_abi_version(): number;
  hg_format_version(): number;
  hg_features(): number;
  hg_result_needed(): number;
  hg_result_offset(): number;
  hg_result_rows(): number;
  hg_result_pointer(): number;
  hg_memory_alloc(bytes: number): number;
  hg_memory_free(pointer: number): void;
  hg_memory_used(): number;
  hg_memory_reset(): void;
  hg_crc32c(pointer: number, bytes: number, seed: number): number;
  hg_records_encode(
    rows: number,
    times: number,
    ids: number,
    counts: number,
    members: number,
    propertyEnds: number,
    properties: number,
    limit: number,
    out: number,
    capacity: number,
  ): number;
  hg_records_check(pointer: number, bytes: number, count: number): number;
  hg_records_number(pointer: number, count: number, firstId: number): number;
  hg_records_merge(runs: number, k: number, out: number, capacity: number): number;
  hg_records_copy(addresses: number, n: number, out: number, capacity: number): number;
  hg_records_json(addresses: number, n: number, plan: number, separator: number, out: number, capacity: number): number;
  hg_record_members(record: number, out: number): number;
  hg_segment_build(
    addresses: number,
    rows: number,
    bucketSeconds: number,
    table: number,
    columns: number,
    columnCount: number,
  ): number;
  hg_segment_check_header(base: number, available: number, fileBytes: number): number;
  hg_segment_check(base: number, bytes: number, deep: number): number;
  hg_segment_field(base: number, field: number): number;
  hg_segment_section(base: number, kind: number, column: number): number;
  hg_segment_open(base: number): number;
  hg_segment_seek(segment: number, time: number, id: number): number;
  hg_segment_buckets(segment: number, from: number, to: number): number;
  hg_segment_row_buckets(segment: number, rows: number, n: number): number;
  hg_segment_lookup(
    segment: number,
    nodes: number,
    k: number,
    from: number,
    to: number,
    out: number,
    capacity: number,
  ): number;
  hg_segment_count(segment: number, node: number, from: number, to: number): number;
  hg_segment_key(segment: number, row: number, out: number): number;
  hg_segment_find(segment: number, time: number, id: number): number;
  hg_segment_match(segment: number, record: number, out: number, capacity: number): number;
  hg_segment_json(
    segment: number,
    rows: number,
    n: number,
    plan: number,
    separator: number,
    out: number,
    capacity: number,
  ): number;
  hg_segment_step(segment: number, block: number): number;
  hg_segment_records(segment: number, rows: number, n: number, out: number, capacity: number): number;
  hg_segment_psi(
    segment: number,
    column: number,
    low: number,
    high: number,
    flags: number,
    out: number,
    capacity: number,
  ): number;
  hg_segment_psi_count(segment: number, column: number, low: number, high: number, flags: number): number;
  hg_segment_filter(segment: number, rows: number, n: number, ranges: number, k: number): number;
  hg_segment_nodes(segment: number, from: number, out: number, capacity: number): number;
  hg_segment_select(segment: number, selection: number, field: number, range: number): number;
  hg_segment_codes(
    segment: number,
    field: number,
    column: number,
    codes: number,
    values: number,
    capacity: number,
  ): number;
  hg_segment_texts(segment: number, column: number, out: number, capacity: number): number;
  hg_segment_figures(
    segment: number,
    field: number,
    column: number,
    selection: number,
    codes: number,
    groups: number,
    wants: number,
    out: number,
  ): number;
  hg_selection_window(out: number, rows: number, from: number, to: number): void;
  hg_selection_rows(out: number, rows: number, list: number, n: number): void;
  hg_selection_drop(selection: number, dead: number, deaths: number, m: number, lsn: number): void;
  hg_selection_count(selection: number, rows: number): number;
  hg_selection_keep(selection: number, codes: number, rows: number, truth: number, count: number): void;
  hg_codes_join(codes: number, more: number, count: number, rows: number): void;
  hg_codes_count(codes: number, rows: number, selection: number, out: number, count: number): void;
  hg_rows_range(from: number, to: number, out: number): void;
  hg_rows_intersect(a: number, na: number, b: number, nb: number, out: number): number;
  hg_rows_union(a: number, na: number, b: number, nb: number, out: number): number;
  hg_rows_difference(a: number, na: number, b: number, nb: number, out: number): number;
  hg_rows_reconcile(rows: number, n: number, dead: number, deaths: number, m: number, lsn: number): number;
  hg_filter_test(pointer: number, bytes: number, node: number): number;
  hg_filters_probe(directory: number, count: number, nodes: number, k: number, out: number): number;
  hg_memtable_new(bucketSeconds: number, baseLsn: number): number;
  hg_memtable_reserve(memtable: number, bytes: number): number;
  hg_memtable_append(memtable: number, records: number, count: number, firstLsn: number): number;
  hg_memtable_field(memtable: number, field: number): number;
  hg_memtable_sort(memtable: number): number;
  hg_memtable_seek(memtable: number, time: number, id: number): number;
  hg_memtable_rows(memtable: number, from: number, to: number, lsn: number, out: number, capacity: number): number;
  hg_memtable_index(memtable: number, limit: number): number;
  hg_memtable_lookup(
    memtable: number,
    nodes: number,
    k: number,
    startTime: number,
    startId: number,
    endTime: number,
    lsn: number,
    out: number,
    capacity: number,
  ): number;
  hg_memtable_at(memtable: number, position: number): number;
  hg_memtable_key(memtable: number, row: number, out: number): number;
  hg_memtable_find(memtable: number, time: number, id: number): number;
  hg_memtable_match(memtable: number, record: number, lsn: number, out: number, capacity: number): number;
  hg_memtable_kill(memtable: number, row: number, lsn: number): number;
  hg_memtable_addresses(memtable: number, rows: number, n: number): void;
  hg_memtable_row_buckets(memtable: number, rows: number, n: number): number;
  hg_memtable_filter(memtable: number, rows: number, n: number, ranges: number, k: number): number;
  hg_memtable_nodes(memtable: number, out: number, capacity: number): number;
}

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
} as const;

/** Section kinds that the host asks for (FORMAT.md section 2). */
export const SECTION_KIND = { nodes: 6, filter: 9, column: 16, psi: 17 } as const;

/** Separators of row text: see `json/rows.ts` in the core. */
export const SEPARATOR = { commaBetween: 0, commaBefore: 1, newline: 2, columns: 3 } as const;
export type Separator = (typeof SEPARATOR)[keyof typeof SEPARATOR];
