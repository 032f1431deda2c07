// `hedgerow/client`: calls a Hedgerow service over HTTP, from browsers and Node. It contains no
// code of the server.

export type { ChangesOptions } from './changes.ts';
export { HedgerowClient } from './client.ts';
export { HedgerowApiError, HedgerowConnectionError } from './errors.ts';
export { OPERATIONS, type Operation, type OperationId } from './operations.ts';
export type { CallOptions, ClientOptions, QueryOptions } from './options.ts';
export type { RetryOptions } from './retry.ts';
export type * from './types.ts';
