// Stores the rules of a database durably, with their versions. Every change is checked together
// with all other rules.
//
// Invariants: The stored rules are durable and passed `ruleSetOf` as a whole. Changes run one after
// the other (`#last`). If they did not, two rules that are each valid alone could both be stored
// although they conflict.

import { type FieldError, HedgerowError, refusal } from '../errors.ts';
import { didYouMean } from '../model/suggestions.ts';
import { type Fault, fieldErrors, invalidRule } from './fault.ts';
import { readRule } from './parse-rule.ts';
import { withRenamedHeads } from './renamed-heads.ts';
import type { ParsedRule, Rule, RuleSummary } from './rule.ts';
import { type RuleSet, ruleSetOf } from './rule-set.ts';

/** The part of the engine's document storage that the store uses. */
export interface RuleDocuments {
  /**
   * Returns the entries in the order in which they were first stored. The caller must not change
   * them.
   */
  entries(store: string): [id: string, value: unknown][];
  /** Calls `changed` when a leader, if the database follows one, has changed an entry. */
  watch(store: string, changed: (id: string) => void): void;
  /**
   * Stores changes; resolves when all of them are durable. A null value removes the entry. `attach`
   * makes the answer that is stored together with the changes.
   */
  change(changes: readonly { store: string; id: string; value: unknown }[], attach?: () => unknown): Promise<number>;
}

/** A rule as answers contain it. */
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
  /**
   * Rules that an earlier version stored, with other names for what are base predicates now. They
   * are stored with the next change. Empty if there are none.
   */
  #renamed: readonly (readonly [id: string, value: unknown])[] = [];
  /** Whether the leader has changed the rules since `#set` was made. */
  #isStale = false;
  /** The newest change, finished or not. */
  #last: Promise<unknown> = Promise.resolve();

  /** Throws `corrupt` when the stored rules are not a valid set. */
  constructor(documents: RuleDocuments) {
    this.#documents = documents;
    this.#set = this.#read();
    documents.watch(STORE, () => {
      this.#isStale = true;
    });
  }

  /**
   * Returns all stored rules, disabled ones included. The value is immutable; each change makes a
   * new one.
   */
  set(): RuleSet {
    if (this.#isStale) {
      this.#set = this.#read();
      this.#isStale = false;
    }
    return this.#set;
  }

  #read(): RuleSet {
    const entries = this.#documents.entries(STORE);
    const renamed = withRenamedHeads(entries);
    this.#renamed = renamed ?? [];
    return storedSet(renamed ?? entries);
  }

  /** Stores a change, together with the rules whose predicates were renamed. */
  async #change(id: string, value: unknown, attach: (() => unknown) | undefined): Promise<void> {
    const others = this.#renamed.filter(([other]) => other !== id);
    const changes = [...others, [id, value] as const].map((one) => ({ store: STORE, id: one[0], value: one[1] }));
    await this.#documents.change(changes, attach);
    this.#renamed = [];
  }

  /** Lists the rules in descending order of priority, then by id. */
  list(): RuleSummary[] {
    return this.set().rules.map(({ rule, body, head }) => {
      const { id, name, enabled, priority, version } = rule;
      return { id, name, enabled, priority, version, head: head.pred, body_size: body.length };
    });
  }

  /** Returns a stored rule. Throws `rule_not_found`. */
  get(id: string): StoredRule {
    return storedIn(this.set(), id);
  }

  /** Checks a rule together with all stored rules, without changing anything. */
  validate(value: unknown): Validation {
    const checked = this.#checked(value);
    if ('faults' in checked) return { ok: false, errors: fieldErrors(checked.faults), stratum: null };
    return { ok: true, errors: [], stratum: storedIn(checked.set, checked.parsed.rule.id).stratum };
  }

  /**
   * Adds or replaces a rule; resolves when it is durable. `attach` makes the answer that is stored
   * with the rule. Rejects with `invalid_rule`.
   */
  put(value: unknown, attach?: (stored: StoredRule) => unknown): Promise<StoredRule> {
    return this.#inTurn(async () => {
      const checked = this.#checked(value);
      if ('faults' in checked) throw invalidRule(checked.faults);
      const { parsed, set } = checked;
      const { id } = parsed.rule;
      const stored = storedIn(set, id);
      await this.#change(id, parsed.rule, attach && (() => attach(stored)));
      this.#set = set;
      return stored;
    });
  }

  /**
   * Removes a rule; resolves when the removal is durable. The other rules remain a valid set
   * without it. Rejects with `rule_not_found`.
   */
  delete(id: string, attach?: () => unknown): Promise<void> {
    return this.#inTurn(async () => {
      const { rule } = ruleOf(this.set(), id);
      const rest = ruleSetOf(this.set().rules.filter((other) => other.rule.id !== rule.id));
      if ('faults' in rest)
        throw new HedgerowError('internal', `Without ${rule.id} the rules are no longer a valid set.`);
      await this.#change(rule.id, null, attach);
      this.#set = rest.set;
    });
  }

  /** Returns the set as it would be with the rule, which gets its next version number. */
  #checked(value: unknown): { parsed: ParsedRule; set: RuleSet } | { faults: Fault[] } {
    const { parsed: read, faults } = readRule(value, BODY);
    if (read === undefined) return { faults };
    const { id } = read.rule;
    const before = this.set().rules.find(({ rule }) => rule.id === id);
    const parsed = { ...read, rule: { ...read.rule, version: (before?.rule.version ?? 0) + 1 } };
    // The new rule is last, so a conflict is reported at its place.
    const checked = ruleSetOf([...this.set().rules.filter((other) => other !== before), parsed]);
    if ('faults' in checked) return { faults: [...faults, ...checked.faults] };
    return faults.length > 0 ? { faults } : { parsed, set: checked.set };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

function storedSet(entries: readonly (readonly [id: string, value: unknown])[]): RuleSet {
  const rules = entries.map(([id, value]) => {
    const { parsed, faults } = readRule(value, ['rule']);
    if (parsed === undefined || faults.length > 0 || parsed.rule.id !== id)
      throw new HedgerowError('corrupt', `The stored rule ${shownId(id)} cannot be read. Restore a backup.`);
    return parsed;
  });
  const checked = ruleSetOf(rules);
  if ('set' in checked) return checked.set;
  throw new HedgerowError(
    'corrupt',
    `The stored rules are not a valid set: ${checked.faults[0]!.msg}. Restore a backup.`,
  );
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
