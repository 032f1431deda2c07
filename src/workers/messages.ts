// The messages between the process that leads a service and its workers, over the channel of
// child_process. Requests and the log go over sockets instead (link-frames.ts).

/**
 * Descriptors of a worker: a socket for requests, one for the log, and the file of shared-state.ts.
 */
export const REQUESTS_FD = 4;
export const FEED_FD = 5;
export const STATE_FD = 6;

/** What a worker is told at its start. `C` is the type of its configuration. */
export interface StartMessage<C> {
  readonly kind: 'start';
  readonly config: C;
  /** From 1. */
  readonly number: number;
  readonly port: number;
}

/** A question to a worker, such as for its metrics. */
export type Question =
  | { readonly about: 'metrics' }
  | { readonly about: 'interaction'; readonly id: string; readonly keyId: string | null | undefined }
  | { readonly about: 'clear-cache'; readonly graph: string };

/** What callers of one process have used of what all processes share. */
export interface Usage {
  /** Requests by caller, for the rate limits: keys, and addresses. */
  readonly keys: readonly (readonly [keyId: string, requests: number])[];
  readonly addresses: readonly (readonly [id: string | number, requests: number])[];
  /** When keys were last used, in epoch milliseconds. */
  readonly used: readonly (readonly [keyId: string, atMs: number])[];
}

export type ToWorker<C = unknown> =
  | StartMessage<C>
  /** Sent with a connection to serve, if the worker does not listen itself. */
  | { readonly kind: 'connection'; readonly id: number }
  | { readonly kind: 'close'; readonly reason: string }
  | { readonly kind: 'reopen' }
  /** Answered at once with `pong`: the worker's event loop runs. */
  | { readonly kind: 'ping' }
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }
  | { readonly kind: 'usage'; readonly usage: Usage };

export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'pong' }
  /** The worker serves this connection. */
  | { readonly kind: 'took'; readonly id: number }
  /** Why the worker cannot follow; null if it can again. */
  | { readonly kind: 'problem'; readonly detail: string | null }
  /** The worker ends. If its directory is of no use, the next one starts with an empty one. */
  | { readonly kind: 'failed'; readonly detail: string; readonly isDirectoryBad: boolean }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown; readonly error?: string }
  | { readonly kind: 'usage'; readonly usage: Usage };
