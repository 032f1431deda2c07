// TypeScript declarations of the core's exports (assembly/README.md). All arguments and results are
// numbers; addresses may be returned as signed integers.

import type { TextExports } from './abi-text.ts';

/**
 * Declared here instead of WebAssembly.Memory and WebAssembly.Global, whose types exist only if
 * TypeScript's library `dom` is included.
 */
export interface WasmMemory {
  readonly buffer: ArrayBufferLike;
}
export interface WasmGlobal {
  /** Value of a constant exported by the core. */
  readonly value: number;
}

export interface CoreExports extends TextExports {
  readonly memory: WasmMemory;
  readonly HG_MAX_MEMBERS: WasmGlobal;
  readonly HG_MAX_SEGMENT_ROWS: WasmGlobal;
  readonly HG_RECORD_HEADER_BYTES: WasmGlobal;
  readonly HG_SEGMENT_HEADER_BYTES: WasmGlobal;
  readonly HG_SECTION_ENTRY_BYTES: WasmGlobal;
  readonly HG_FILTER_ENTRY_BYTES: WasmGlobal;
  readonly HG_RANGE_ENTRY_BYTES: WasmGlobal;
  readonly HG_RANGE_ID: WasmGlobal;
  readonly HG_RANGE_ROLE: WasmGlobal;
  readonly HG_MAX_TEXT_BYTES: WasmGlobal;
  readonly HG_CHECK_STATE_BYTES: WasmGlobal;
  readonly HG_ROWS_SLACK_BYTES: WasmGlobal;
  readonly HG_FIGURES_BYTES: WasmGlobal;
  readonly HG_NODE_ENTRY_BYTES: WasmGlobal;
  readonly HG_OVERLAP_BLOCK_BYTES: WasmGlobal;
  readonly HG_PAIRS_BLOCK_BYTES: WasmGlobal;
  readonly HG_SUBSETS_BLOCK_BYTES: WasmGlobal;
  readonly HG_SUBSETS_FRAME_BYTES: WasmGlobal;
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
  hg_records_encode_roles(
    rows: number,
    times: number,
    ids: number,
    counts: number,
    members: number,
    masks: number,
    propertyEnds: number,
    properties: number,
    limit: number,
    out: number,
    capacity: number,
  ): number;
  hg_records_parse(text: number, bytes: number, keys: number, limit: number, out: number, capacity: number): number;
  hg_records_parse_named(
    text: number,
    bytes: number,
    keys: number,
    limit: number,
    kind: number,
    create: number,
    held: number,
    out: number,
    capacity: number,
  ): number;
  hg_records_check(pointer: number, bytes: number, count: number): number;
  hg_records_number(pointer: number, count: number, firstId: number): number;
  hg_records_merge(runs: number, k: number, out: number, capacity: number): number;
  hg_records_merge_until(runs: number, k: number, time: number, id: number, out: number, capacity: number): number;
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
    text: number,
  ): number;
  hg_segment_check_header(base: number, available: number, fileBytes: number): number;
  hg_segment_check(base: number, bytes: number, deep: number): number;
  hg_segment_check_step(base: number, bytes: number, deep: number, state: number, work: number): number;
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
  hg_segment_counts(segment: number, nodes: number, n: number, from: number, to: number, counts: number): number;
  hg_segment_tally(segment: number, least: number, n: number, from: number, to: number, counts: number): number;
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
  hg_segment_records_short(
    segment: number,
    rows: number,
    n: number,
    columns: number,
    columnCount: number,
    out: number,
    capacity: number,
  ): number;
  hg_segment_psi(
    segment: number,
    column: number,
    low: number,
    high: number,
    flags: number,
    out: number,
    capacity: number,
  ): number;
  hg_segment_stab(segment: number, column: number, time: number, from: number, to: number, out: number): number;
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
  hg_memtable_free(memtable: number): void;
  hg_memtable_seed(low: number, high: number): void;
  hg_memtable_reserve(memtable: number, bytes: number, rows: number): number;
  hg_memtable_unreserve(memtable: number, records: number, bytes: number, rows: number): void;
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
  hg_memtable_sums(memtable: number, from: number, n: number, before: number, out: number): number;
  hg_memtable_row_buckets(memtable: number, rows: number, n: number): number;
  hg_memtable_filter(memtable: number, rows: number, n: number, ranges: number, k: number): number;
  hg_memtable_greatest(memtable: number, column: number, from: number): number;
  hg_memtable_nodes(memtable: number, out: number, capacity: number): number;
  hg_graph_search(
    starts: number,
    neighbours: number,
    n: number,
    source: number,
    distances: number,
    queue: number,
  ): number;
  hg_graph_search_many(
    starts: number,
    neighbours: number,
    n: number,
    sources: number,
    k: number,
    reached: number,
    sums: number,
    inverses: number,
    far: number,
    scratch: number,
  ): void;
  hg_graph_betweenness(
    starts: number,
    neighbours: number,
    n: number,
    from: number,
    to: number,
    reach: number,
    sums: number,
    scratch: number,
  ): void;
  hg_incidence_mark(ids: number, n: number, least: number, table: number): void;
  hg_incidence_rank(table: number, from: number, to: number, first: number): number;
  hg_incidence_list(table: number, from: number, to: number, least: number, out: number): void;
  hg_incidence_map(ids: number, n: number, least: number, table: number, out: number): void;
  hg_incidence_keys(ids: number, n: number, least: number, first: number, keys: number, places: number): void;
  hg_incidence_digits(keys: number, n: number, shift: number, counts: number): void;
  hg_incidence_place(
    keys: number,
    values: number,
    n: number,
    shift: number,
    cursors: number,
    toKeys: number,
    toValues: number,
  ): void;
  hg_incidence_assign(
    keys: number,
    places: number,
    from: number,
    to: number,
    known: number,
    least: number,
    nodeIds: number,
    ordinals: number,
  ): number;
  hg_incidence_sums(values: number, n: number, first: number): number;
  hg_incidence_tally(items: number, n: number, counts: number): void;
  hg_incidence_transpose(starts: number, items: number, from: number, to: number, cursors: number, out: number): void;
  hg_incidence_group(
    starts: number,
    items: number,
    ids: number,
    from: number,
    to: number,
    known: number,
    slots: number,
    slotBits: number,
    setOf: number,
    leaders: number,
  ): number;
  hg_incidence_order(
    setOf: number,
    leaders: number,
    starts: number,
    from: number,
    to: number,
    known: number,
    ordinals: number,
    rows: number,
    sizes: number,
  ): number;
  hg_incidence_total(
    setOf: number,
    from: number,
    to: number,
    ordinals: number,
    weights: number,
    multiplicity: number,
    toWeights: number,
    toMultiplicity: number,
  ): void;
  hg_incidence_pick(
    starts: number,
    items: number,
    list: number,
    from: number,
    to: number,
    toStarts: number,
    toItems: number,
  ): void;
  hg_incidence_pick_numbers(values: number, list: number, from: number, to: number, out: number): void;
  hg_graph_bitmap_bytes(rows: number): number;
  hg_graph_overlaps(
    block: number,
    from: number,
    work: number,
    neighbours: number,
    shared: number,
    capacity: number,
  ): number;
  hg_graph_pairs(block: number, from: number, work: number): number;
  hg_graph_pair_counts(counts: number, n: number): void;
  hg_graph_shift(values: number, n: number, by: number, out: number): void;
  hg_components_start(parents: number, from: number, to: number): void;
  hg_components_label(parents: number, from: number, to: number): void;
  hg_components_items(itemStarts: number, itemRows: number, from: number, to: number, parents: number): void;
  hg_components_arcs(starts: number, neighbours: number, from: number, to: number, parents: number): void;
  hg_components_counts(
    rowStarts: number,
    rowItems: number,
    itemStarts: number,
    itemRows: number,
    rows: number,
    from: number,
    least: number,
    work: number,
    cursors: number,
    counts: number,
    met: number,
    parents: number,
  ): number;
  hg_components_pairs(
    rowStarts: number,
    rowItems: number,
    itemStarts: number,
    itemRows: number,
    items: number,
    from: number,
    work: number,
    cursors: number,
    marks: number,
    parents: number,
  ): number;
  hg_components_subsets(block: number, work: number): number;
  hg_graph_orient(starts: number, neighbours: number, n: number, outStarts: number, outs: number): void;
  hg_graph_triangles(
    outStarts: number,
    outs: number,
    n: number,
    from: number,
    most: number,
    marks: number,
    counts: number,
  ): number;
  hg_graph_cores(starts: number, neighbours: number, n: number, cores: number, order: number, scratch: number): number;
  hg_clique_bytes(k: number): number;
  hg_clique_begin(
    starts: number,
    neighbours: number,
    candidates: number,
    k: number,
    marks: number,
    search: number,
  ): void;
  hg_clique_go_on(search: number, capacity: number, best: number, most: number): number;
  hg_product_edges(
    edgeStarts: number,
    edgeNodes: number,
    from: number,
    to: number,
    rates: number,
    x: number,
    flows: number,
  ): void;
  hg_product_nodes(
    nodeStarts: number,
    nodeEdges: number,
    from: number,
    to: number,
    flows: number,
    scales: number,
    own: number,
    x: number,
    out: number,
  ): void;
  hg_product_neighbours(
    starts: number,
    neighbours: number,
    counts: number,
    from: number,
    to: number,
    scales: number,
    x: number,
    out: number,
  ): void;
  hg_vector_dot(a: number, b: number, n: number): number;
  hg_vector_mix(y: number, keep: number, x: number, factor: number, n: number): void;
  hg_vector_multiply(a: number, b: number, out: number, n: number): void;
  hg_vector_norm(a: number, weights: number, n: number): number;
  readonly HG_ZHOU_BLOCK_BYTES: WasmGlobal;
  hg_graph_matrix(starts: number, neighbours: number, n: number, matrix: number, rowWords: number): void;
  hg_zhou_node(block: number, v: number, from: number): number;
  hg_zhou_pairs(block: number, m: number, from: number, most: number): number;
  hg_sets_overlaps(
    edgeStarts: number,
    edgeNodes: number,
    nodeStarts: number,
    nodeEdges: number,
    m: number,
    from: number,
    most: number,
    counts: number,
    met: number,
    sums: number,
  ): number;
  hg_sets_pairs_again(
    edgeStarts: number,
    edgeNodes: number,
    m: number,
    from: number,
    most: number,
    starts: number,
    neighbours: number,
    counts: number,
    out: number,
  ): number;
  hg_sets_sharing(
    edgeStarts: number,
    edgeNodes: number,
    nodeStarts: number,
    nodeEdges: number,
    v: number,
    from: number,
    words: number,
    slots: number,
    bits: number,
  ): number;
  hg_window_bytes(incidences: number, pairs: number): number;
  hg_window_cores(
    edgeStarts: number,
    edgeNodes: number,
    from: number,
    to: number,
    slots: number,
    members: number,
    cores: number,
    scratch: number,
  ): number;
  hg_keys_seed(a: number, b: number, c: number, d: number): void;
  hg_keys_kind(kind: number, isInteger: number, prefix: number, bytes: number): number;
  hg_keys_next(): number;
  hg_keys_raise(next: number): number;
  hg_keys_limit(limit: number): void;
  hg_keys_live(): number;
  hg_keys_find(kind: number, key: number, bytes: number): number;
  hg_keys_hold(kind: number, key: number, bytes: number): number;
  hg_keys_release(numbers: number, n: number): void;
  hg_keys_reserve(nodes: number, keyBytes: number, last: number): number;
  hg_keys_make_live(numbers: number, n: number): number;
  hg_keys_add(kind: number, key: number, bytes: number, number: number): number;
  hg_keys_add_records(kind: number, records: number, count: number, column: number): number;
  hg_keys_kill(number: number): void;
  hg_keys_state(number: number): number;
  hg_keys_key(number: number): number;
  hg_keys_unborn(numbers: number, n: number, kinds: number): number;
  hg_keys_records(numbers: number, n: number, kind: number, column: number, out: number, capacity: number): number;
  hg_keys_translate(text: number, bytes: number, form: number, out: number, capacity: number): number;
}
