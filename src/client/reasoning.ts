// Derives facts by rules, with proofs, answers questions in words, and checks claims against edges.

import type { Connection } from './connection.ts';
import type { CallOptions } from './options.ts';
import type {
  AskInput,
  CheckAnswer,
  CheckInput,
  Interaction,
  Question,
  RagAnswer,
  ReasonAnswer,
  ReasonInput,
} from './types.ts';

export class Reasoning {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Returns facts and proofs derived from the edges to which the text refers; uses no language
   * model.
   */
  reason(input: ReasonInput, options?: CallOptions): Promise<ReasonAnswer> {
    return this.#connection.json('reason', { body: input, reads: true }, options);
  }

  /** Returns an answer in words that contains only sentences supported by edges and facts. */
  ask(input: AskInput, options?: CallOptions): Promise<RagAnswer> {
    return this.#connection.json('ragQuery', { body: input, reads: true }, options);
  }

  /** Returns whether edges support a text or a list of claims about them. */
  check(input: CheckInput, options?: CallOptions): Promise<CheckAnswer> {
    return this.#connection.json('checkClaims', { body: input, reads: true }, options);
  }

  /** Returns how retrieval understands a question. */
  parse(query: string, table?: string, options?: CallOptions): Promise<Question> {
    return this.#connection.json('parseQuestion', { query: { query, table } }, options);
  }

  /**
   * Returns the record of one of the last 1,000 questions: what was retrieved, derived and
   * generated, and which sentences were removed.
   */
  interaction(id: string, options?: CallOptions): Promise<Interaction> {
    return this.#connection.json('getInteraction', { parameters: [id] }, options);
  }
}
