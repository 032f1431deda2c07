// Calls on the stored rules.

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

  /**
   * Creates a rule or replaces the rule with the same id. The new rule is checked together with all
   * stored rules.
   */
  put(rule: NewRule, options?: CallOptions): Promise<StoredRule> {
    return this.#connection.json('putRule', { body: rule }, options);
  }

  /**
   * Returns what is wrong with a rule when it is checked together with the stored rules; stores
   * nothing.
   */
  validate(rule: NewRule, options?: CallOptions): Promise<RuleValidation> {
    return this.#connection.json('validateRule', { body: rule, reads: true }, options);
  }

  delete(id: string, options?: CallOptions): Promise<DeletedRule> {
    return this.#connection.json('deleteRule', { parameters: [id] }, options);
  }
}
