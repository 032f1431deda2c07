// A fetch that answers from a script and records its requests. Waits of the client are recorded
// instead of performed.

import { type ClientOptions, HedgerowClient } from '../../src/client/index.ts';

/** `refused`: no connection. `hanging`: no answer until the request is aborted. */
export type Step =
  | 'refused'
  | 'hanging'
  | { status: number; json?: unknown; text?: string; headers?: Record<string, string> }
  /**
   * Status 200 with these pieces of a body. Afterwards `cut` breaks the connection, and `silent`
   * sends nothing more.
   */
  | { pieces: readonly string[]; end: 'whole' | 'cut' | 'silent' }
  /** A redirect as a browser shows it: without status, headers and body. */
  | { hidden: true };

export interface SeenRequest {
  method: string;
  url: string;
  headers: Headers;
  body: string | undefined;
  init: RequestInit;
}

export interface Script {
  client: HedgerowClient;
  requests: SeenRequest[];
  /** Waits between attempts, in ms. */
  waits: number[];
}

/**
 * Creates a client with a scripted fetch. The last step answers all further requests. `random`
 * always returns 0.5.
 */
export function scripted(steps: readonly Step[], options: Partial<ClientOptions> = {}): Script {
  const requests: SeenRequest[] = [];
  const waits: number[] = [];
  const fetch = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const body = typeof init.body === 'string' ? init.body : undefined;
    requests.push({ method: init.method!, url: String(input), headers: new Headers(init.headers), body, init });
    return answer(steps[Math.min(requests.length, steps.length) - 1]!, init.signal!);
  };
  const client = new HedgerowClient({
    url: 'http://db.test',
    fetch,
    now: () => Date.UTC(2024, 0, 1),
    random: () => 0.5,
    sleep: async (ms, signal) => {
      waits.push(ms);
      signal?.throwIfAborted();
    },
    ...options,
  });
  return { client, requests, waits };
}

function answer(step: Step, signal: AbortSignal): Promise<Response> | Response {
  if (step === 'refused') {
    return Promise.reject(new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }));
  }
  if (step === 'hanging') return new Promise((_resolve, reject) => onAbort(signal, reject));
  if ('hidden' in step) return Object.defineProperties(Response.error(), { type: { value: 'opaqueredirect' } });
  if ('pieces' in step) return new Response(bodyOf(step.pieces, step.end, signal));
  const { status, json, text, headers } = step;
  return new Response(text ?? JSON.stringify(json ?? {}), { status, headers: headers ?? {} });
}

function bodyOf(
  pieces: readonly string[],
  end: 'whole' | 'cut' | 'silent',
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const bytes = pieces.map((piece) => new TextEncoder().encode(piece));
  let next = 0;
  return new ReadableStream({
    start: (controller) => onAbort(signal, (reason) => controller.error(reason)),
    pull(controller) {
      if (next < bytes.length) controller.enqueue(bytes[next++]!);
      else if (end === 'whole') controller.close();
      else if (end === 'cut') controller.error(new TypeError('terminated', { cause: new Error('other side closed') }));
    },
  });
}

function onAbort(signal: AbortSignal, then: (reason: unknown) => void): void {
  if (signal.aborted) then(signal.reason);
  else signal.addEventListener('abort', () => then(signal.reason));
}

export const OK: Step = { status: 200, json: {} };

export function failure(status: number, headers: Record<string, string> = {}, code = 'overloaded'): Step {
  return { status, headers, json: { detail: `No: ${code}.`, code, status, request_id: 'r-1' } };
}

/** Returns the error with which a call fails. */
export async function caught(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
