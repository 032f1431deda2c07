// Facts derived by rules with proofs, questions in words, and the firewall's verdict on what is
// said.

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

  /** Facts and proofs from the edges that the text means; no language model is asked. */
  reason(input: ReasonInput, options?: CallOptions): Promise<ReasonAnswer> {
    return this.#connection.json('reason', { body: input, reads: true }, options);
  }

  /** An answer in words whose sentences are supported. */
  ask(input: AskInput, options?: CallOptions): Promise<RagAnswer> {
    return this.#connection.json('ragQuery', { body: input, reads: true }, options);
  }

  /** Whether edges support what a text, or claims, say of them. */
  check(input: CheckInput, options?: CallOptions): Promise<CheckAnswer> {
    return this.#connection.json('checkClaims', { body: input, reads: true }, options);
  }

  /** What retrieval understands of a text. */
  parse(query: string, table?: string, options?: CallOptions): Promise<Question> {
    return this.#connection.json('parseQuestion', { query: { query, table } }, options);
  }

  /** What was retrieved, derived, generated and stripped for one of the last 1,000 questions. */
  interaction(id: string, options?: CallOptions): Promise<Interaction> {
    return this.#connection.json('getInteraction', { parameters: [id] }, options);
  }
}
