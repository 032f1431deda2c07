// Interface for commands that read the files of a data directory without opening a database.
// Importing it does not load table.ts and does not compile the core.

export type { TableDefinition } from '../catalog/catalog.ts';
export { type Checkpoint, type CheckpointTable, checkCheckpoint } from '../checkpoint/checkpoint.ts';
export { segmentName } from '../table/segment-file.ts';
export { SEGMENT_HEADER_BYTES, sectionEntries, segmentHeadBytes } from '../table/segment-sections.ts';
export type { SegmentEntry } from '../table/segments-on-disk.ts';
export { type FrameReport, inspectLog, type LogReport, type RunReport } from './log-report.ts';
export { type FileTools, type Problem, problemOf } from './problem.ts';
