// The host side of the core's ABI: loads the core, passes bytes to it, and returns bytes and
// numbers. Published as `hedgerow/core`.

export { finish, type Steps, slices, within } from '../schedule/steps.ts';
export type { CoreExports } from './abi.ts';
export { SECTION_KIND, SEGMENT_FIELD, SEPARATOR, type Separator } from './abi-fields.ts';
export { makeChecksum } from './checksum.ts';
export * from './column-block.ts';
export { EdgeBatch } from './edge-batch.ts';
export { EdgeLines, type LineKey, type LineNames, type ReadLines } from './edge-lines.ts';
export { FilterDirectory, FilterRoom } from './filters.ts';
export { Graph } from './graph.ts';
export { Incidence } from './incidence.ts';
export type { IncidenceColumns } from './incidence-parts.ts';
export { type CliqueLimits, type CliqueNumber, cliqueNumber } from './kernels/cliques.ts';
export { components } from './kernels/components.ts';
export { SINGULAR } from './kernels/conjugate-gradients.ts';
export { type Cores, coreNumbers } from './kernels/cores.ts';
export { type Diameters, diameters } from './kernels/diameter.ts';
export { type Hypercores, hypercoreNumbers } from './kernels/hypercores.ts';
export { louvain } from './kernels/louvain.ts';
export { type EdgeWeight, edgeOperator, graphOperator, type Operator, tameFactor } from './kernels/operators.ts';
export { type OverlapSums, overlapSums, pairsAgain, sharingPairs } from './kernels/overlaps.ts';
export {
  betweenness,
  type DistanceSums,
  directedBetweenness,
  distanceSums,
  distancesFrom,
  type Search,
  Searcher,
  searchFromAll,
  UNREACHED,
} from './kernels/searches.ts';
export { type Laplacian, secondSmallest } from './kernels/spectra.ts';
export { localClustering } from './kernels/triangles.ts';
export { type PageRank, type PageRankOptions, pageRank, type Walk } from './kernels/walks.ts';
export { type WindowCores, windowCores } from './kernels/window-cores.ts';
export { zhouClustering } from './kernels/zhou.ts';
export { KeyDictionary, type KeyForm, type UnbornNodes } from './key-dictionary.ts';
export { KeyedSink } from './keyed-sink.ts';
export { type Core, type CoreBuild, type CoreModule, compileCore, loadCore } from './load.ts';
export { CoreMemtable } from './memtable.ts';
export { MemtableHost } from './memtable-host.ts';
export { type BuilderColumn, type MergedText, SegmentMerger } from './merger.ts';
export { encodeProperties, type Property } from './properties.ts';
export {
  encodeRanges,
  endsAfter,
  ID_RANGE,
  idShare,
  isEmptyRange,
  mayHold,
  type NumericRange,
  type RangeSet,
  ROLE_RANGE,
  roleRange,
  textRange,
} from './ranges.ts';
export { RecordText } from './record-text.ts';
export { type TextColumnOf, textsOf } from './record-texts.ts';
export { RecordChecker } from './records.ts';
export { RowBitmap } from './row-bitmap.ts';
export { STEP_ROWS, STEP_STATE, type StepBounds, type StepResult, TextSink } from './row-output.ts';

export { buildRowPlan, type PlanColumn, type RowPlan, type RowPlanOptions } from './row-plan.ts';

export { Scratch } from './scratch.ts';
export { type DeadRows, lowerBound, ResidentSegment } from './segment.ts';
export { assertChecksum, type ColumnFacts, readSegmentFacts, type SegmentFacts } from './segment-facts.ts';
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
export { loadSegment, SegmentLoad } from './segment-load.ts';
export { coreError, STATUS } from './status.ts';
export {
  buildTextBlock,
  NO_TERM,
  openTextBlock,
  type PlacedText,
  placeTextBlock,
  TextBlock,
  type TextInput,
  textCheck,
} from './text-block.ts';
export { TextInputs, type TextSource } from './text-input.ts';
export { TEXT_ROLE, type TextBest, type TextPart, TextQuery, type TextRole } from './text-query.ts';
