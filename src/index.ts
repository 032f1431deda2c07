// `hedgerow`: the embedded database, without HTTP.

export * from './engine/index.ts';
export { HedgerowError } from './errors.ts';
