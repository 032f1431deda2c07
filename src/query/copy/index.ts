// Public interface of COPY's file formats, for commands that read and write files without a
// database.

export { valueOfCell } from './cell-values.ts';
export { type Cells, type CutRules, csvRecords } from './csv-records.ts';
export { csvLines } from './csv-writer.ts';
export type { ParquetSink } from './parquet-port.ts';
export type { ResultColumn } from './result-columns.ts';
export { wholeLines } from './whole-lines.ts';
