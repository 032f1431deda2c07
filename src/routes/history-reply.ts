// The answer with the versions of memories. There may be thousands of them, so their text is
// written in pieces.

import {
  type AnswerText,
  type ChunkSource,
  JSON_FORMAT,
  JSON_TYPE,
  OPENINGS,
  type Reply,
  writeAnswer,
} from '../http/index.ts';
import type { History, Version } from '../memory/index.ts';
import type { Call } from './application.ts';

/** A piece ends after the version with which it has this many characters. */
const PIECE_CHARACTERS = 32 * 1024;

/** `shown` returns a version as the answer shows it. `look` throws once the request has ended. */
export interface HistoryForm {
  readonly shown: (version: Version) => object;
  readonly look: () => void;
}

export function historyReply(call: Call, history: History, form: HistoryForm): Reply | Promise<Reply> {
  return writeAnswer(call, new HistoryText(history, form), OPENINGS.complete, false);
}

export class HistoryText implements AnswerText {
  readonly format = JSON_FORMAT;
  readonly frame = undefined;
  isEnded = false;
  readonly #history: History;
  readonly #form: HistoryForm;
  /** Number of versions that are written. */
  #written = 0;

  constructor(history: History, form: HistoryForm) {
    this.#history = history;
    this.#form = form;
  }

  look(): void {
    this.#form.look();
  }

  next(): Uint8Array | null {
    if (this.isEnded) return null;
    const { memories, truncated } = this.#history;
    let text = this.#written === 0 ? '{"memories":[' : '';
    while (this.#written < memories.length && text.length < PIECE_CHARACTERS) {
      if (this.#written > 0) text += ',';
      text += JSON.stringify(this.#form.shown(memories[this.#written]!));
      this.#written++;
    }
    if (this.#written === memories.length) {
      text += `],"truncated":${truncated}}`;
      this.isEnded = true;
    }
    return Buffer.from(text);
  }

  reply(body: Uint8Array | undefined, source: ChunkSource | undefined): Reply {
    return {
      status: 200,
      contentType: JSON_TYPE,
      body: body ?? '',
      lsn: this.#history.lsn,
      headers: undefined,
      source,
      tag: undefined,
      facts: undefined,
    };
  }

  close(): void {}
}
