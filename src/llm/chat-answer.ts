// Reads the answer of a chat-completions endpoint: turns untrusted bytes into a completion or a
// failure.

import { wellFormed } from '../model/text.ts';
import type { Completion, Prompt } from './chat.ts';
import type { AnswerHead } from './http-post.ts';
import { maskKey } from './mask-key.ts';
import { modelFailed, statusFailure } from './model-failure.ts';
import { tokenSteps } from './tokens.ts';

/** The parts of the request that are needed to read the answer. */
export interface Asked {
  readonly prompt: Prompt;
  readonly model: string;
  readonly apiKey: string | undefined;
}

const CHECK_ADDRESS = 'check that the base address is one of a chat-completions service';
const MOST_TOKENS = 2 ** 31;

/** Throws `model_failed` if the status or headers rule out a readable body. */
export function checkHead({ status, headers }: AnswerHead, { model, apiKey }: Asked): void {
  if (status !== 200) throw statusFailure(status, maskKey(model.slice(0, 100), apiKey), apiKey !== undefined);
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase();
  if (encoding !== '' && encoding !== 'identity') {
    throw modelFailed(`compressed its answer although it was asked not to; ${CHECK_ADDRESS}`);
  }
  const type = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  if (type !== 'application/json' && !/^application\/[\w.-]{1,64}\+json$/.test(type)) {
    throw modelFailed(`answered something other than JSON; ${CHECK_ADDRESS}`);
  }
}

/**
 * Reads the whole answer without pausing. Use `completionSteps` to let other work run in between.
 */
export function completionOf(bytes: Uint8Array, asked: Asked): Completion {
  const steps = completionSteps(bytes, asked);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Reads an answer, with pauses in which other work can run. Throws `model_failed`. Content that is
 * null or missing becomes the empty text. Token counts missing from the answer are computed.
 */
export function* completionSteps(
  bytes: Uint8Array,
  { prompt, model, apiKey }: Asked,
): Generator<void, Completion, void> {
  const answer = parsed(bytes);
  if (!isObject(answer) || !Array.isArray(answer.choices))
    throw modelFailed(`sent an answer with no choices; ${CHECK_ADDRESS}`);
  const choice: unknown = answer.choices[0];
  if (!isObject(choice) || !isObject(choice.message))
    throw modelFailed('sent an answer with no message; try again later');
  yield;
  const text = maskKey(wellFormed(textOf(choice.message.content)), apiKey);
  const usage = isObject(answer.usage) ? answer.usage : {};
  return {
    text,
    model: maskKey(isName(answer.model) ? answer.model : model, apiKey),
    promptTokens:
      tokensOf(usage.prompt_tokens) ?? (yield* tokenSteps(prompt.system)) + (yield* tokenSteps(prompt.user)),
    completionTokens: tokensOf(usage.completion_tokens) ?? (yield* tokenSteps(text)),
  };
}

function parsed(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw modelFailed(`answered text that is not UTF-8; ${CHECK_ADDRESS}`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw modelFailed('answered broken JSON; try again later');
  }
}

/**
 * Returns the content as text: the content itself if it is a string, or the texts of its parts,
 * joined.
 */
function textOf(content: unknown): string {
  if (content === null || content === undefined) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content) || !content.every(isObject)) throw unreadable();
  return content.map((part) => (part.type === 'text' ? textOfPart(part.text) : '')).join('');
}

function textOfPart(text: unknown): string {
  if (typeof text === 'string') return text;
  throw unreadable();
}

function unreadable() {
  return modelFailed('answered with a message that is not text; choose a model that writes text');
}

/** Returns the value if it is a plausible count, otherwise undefined. */
function tokensOf(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MOST_TOKENS
    ? (value as number)
    : undefined;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]{1,200}$/.test(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
