// Answers with derived facts and their proofs: one body when small, otherwise generated while being
// sent.

import { type ChunkSource, JSON_TYPE, type Reply } from '../http/index.ts';
import { isoTime } from '../iso-time.ts';
import type { Answered, Derived, Question, StepRunner } from '../rag/index.ts';
import type { Steps } from '../schedule/steps.ts';

/** Answers up to this size are sent as one body with a Content-Length. */
const WHOLE_BODY_CHARACTERS = 256 * 1024;
const CHUNK_CHARACTERS = 32 * 1024;

/**
 * A replacer for `JSON.stringify` that writes times of edges and of the window as ISO 8601. No user
 * column is named event_ts, or holds an object.
 */
function withText(name: string, value: unknown): unknown {
  if (name === 'event_ts' && typeof value === 'number') return isoTime(value);
  return name === 'window' && typeof value === 'object' ? isoWindow(value as Question['window']) : value;
}

export function isoWindow(window: Question['window']) {
  const textOf = (seconds: number | null) => (seconds === null ? null : isoTime(seconds));
  return window && { start_ts: textOf(window.start_ts), end_ts: textOf(window.end_ts) };
}

/**
 * Sends the fields of the result, then `derived_facts` and `proofs`. `ended` is called, possibly
 * more than once, when nothing of it is needed any more.
 */
export async function reasoningReply(
  { result, derived, lsn }: Answered<object>,
  runner: StepRunner,
  iso: boolean,
  ended: () => void,
): Promise<Reply> {
  const texts = answerTexts(result, derived, iso ? withText : undefined);
  const first = await runner.run(upTo(texts, WHOLE_BODY_CHARACTERS));
  const whole = first.ended;
  if (whole) ended();
  return {
    status: 200,
    contentType: JSON_TYPE,
    body: whole ? first.text : '',
    lsn,
    headers: undefined,
    source: whole ? undefined : sourceOf(first.text, texts, ended),
    tag: undefined,
    facts: undefined,
  };
}

/** Pieces of the JSON text; null for a step without text. */
function* answerTexts(
  result: object,
  derived: Derived | undefined,
  written: typeof withText | undefined,
): Generator<string | null, void, void> {
  const fields = JSON.stringify(result, written);
  yield `${fields.slice(0, -1)},"derived_facts":[`;
  const count = derived?.count ?? 0;
  for (let number = 1; number <= count; number++) {
    yield (number === 1 ? '' : ',') + JSON.stringify(yield* silently(derived!.step(number)), written);
  }
  yield '],"proofs":[';
  for (let number = 1; number <= count; number++) {
    yield (number === 1 ? '' : ',') + JSON.stringify(yield* silently(derived!.proof(number)), written);
  }
  yield ']}';
}

function* silently<T>(steps: Steps<T>): Generator<null, T, void> {
  let step = steps.next();
  while (step.done !== true) {
    yield null;
    step = steps.next();
  }
  return step.value;
}

/** Collects pieces until there is enough text. */
function* upTo(
  texts: Generator<string | null, void, void>,
  characters: number,
): Steps<{ text: string; ended: boolean }> {
  let text = '';
  while (text.length <= characters) {
    const next = texts.next();
    if (next.done === true) return { text, ended: true };
    text += next.value ?? '';
    yield;
  }
  return { text, ended: false };
}

function sourceOf(start: string, texts: Generator<string | null, void, void>, ended: () => void): ChunkSource {
  let pending = start;
  return {
    next() {
      let text = pending;
      pending = '';
      // A proof may be long: one that takes several steps goes into the next chunk.
      while (text.length < CHUNK_CHARACTERS) {
        const next = texts.next();
        if (next.done === true) return text === '' ? null : Buffer.from(text);
        if (next.value === null) break;
        text += next.value;
      }
      return Buffer.from(text);
    },
    close: () => {
      texts.return(undefined);
      ended();
    },
  };
}
