// Tests the store of rules: versions, strata, refusals, and rules that are stored as documents.

import { describe, expect, it } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { type RuleDocuments, RuleStore } from '../../src/rules/rule-store.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { ruleOf } from './rule-text.ts';

/** Documents in memory. Each change takes one event loop turn. */
class MemoryDocuments implements RuleDocuments {
  readonly stored = new Map<string, unknown>();
  changes = 0;
  /** While this is set, changes fail. */
  failure: Error | undefined;

  watch(): void {}

  entries(store: string): [id: string, value: unknown][] {
    return store === 'rules' ? structuredClone([...this.stored]) : [];
  }

  async change(changes: readonly { store: string; id: string; value: unknown }[]): Promise<number> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.failure !== undefined) throw this.failure;
    for (const { id, value } of changes) {
      if (value === null) this.stored.delete(id);
      else this.stored.set(id, structuredClone(value));
    }
    return ++this.changes;
  }
}

function storeOf(...texts: string[]) {
  const documents = new MemoryDocuments();
  const store = new RuleStore(documents);
  return { documents, store, put: Promise.all(texts.map((text) => store.put(ruleOf(text)))) };
}

async function refusalOf(work: () => unknown): Promise<HedgerowError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof HedgerowError) return error;
    throw error;
  }
  throw new Error('not refused');
}

const CLOSE = 'rule:close 0.9 priority=3: close(?A, ?B) :- member(?E, ?A), member(?E, ?B), ?A < ?B';

describe('putting a rule', () => {
  it('returns the stored rule with its stratum', async () => {
    const { store, documents } = storeOf();
    const stored = await store.put({ ...ruleOf('rule:a: p(?X) :- q(?X), not r(?X)'), version: 40, more: 1 });
    const rule = {
      id: 'rule:a',
      name: 'a',
      enabled: true,
      priority: 0,
      version: 1,
      if: [{ pred: 'q', args: ['?X'] }, { not: { pred: 'r', args: ['?X'] } }],
      then: { pred: 'p', args: ['?X'], confidence: 1 },
    };
    expect(stored).toEqual({ ...rule, stratum: 1 });
    expect(Object.keys(stored)).toEqual([...Object.keys(rule), 'stratum']);
    expect([...documents.stored]).toEqual([['rule:a', rule]]);
    expect(store.get('rule:a')).toEqual(stored);
  });

  it('counts versions, beginning at 1 again after a delete', async () => {
    const { store } = storeOf();
    const versions: number[] = [];
    for (let i = 0; i < 3; i++) versions.push((await store.put(ruleOf(CLOSE))).version);
    await store.delete('rule:close');
    versions.push((await store.put(ruleOf(CLOSE))).version);
    expect(versions).toEqual([1, 2, 3, 1]);
  });

  it('replaces every field of an existing rule', async () => {
    const { store, put } = storeOf('rule:a 0.5 priority=4 disabled: p(?X) :- q(?X), r(?X)');
    await put;
    const stored = await store.put(ruleOf('rule:a: s(?X) :- q(?X)'));
    expect(stored).toMatchObject({ enabled: true, priority: 0, version: 2, then: { pred: 's', confidence: 1 } });
    expect(store.list().map(({ head, body_size }) => [head, body_size])).toEqual([['s', 1]]);
  });

  it('raises the strata of other rules', async () => {
    const { store, put } = storeOf('rule:a: p(?X) :- q(?X)', 'rule:b: r(?X) :- p(?X)');
    await put;
    expect([store.get('rule:b').stratum, store.set().strataCount]).toEqual([0, 1]);
    await store.put(ruleOf('rule:c: p(?X) :- q(?X), not s(?X)'));
    expect([store.get('rule:b').stratum, store.set().strataCount]).toEqual([1, 2]);
    await store.delete('rule:c');
    expect([store.get('rule:b').stratum, store.set().strataCount]).toEqual([0, 1]);
  });

  it('is refused for faults in the rule and for conflicts with others, and nothing is written', async () => {
    const { store, documents, put } = storeOf('rule:a: p(?X) :- q(?X), not r(?X)');
    await put;
    const before = documents.changes;
    const errors = [
      await refusalOf(() => store.put('rule:a')),
      await refusalOf(() => store.put({ ...ruleOf('rule:b: s(?X) :- q(?X)'), if: [] })),
      await refusalOf(() => store.put(ruleOf('rule:b: s(?Y) :- q(?X)'))),
      await refusalOf(() => store.put(ruleOf('rule:b: s(?X) :- q(?X, ?X)'))),
      await refusalOf(() => store.put(ruleOf('rule:b: r(?X) :- p(?X)'))),
    ];
    expect(errors.map(({ code, message }) => `${code} ${message}`)).toEqual([
      'invalid_rule The rule must be a JSON object: a rule, not "rule:a".',
      'invalid_rule if must be an array of 1 to 64 conditions; it has 0.',
      'invalid_rule rule:b: variable ?Y of the head is bound by no positive atom of the body.',
      'invalid_rule rule:b: q has 2 arguments here and 1 in rule:a.',
      'invalid_rule The rules cannot be stratified: p -> not r -> p (rule:a, rule:b).',
    ]);
    expect(errors.at(-1)!.errors).toEqual([
      { loc: ['body', 'if'], msg: 'The rules cannot be stratified: p -> not r -> p (rule:a, rule:b)' },
    ]);
    expect([documents.changes, store.list().length]).toEqual([before, 1]);
  });

  it('checks the rule against the set without the rule that it replaces', async () => {
    const { store, put } = storeOf('rule:a: p(?X) :- q(?X), not r(?X)', 'rule:b: r(?X) :- q(?X)');
    await put;
    await store.put(ruleOf('rule:a: p(?X, ?X) :- q(?X)'));
    expect((await store.put(ruleOf('rule:b: r(?X) :- p(?X, ?Y)'))).version).toBe(2);
  });

  it('checks a disabled rule too', async () => {
    const { store, put } = storeOf('rule:a disabled: p(?X) :- q(?X), not r(?X)');
    await put;
    const error = await refusalOf(() => store.put(ruleOf('rule:b disabled: r(?X) :- p(?X)')));
    expect(error.message).toContain('p -> not r -> p (rule:a, rule:b)');
  });

  it('waits for earlier calls, so that only the first of two conflicting rules is stored', async () => {
    const { store } = storeOf();
    const [first, second, third] = await Promise.allSettled([
      store.put(ruleOf('rule:a: p(?X) :- q(?X), not r(?X)')),
      store.put(ruleOf('rule:b: r(?X) :- p(?X)')),
      store.put(ruleOf('rule:a: p(?X) :- q(?X)')),
    ]);
    expect([first.status, second.status, third.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(store.list().map(({ id, version }) => [id, version])).toEqual([['rule:a', 2]]);
  });

  it('changes nothing if it cannot be made durable', async () => {
    const { store, documents, put } = storeOf('rule:a: p(?X) :- q(?X)');
    await put;
    const set = store.set();
    documents.failure = new Error('no disk');
    await expect(store.put(ruleOf('rule:b: r(?X) :- q(?X)'))).rejects.toThrow('no disk');
    await expect(store.delete('rule:a')).rejects.toThrow('no disk');
    expect(store.set()).toBe(set);
    documents.failure = undefined;
    expect((await store.put(ruleOf('rule:a: p(?X) :- q(?X)'))).version).toBe(2);
  });

  it('becomes visible only when it is durable', async () => {
    const { store } = storeOf();
    const storing = store.put(ruleOf('rule:a: p(?X) :- q(?X)'));
    await Promise.resolve();
    expect(store.list()).toEqual([]);
    await storing;
    expect(store.list().length).toBe(1);
  });

  it('allows up to 1,000 rules, of which one can still be replaced', async () => {
    const documents = new MemoryDocuments();
    const full = { ...ruleOf('rule:a: p(?X) :- q(?X)'), name: 'n', enabled: true, priority: 0, version: 1 };
    for (let i = 0; i < 1000; i++) documents.stored.set(`rule:r${i}`, { ...full, id: `rule:r${i}` });
    const store = new RuleStore(documents);
    expect((await refusalOf(() => store.put(full))).message).toBe(
      'rule:a: a set holds at most 1000 rules; delete or join some.',
    );
    expect((await store.put({ ...full, id: 'rule:r7' })).version).toBe(2);
  });
});

describe('listing rules', () => {
  it('returns summaries ordered by priority, then by id', async () => {
    const { store, put } = storeOf(
      'rule:b: p(?X) :- q(?X)',
      CLOSE,
      'rule:a disabled: s(?X) :- q(?X), not p(?X)',
      'rule:z priority=-1: p(?X) :- q(?X)',
    );
    expect(store.list()).toEqual([]);
    await put;
    const rest = { enabled: true, priority: 0, version: 1 };
    expect(store.list()).toEqual([
      { id: 'rule:close', name: 'close', ...rest, priority: 3, head: 'close', body_size: 3 },
      { id: 'rule:a', name: 'a', ...rest, enabled: false, head: 's', body_size: 2 },
      { id: 'rule:b', name: 'b', ...rest, head: 'p', body_size: 1 },
      { id: 'rule:z', name: 'z', ...rest, priority: -1, head: 'p', body_size: 1 },
    ]);
    expect(Object.keys(store.list()[0]!)).toEqual([
      'id',
      'name',
      'enabled',
      'priority',
      'version',
      'head',
      'body_size',
    ]);
  });
});

describe('getting and deleting a rule', () => {
  it.each([
    ['rule:clsoe', ' Did you mean rule:close?'],
    ['close', ' Did you mean rule:close?'],
    ['rule:other', ''],
    ['', ''],
    ['__proto__', ''],
  ])('report that %j does not exist', async (id, hint) => {
    const { store, put } = storeOf(CLOSE);
    await put;
    const sentence = `There is no rule ${JSON.stringify(id)}.${hint}`;
    for (const work of [() => store.get(id), () => store.delete(id)]) {
      const { code, message } = await refusalOf(work);
      expect([code, message]).toEqual(['rule_not_found', sentence]);
    }
  });

  it('report a long id in a shortened form', async () => {
    const { message } = await refusalOf(() => storeOf().store.get('x'.repeat(10_000)));
    expect(message.length).toBeLessThan(220);
  });

  it('delete a rule even if others depend on it', async () => {
    const { store, documents, put } = storeOf('rule:a: p(?X) :- q(?X)', 'rule:b: r(?X) :- p(?X), not s(?X)');
    await put;
    await store.delete('rule:a');
    expect(store.list().map(({ id }) => id)).toEqual(['rule:b']);
    expect([...documents.stored.keys()]).toEqual(['rule:b']);
    expect((await refusalOf(() => store.delete('rule:a'))).code).toBe('rule_not_found');
  });
});

describe('validating a rule', () => {
  it('returns its stratum among the stored rules, and writes nothing', async () => {
    const { store, documents, put } = storeOf('rule:a: p(?X) :- q(?X), not s(?X)');
    await put;
    const before = documents.changes;
    const set = store.set();
    expect(store.validate(ruleOf('rule:b: r(?X) :- q(?X), not p(?X)'))).toEqual({ ok: true, errors: [], stratum: 2 });
    expect(store.validate(ruleOf('rule:a: p(?X) :- q(?X)'))).toEqual({ ok: true, errors: [], stratum: 0 });
    expect([documents.changes, store.set()]).toEqual([before, set]);
  });

  it('reports all faults: those in fields, then in safety, then in the set', async () => {
    const { store, put } = storeOf('rule:a: p(?X) :- q(?X), not r(?X)');
    await put;
    const rule = { ...ruleOf('rule:b 0.5: r(?X, ?Y) :- p(?X), q(?X, ?X), not t(?Z)'), enabled: 1, priority: 0.5 };
    expect(store.validate(rule)).toEqual({
      ok: false,
      errors: [
        { loc: ['body', 'enabled'], msg: 'must be true or false, not 1' },
        { loc: ['body', 'priority'], msg: 'must be an integer of at most 9007199254740991, not 0.5' },
        {
          loc: ['body', 'then', 'args', 1],
          msg: 'rule:b: variable ?Y of the head is bound by no positive atom of the body',
        },
        {
          loc: ['body', 'if', 2, 'not', 'args', 0],
          msg: 'rule:b: variable ?Z of the negation not t is bound by no positive atom of the body',
        },
        { loc: ['body', 'then', 'args'], msg: 'rule:b: r has 2 arguments here and 1 in rule:a' },
        { loc: ['body', 'if', 1, 'args'], msg: 'rule:b: q has 2 arguments here and 1 in rule:a' },
        { loc: ['body', 'if'], msg: 'The rules cannot be stratified: p -> not r -> p (rule:a, rule:b)' },
      ],
      stratum: null,
    });
  });

  it.each([[null], [[]], ['rule'], [{}], [5]])('reports errors for %j', (value) => {
    const { ok, errors, stratum } = storeOf().store.validate(value);
    expect([ok, errors.length > 0, stratum]).toEqual([false, true, null]);
    expect(errors.every(({ loc }) => loc[0] === 'body')).toBe(true);
  });
});

describe('a stored rule', () => {
  it('is there after a restart, from the log and from a checkpoint', async () => {
    const fs = simDisk();
    let database = await openSim(fs);
    const store = new RuleStore(database.documents);
    await store.put(ruleOf(CLOSE));
    await store.put(ruleOf('rule:far: far(?A) :- member(?E, ?A), not close(?A, ?A), ?E != "ﬀ"'));
    await store.put(ruleOf(CLOSE));
    await store.put(ruleOf('rule:gone: gone(?X) :- hyperedge(?X)'));
    await store.delete('rule:gone');
    const rules = store.set().rules;
    for (const checkpoint of [false, true]) {
      if (checkpoint) {
        await database.table().insert({ event_ts: 1, members: [1] });
        await database.compact();
      }
      await database.close();
      database = await openSim(fs);
      const again = new RuleStore(database.documents);
      expect(again.list()).toEqual(store.list());
      expect(again.get('rule:far')).toEqual(store.get('rule:far'));
      expect(again.get('rule:close').version).toBe(2);
      expect(
        again.set().rules.map(({ body, head, confidence, stratum }) => ({ body, head, confidence, stratum })),
      ).toEqual(rules.map(({ body, head, confidence, stratum }) => ({ body, head, confidence, stratum })));
    }
    await database.close();
  });

  const WHOLE = {
    id: 'rule:a',
    name: 'a',
    enabled: true,
    priority: 0,
    version: 3,
    if: [{ pred: 'q', args: ['?X'] }],
    then: { pred: 'p', args: ['?X'], confidence: 1 },
  };

  it.each<[string, Record<string, unknown>, string]>([
    ['is not an object', { 'rule:a': 'x' }, 'The stored rule "rule:a" cannot be read. Restore a backup.'],
    [
      'lacks its head',
      { 'rule:a': { ...WHOLE, then: undefined } },
      'The stored rule "rule:a" cannot be read. Restore a backup.',
    ],
    ['has another id', { 'rule:b': WHOLE }, 'The stored rule "rule:b" cannot be read. Restore a backup.'],
    [
      'is unsafe',
      { 'rule:a': { ...WHOLE, then: { pred: 'p', args: ['?Y'], confidence: 1 } } },
      'The stored rules are not a valid set: rule:a: variable ?Y of the head is bound by no positive atom of the body. Restore a backup.',
    ],
    [
      'closes a cycle',
      {
        'rule:a': { ...WHOLE, if: [{ pred: 'q', args: ['?X'] }, { not: { pred: 'r', args: ['?X'] } }] },
        'rule:b': { ...WHOLE, id: 'rule:b', if: [{ pred: 'p', args: ['?X'] }], then: { ...WHOLE.then, pred: 'r' } },
      },
      'The stored rules are not a valid set: The rules cannot be stratified: p -> not r -> p (rule:a, rule:b). Restore a backup.',
    ],
  ])('is reported as corrupt if it %s', async (_, stored, sentence) => {
    const documents = new MemoryDocuments();
    for (const [id, value] of Object.entries(stored)) documents.stored.set(id, value);
    const { code, message } = await refusalOf(() => new RuleStore(documents));
    expect([code, message]).toEqual(['corrupt', sentence]);
  });

  it('keeps its version, and documents in other stores are ignored', () => {
    const documents = new MemoryDocuments();
    documents.stored.set('rule:a', WHOLE);
    expect(new RuleStore(documents).get('rule:a')).toEqual({ ...WHOLE, stratum: 0 });
    expect(
      new RuleStore({
        entries: (store) => (store === 'rules' ? [] : [['x', 1]]),
        watch: () => undefined,
        change: async () => 1,
      }).list(),
    ).toEqual([]);
  });
});

describe('rules of an earlier version', () => {
  it('whose heads are base predicates now have another name for them, which the next change stores', async () => {
    const documents = new MemoryDocuments();
    const old = [
      'rule:a: role(?A, ?B, ?C) :- member(?E, ?A), member(?E, ?B), weight(?E, ?C)',
      'rule:b: node(?A, ?B) :- role(?A, ?B, ?C), not derived_role(?A, ?B)',
      'rule:c: derived_role(?A, ?B) :- member(?E, ?A), member(?E, ?B)',
      'rule:d: node(?A) :- node(?A, ?B)',
    ];
    for (const text of old) {
      const rule = { enabled: true, priority: 0, version: 1, confidence: 1, ...ruleOf(text) };
      documents.stored.set(rule.id as string, rule);
    }
    const heads = (store: RuleStore) => store.list().map(({ id, head }) => [id, head]);
    const expected = [
      ['rule:a', 'derived_role_'],
      ['rule:b', 'derived_node'],
      ['rule:c', 'derived_role'],
      ['rule:d', 'node'],
    ];
    const store = new RuleStore(documents);
    expect(heads(store)).toEqual(expected);
    expect(store.get('rule:b').if).toMatchObject([{ pred: 'derived_role_' }, { not: { pred: 'derived_role' } }]);
    expect(store.get('rule:d').if).toMatchObject([{ pred: 'derived_node' }]);
    await store.put(ruleOf('rule:e: reader(?A) :- role(?E, ?A, "reader")'));
    const again = new RuleStore(documents);
    expect(heads(again)).toEqual([...expected, ['rule:e', 'reader']]);
    expect(again.get('rule:e').if).toMatchObject([{ pred: 'role' }]);
    await again.delete('rule:d');
    expect(heads(new RuleStore(documents))).toEqual([...expected.slice(0, 3), ['rule:e', 'reader']]);
  });
});
