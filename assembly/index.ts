// All exports of the core: its ABI (README.md). The functions take only numbers as arguments; the
// files in abi/ convert them to the types used internally.

export * from './abi/fold';
export * from './abi/graph';
export * from './abi/incidence';
export * from './abi/keys';
export * from './abi/linear';
export * from './abi/lists';
export * from './abi/memory';
export * from './abi/memtable';
export * from './abi/records';
export * from './abi/search';
export * from './abi/segment';
export * from './abi/sets';
export * from './abi/structure';
export * from './abi/text';
export {
  HG_FILTER_ENTRY_BYTES,
  HG_MAX_MEMBERS,
  HG_MAX_SEGMENT_ROWS,
  HG_MAX_TEXT_BYTES,
  HG_RANGE_ENTRY_BYTES,
  HG_RANGE_ID,
  HG_RANGE_ROLE,
  HG_RECORD_HEADER_BYTES,
  HG_RECORD_ID_OFFSET,
  HG_RECORD_TIME_OFFSET,
  HG_ROWS_SLACK_BYTES,
  HG_SECTION_ENTRY_BYTES,
  HG_SEGMENT_HEADER_BYTES,
  HG_TYPE_BOOLEAN,
  HG_TYPE_INTEGER,
  HG_TYPE_NULL,
  HG_TYPE_REAL,
  HG_TYPE_TEXT,
} from './limits';
export { hg_result_needed, hg_result_offset, hg_result_pointer, hg_result_rows } from './status';
export { hg_abi_version, hg_features, hg_format_version } from './version';
