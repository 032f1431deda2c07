// Types of the JavaScript host (browser, Node, worker) that occur in the client's interface. Where
// the host declares them (`dom`, @types/node, workers), they are the host's own types; otherwise
// they contain only what the client needs. So a program compiles with any `lib` option.

export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Own } }
  ? Own
  : {
      readonly aborted: boolean;
      readonly reason: unknown;
      throwIfAborted(): void;
      addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
      removeEventListener(type: 'abort', listener: () => void): void;
    };

export type Fetch = typeof globalThis extends { fetch: infer Own extends (...request: never) => unknown }
  ? Own
  : (
      url: string,
      init?: object,
    ) => Promise<{
      readonly ok: boolean;
      readonly status: number;
      readonly type?: string;
      readonly headers: { get(name: string): string | null };
      readonly body: unknown;
      text(): Promise<string>;
    }>;

export type FetchInit = NonNullable<Parameters<Fetch>[1]>;
export type FetchAnswer = Awaited<ReturnType<Fetch>>;
