// The host side of the core's ABI: load it, give it bytes, get bytes and numbers back. Published as `hedgerow/core`.

export { type CoreExports, SECTION_KIND, SEGMENT_FIELD, SEPARATOR, type Separator } from './abi.ts';
export { makeChecksum } from './checksum.ts';
export * from './column-block.ts';
export { EdgeBatch } from './edge-batch.ts';
export { FilterDirectory } from './filters.ts';
export { type Core, type CoreBuild, type CoreModule, compileCore, loadCore } from './load.ts';
export { CoreMemtable } from './memtable.ts';
export { type BuilderColumn, SegmentMerger } from './merger.ts';
export { encodeProperties, PROPERTY_TYPE, type Property, type PropertyTypeName } from './properties.ts';
export {
  encodeRanges,
  isEmptyRange,
  mayHold,
  type NumericRange,
  type RangeSet,
} from './ranges.ts';
export { RecordChecker } from './records.ts';
export { STEP_ROWS, STEP_STATE, type StepBounds, type StepResult, TextSink } from './row-output.ts';
export { buildRowPlan, type RowPlan } from './row-plan.ts';
export { type DeadRows, lowerBound, ResidentSegment } from './segment.ts';
export { type ColumnFacts, readSegmentFacts, type SegmentFacts } from './segment-facts.ts';
export {
  FIGURE,
  FIGURES,
  ONE_CODE,
  ROW_FIELD,
  type RowCodes,
  type RowField,
  SegmentFold,
  WANT,
} from './segment-fold.ts';
export { coreError, STATUS } from './status.ts';
