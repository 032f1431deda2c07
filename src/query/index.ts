// Public interface of the query module: running statements, and the parts of the executor that
// write the rows of results.

export type { ParameterValues } from './binder/parameters.ts';
export {
  type EmbeddedOptions,
  EmbeddedStatements,
  type RunningStatement,
  type StatementAnswer,
  type StatementOptions,
  type StatementParameters,
  type StatementRow,
} from './embedded.ts';
export { QueryContext, type RowSource } from './executor/context.ts';
export { JsonSink } from './executor/rows/json-sink.ts';
export { type RowKeys, rowKeys, writeChunk } from './executor/rows/result-text.ts';
export type { PropertyColumn, RowSet } from './executor/rows/row-set.ts';
export { columnPlan, readScan } from './executor/rows/scan-rows.ts';
export { isoValues } from './executor/values/iso-values.ts';
export type { ColumnNeeds, ScanPlan } from './planner/plan.ts';
export { type QueryPlanFigures, type StatementResult, typesOfAnswer } from './result.ts';
export { LONG_TEXT, type SessionHooks, Statements } from './statements.ts';
export { WrittenRead } from './written-read.ts';
