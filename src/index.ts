// `hedgerow`: the embedded database and its measures, without HTTP.

export {
  Analytics,
  type AnalyticsOptions,
  type Basis,
  MeasureAnswer,
  type MeasureItem,
  type MeasureValue,
  type RunOptions,
} from './analytics/index.ts';
export * from './engine/index.ts';
export { HedgerowError } from './errors.ts';
