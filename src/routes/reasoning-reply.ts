// Answers with derived facts and their proofs. Their text is generated while it is sent.

import {
  type AnswerText,
  type ChunkSource,
  JSON_FORMAT,
  JSON_TYPE,
  OPENINGS,
  type Reply,
  writeAnswer,
} from '../http/index.ts';
import { isoTime } from '../iso-time.ts';
import type { Answered, Derived, Question } from '../rag/index.ts';
import type { Steps } from '../schedule/steps.ts';
import type { Call } from './application.ts';
import type { CallRunner } from './step-runner.ts';

const PIECE_CHARACTERS = 32 * 1024;
/** A piece ends after this time, so that other requests are served. */
const PIECE_MS = 2;

/**
 * A replacer for `JSON.stringify` that writes the times of edges and of the window as ISO 8601.
 * Recognising them by name is safe: no user column is named event_ts, no user column contains
 * objects, and a user column named end_ts is in the object `properties`.
 */
function withText(this: unknown, name: string, value: unknown): unknown {
  if (name === 'end_ts' && typeof value === 'number') return isEdge(this) ? isoTime(value) : value;
  if (name === 'event_ts' && typeof value === 'number') return isoTime(value);
  return name === 'window' && typeof value === 'object' ? isoWindow(value as Question['window']) : value;
}

/** Edges have their columns in an object of their own. */
function isEdge(holder: unknown): boolean {
  return typeof holder === 'object' && holder !== null && 'edge_id' in holder;
}

export function isoWindow(window: Question['window']) {
  const textOf = (seconds: number | null) => (seconds === null ? null : isoTime(seconds));
  return window && { start_ts: textOf(window.start_ts), end_ts: textOf(window.end_ts) };
}

/**
 * Sends the fields of the result, then `derived_facts` and `proofs`. `ended` is called, possibly
 * more than once, when the result is no longer needed.
 */
export function reasoningReply(
  call: Call,
  answered: Answered<object>,
  runner: CallRunner,
  iso: boolean,
  ended: () => void,
): Reply | Promise<Reply> {
  return writeAnswer(
    call,
    new ReasoningText(answered, { runner, now: call.services.now, iso, ended }),
    OPENINGS.relayed,
    false,
  );
}

class ReasoningText implements AnswerText {
  get work() {
    return 'reasoning' as const;
  }

  isEnded = false;
  readonly format = JSON_FORMAT;
  readonly frame = undefined;
  readonly #texts: Generator<string | null, void, void>;
  readonly #runner: CallRunner;
  readonly #lsn: number;
  readonly #ended: () => void;
  readonly #now: () => number;

  constructor(
    { result, derived, lsn }: Answered<object>,
    { runner, now, iso, ended }: { runner: CallRunner; now: () => number; iso: boolean; ended: () => void },
  ) {
    this.#now = now;
    this.#texts = answerTexts(result, derived, iso ? withText : undefined);
    this.#runner = runner;
    this.#lsn = lsn;
    this.#ended = ended;
  }

  look(): void {
    this.#runner.look();
  }

  next(): Uint8Array | null {
    let text = '';
    // The proofs of few facts make no step of their own, but hundreds of them fit into a piece.
    const end = this.#now() + PIECE_MS;
    while (text.length < PIECE_CHARACTERS && (text === '' || this.#now() < end)) {
      const next = this.#texts.next();
      if (next.done === true) {
        this.isEnded = true;
        break;
      }
      // Null ends the piece: a long proof takes several steps, and its text is sent with the next
      // piece.
      if (next.value === null) break;
      text += next.value;
    }
    return this.isEnded && text === '' ? null : Buffer.from(text);
  }

  reply(body: Uint8Array | undefined, source: ChunkSource | undefined): Reply {
    return {
      status: 200,
      contentType: JSON_TYPE,
      body: body ?? '',
      lsn: this.#lsn,
      headers: undefined,
      source,
      tag: undefined,
      facts: undefined,
    };
  }

  close(): void {
    this.#texts.return(undefined);
    this.#ended();
  }
}

/** Yields pieces of the JSON text, or null for a step without text. */
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
