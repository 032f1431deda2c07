// Answers with derived facts and their proofs: one body when it is small, else written while it is sent.

import { JSON_TYPE } from '../http/media.ts';
import type { ChunkSource, Reply } from '../http/reply.ts';
import type { Answered, Derived, Turns } from '../rag/index.ts';

/** Answers up to this size are sent as one body with a Content-Length. */
const WHOLE_BODY_CHARACTERS = 256 * 1024;
const CHUNK_CHARACTERS = 32 * 1024;

/** The fields of the result, then `derived_facts` and `proofs`. */
export async function reasoningReply({ result, derived, lsn }: Answered<object>, turns: Turns): Promise<Reply> {
  const texts = answerTexts(result, derived);
  const first = await turns.run(upTo(texts, WHOLE_BODY_CHARACTERS));
  const whole = first.ended;
  return {
    status: 200,
    contentType: JSON_TYPE,
    body: whole ? first.text : '',
    lsn,
    headers: undefined,
    source: whole ? undefined : sourceOf(first.text, texts),
    tag: undefined,
    facts: undefined,
  };
}

/** Pieces of the JSON text; null: a step without one. */
function* answerTexts(result: object, derived: Derived | undefined): Generator<string | null, void, void> {
  const fields = JSON.stringify(result);
  yield `${fields.slice(0, -1)},"derived_facts":[`;
  const count = derived?.count ?? 0;
  for (let number = 1; number <= count; number++) {
    yield (number === 1 ? '' : ',') + JSON.stringify(yield* silently(derived!.step(number)));
  }
  yield '],"proofs":[';
  for (let number = 1; number <= count; number++) {
    yield (number === 1 ? '' : ',') + JSON.stringify(yield* silently(derived!.proof(number)));
  }
  yield ']}';
}

function* silently<T>(steps: Generator<void, T, void>): Generator<null, T, void> {
  let step = steps.next();
  while (step.done !== true) {
    yield null;
    step = steps.next();
  }
  return step.value;
}

/** Takes pieces until there is enough text. */
function* upTo(
  texts: Generator<string | null, void, void>,
  characters: number,
): Generator<void, { text: string; ended: boolean }, void> {
  let text = '';
  while (text.length <= characters) {
    const next = texts.next();
    if (next.done === true) return { text, ended: true };
    text += next.value ?? '';
    yield;
  }
  return { text, ended: false };
}

function sourceOf(start: string, texts: Generator<string | null, void, void>): ChunkSource {
  let pending = start;
  return {
    next() {
      let text = pending;
      pending = '';
      // A proof may be long: what takes steps comes in the next chunk.
      while (text.length < CHUNK_CHARACTERS) {
        const next = texts.next();
        if (next.done === true) return text === '' ? null : Buffer.from(text);
        if (next.value === null) break;
        text += next.value;
      }
      return Buffer.from(text);
    },
    close: () => void texts.return(undefined),
  };
}
