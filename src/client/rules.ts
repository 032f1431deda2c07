// The stored rules.

import type { Connection } from './connection.ts';
import type { CallOptions } from './options.ts';
import type { DeletedRule, NewRule, RuleList, RuleValidation, StoredRule } from './types.ts';

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
