// The rules of a database: checked as one set on every change, kept durably, with their versions.
//
// Invariants: what is in the store is durable and passed ruleSetOf as a whole; changes run one
// after the other (#last), so that no two rules that are fine alone can clash together.

import { type FieldError, HedgerowError, refusal } from '../errors.ts';
import { didYouMean } from '../model/suggestions.ts';
import { type Fault, fieldErrors, invalidRule } from './fault.ts';
import { readRule } from './parse-rule.ts';
import type { ParsedRule, Rule, RuleSummary } from './rule.ts';
import { type RuleSet, ruleSetOf } from './rule-set.ts';

/** What the store needs of the engine's documents. */
export interface RuleDocuments {
  /** In the order they were first put there; not to be changed. */
  entries(store: string): [id: string, value: unknown][];
  /**
   * Resolves when all changes are durable; a null value removes. `attach` makes the answer that is
   * stored with them.
   */
  change(changes: readonly { store: string; id: string; value: unknown }[], attach?: () => unknown): Promise<number>;
}

/** As it is answered. */
export type StoredRule = Rule & { readonly stratum: number };

export interface Validation {
  readonly ok: boolean;
  readonly errors: FieldError[];
  /** Null when the rule is not ok. */
  readonly stratum: number | null;
}

const STORE = 'rules';
const BODY = ['body'];
const MAX_SHOWN_ID = 140;

export class RuleStore {
  readonly #documents: RuleDocuments;
  #set: RuleSet;
  /** The newest change, done or not. */
  #last: Promise<unknown> = Promise.resolve();

  /** Throws `corrupt` when what is stored is no rule set. */
  constructor(documents: RuleDocuments) {
    this.#documents = documents;
    this.#set = storedSet(documents.entries(STORE));
  }

  /**
   * All that are stored, disabled ones too. A new value after each change; it never changes itself.
   */
  set(): RuleSet {
    return this.#set;
  }

  /** Higher priority first, then by id. */
  list(): RuleSummary[] {
    return this.#set.rules.map(({ rule, body, head }) => {
      const { id, name, enabled, priority, version } = rule;
      return { id, name, enabled, priority, version, head: head.pred, body_size: body.length };
    });
  }

  /** Throws `rule_not_found`. */
  get(id: string): StoredRule {
    return storedIn(this.#set, id);
  }

  /** Checks a rule together with all that are stored; changes nothing. */
  validate(value: unknown): Validation {
    const checked = this.#checked(value);
    if ('faults' in checked) return { ok: false, errors: fieldErrors(checked.faults), stratum: null };
    return { ok: true, errors: [], stratum: storedIn(checked.set, checked.parsed.rule.id).stratum };
  }

  /**
   * Makes or replaces a rule; resolves when it is durable. `attach` makes the answer that is stored
   * with it. Rejects `invalid_rule`.
   */
  put(value: unknown, attach?: (stored: StoredRule) => unknown): Promise<StoredRule> {
    return this.#inTurn(async () => {
      const checked = this.#checked(value);
      if ('faults' in checked) throw invalidRule(checked.faults);
      const { parsed, set } = checked;
      const { id } = parsed.rule;
      const stored = storedIn(set, id);
      await this.#documents.change([{ store: STORE, id, value: parsed.rule }], attach && (() => attach(stored)));
      this.#set = set;
      return stored;
    });
  }

  /**
   * Resolves when it is gone for good; the others stay well-formed without it. Rejects
   * `rule_not_found`.
   */
  delete(id: string, attach?: () => unknown): Promise<void> {
    return this.#inTurn(async () => {
      const { rule } = ruleOf(this.#set, id);
      const rest = ruleSetOf(this.#set.rules.filter((other) => other.rule.id !== rule.id));
      if ('faults' in rest) throw new HedgerowError('internal', `Without ${rule.id} the rules are no set any more.`);
      await this.#documents.change([{ store: STORE, id: rule.id, value: null }], attach);
      this.#set = rest.set;
    });
  }

  /** The set as it would be with the rule, which has its next version in it. */
  #checked(value: unknown): { parsed: ParsedRule; set: RuleSet } | { faults: Fault[] } {
    const { parsed: read, faults } = readRule(value, BODY);
    if (read === undefined) return { faults };
    const { id } = read.rule;
    const before = this.#set.rules.find(({ rule }) => rule.id === id);
    const parsed = { ...read, rule: { ...read.rule, version: (before?.rule.version ?? 0) + 1 } };
    // The new one last: a clash is reported at its place.
    const checked = ruleSetOf([...this.#set.rules.filter((other) => other !== before), parsed]);
    if ('faults' in checked) return { faults: [...faults, ...checked.faults] };
    return faults.length > 0 ? { faults } : { parsed, set: checked.set };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

function storedSet(entries: readonly [id: string, value: unknown][]): RuleSet {
  const rules = entries.map(([id, value]) => {
    const { parsed, faults } = readRule(value, ['rule']);
    if (parsed === undefined || faults.length > 0 || parsed.rule.id !== id)
      throw new HedgerowError('corrupt', `The stored rule ${shownId(id)} cannot be read. Restore a backup.`);
    return parsed;
  });
  const checked = ruleSetOf(rules);
  if ('set' in checked) return checked.set;
  throw new HedgerowError('corrupt', `The stored rules are no set: ${checked.faults[0]!.msg}. Restore a backup.`);
}

function ruleOf(set: RuleSet, id: string) {
  const found = set.rules.find(({ rule }) => rule.id === id);
  if (found !== undefined) return found;
  const ids = set.rules.map(({ rule }) => rule.id);
  const hint = ids.includes(`rule:${id}`) ? ` Did you mean rule:${id}?` : didYouMean(id, ids);
  throw refusal('rule_not_found', `There is no rule ${shownId(id)}.${hint}`, { fields: { listed: 'rules' } });
}

function storedIn(set: RuleSet, id: string): StoredRule {
  const { rule, stratum } = ruleOf(set, id);
  return { ...rule, stratum };
}

function shownId(id: string): string {
  return JSON.stringify(id.length > MAX_SHOWN_ID ? `${id.slice(0, MAX_SHOWN_ID)}...` : id);
}
