// Rules, facts derived by them with proofs, and questions in words.

import type { Connection } from './connection.ts';
import type { CallOptions } from './options.ts';
import type {
  AskInput,
  DeletedRule,
  Interaction,
  NewRule,
  Question,
  RagAnswer,
  ReasonAnswer,
  ReasonInput,
  RuleList,
  RuleValidation,
  StoredRule,
} from './types.ts';

export class Rules {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  list(options?: CallOptions): Promise<RuleList> {
    return this.#connection.json('listRules', {}, options);
  }

  get(id: string, options?: CallOptions): Promise<StoredRule> {
    return this.#connection.json('getRule', { parameters: [id] }, options);
  }

  /** Makes a rule or replaces the one of its id; all stored rules are checked together with it. */
  put(rule: NewRule, options?: CallOptions): Promise<StoredRule> {
    return this.#connection.json('putRule', { body: rule }, options);
  }

  /** What is wrong with a rule beside the stored ones; stores nothing. */
  validate(rule: NewRule, options?: CallOptions): Promise<RuleValidation> {
    return this.#connection.json('validateRule', { body: rule, reads: true }, options);
  }

  delete(id: string, options?: CallOptions): Promise<DeletedRule> {
    return this.#connection.json('deleteRule', { parameters: [id] }, options);
  }
}

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

  /** What retrieval understands of a text. */
  parse(query: string, table?: string, options?: CallOptions): Promise<Question> {
    return this.#connection.json('parseQuestion', { query: { query, table } }, options);
  }

  /** What was retrieved, derived, generated and stripped for one of the last 1,000 questions. */
  interaction(id: string, options?: CallOptions): Promise<Interaction> {
    return this.#connection.json('getInteraction', { parameters: [id] }, options);
  }
}
