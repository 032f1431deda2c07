// Asks a language model through the chat-completions interface: POST {base_url}/chat/completions.

import { setImmediate } from 'node:timers/promises';
import { HedgerowError } from '../errors.ts';
import { MEGABYTE } from '../limits.ts';
import { wellFormed } from '../model/text.ts';
import { checkModelAddress, checkResolved, type ModelAddress } from './address.ts';
import type { Completion, LanguageModel, Prompt } from './chat.ts';
import { type Asked, checkHead, completionSteps } from './chat-answer.ts';
import { type Post, post } from './http-post.ts';
import { maskKey } from './mask-key.ts';
import { modelFailed, timeoutFailure, transportFailure } from './model-failure.ts';
import { checkedKey } from './model-key.ts';
import { type ResolveHost, resolveHost } from './resolve-host.ts';

export interface ChatOptions {
  readonly baseUrl: string;
  readonly model: string;
  /** The key to send, as chosen by `keyFor`; undefined for none. */
  readonly apiKey: string | undefined;
  /** Host names and addresses, each with or without a port. */
  readonly allowedHosts: readonly string[];
  /** The address that the operator configured; defaults to `baseUrl`. */
  readonly configuredBaseUrl?: string;
  /** Timeout of the whole call: lookup, connection and answer. */
  readonly timeoutMs?: number;
  /** Maximum size of the answer in bytes. */
  readonly maxBytes?: number;
}

/** The functions that use the network. */
export interface ChatPorts {
  readonly resolve: ResolveHost;
  readonly post: Post;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const PORTS: ChatPorts = { resolve: resolveHost, post };

/**
 * Creates a model; sends no request yet. Throws `invalid_model_address`, or `invalid_input` for a
 * key that a header cannot contain.
 */
export function createChatModel(options: ChatOptions, ports: ChatPorts = PORTS): LanguageModel {
  const address = checkModelAddress(options.baseUrl, options.allowedHosts, options.configuredBaseUrl);
  if (options.apiKey !== undefined) checkedKey(options.apiKey);
  return {
    name: maskKey(options.model, options.apiKey),
    complete: (prompt, signal) => complete(options, address, ports, prompt, signal),
  };
}

async function complete(
  options: ChatOptions,
  address: ModelAddress,
  ports: ChatPorts,
  prompt: Prompt,
  caller: AbortSignal | undefined,
): Promise<Completion> {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const controller = new AbortController();
  const { signal } = controller;
  const leave = () => controller.abort(caller?.reason);
  if (caller?.aborted === true) throw caller.reason;
  caller?.addEventListener('abort', leave, { once: true });
  const timer = setTimeout(() => controller.abort(timeoutFailure(timeoutMs)), timeoutMs);
  try {
    return await untilAborted(signal, ask(options, address, ports, prompt, signal));
  } catch (error) {
    // The library's errors and their causes are not passed on: they contain the request with its
    // headers.
    if (signal.aborted) throw signal.reason;
    throw error instanceof HedgerowError ? error : transportFailure(error);
  } finally {
    clearTimeout(timer);
    caller?.removeEventListener('abort', leave);
  }
}

async function ask(
  { model, apiKey, maxBytes }: ChatOptions,
  address: ModelAddress,
  { resolve, post }: ChatPorts,
  prompt: Prompt,
  signal: AbortSignal,
): Promise<Completion> {
  const addresses = address.isNumeric ? [] : await resolve(address.host);
  // A lookup cannot be cancelled, so the caller may have disconnected in the meantime.
  signal.throwIfAborted();
  if (!address.isNumeric) {
    if (addresses.length === 0) throw modelFailed('has a host whose address cannot be found; check the base address');
    checkResolved(address, addresses);
  }
  const asked: Asked = { prompt, model, apiKey };
  const bytes = await post(
    {
      origin: address.origin,
      path: address.path,
      headers: headersOf(apiKey),
      body: bodyOf(model, prompt),
      addresses,
      maxBytes: maxBytes ?? MEGABYTE,
      signal,
    },
    (head) => checkHead(head, asked),
  );
  return inTurns(completionSteps(bytes, asked), signal);
}

/** Runs the steps and returns to the event loop between them. Rejects when the signal aborts. */
async function inTurns<T>(steps: Generator<void, T, void>, signal: AbortSignal): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await setImmediate();
    signal.throwIfAborted();
  }
}

function headersOf(apiKey: string | undefined): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'hedgerow',
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  };
}

function bodyOf(model: string, { system, user }: Prompt): string {
  return JSON.stringify({
    model,
    messages: [
      { role: 'system', content: wellFormed(system) },
      { role: 'user', content: wellFormed(user) },
    ],
    temperature: 0,
    stream: false,
  });
}

/**
 * Settles like `work`, but rejects as soon as the signal aborts: a host lookup cannot be cancelled.
 */
function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
