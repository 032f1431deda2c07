// Tests the parser of rules: defaults, limits, and a message for every fault.

import { describe, expect, it } from 'vitest';
import { v } from '../../src/http/schema.ts';
import { ruleBody } from '../../src/routes/schemas/rules.ts';
import { parseRule } from '../../src/rules/parse-rule.ts';
import type { ParsedRule } from '../../src/rules/rule.ts';
import { fc } from '../support/property.ts';

const ATOM = { pred: 'q', args: ['?X'] };
const RULE = { id: 'rule:a', if: [ATOM], then: { pred: 'p', args: ['?X'] } };

function parsedOf(value: unknown): ParsedRule {
  const outcome = parseRule(value, ['body']);
  if ('errors' in outcome) throw new Error(JSON.stringify(outcome.errors));
  return outcome.parsed;
}

/** Returns the place and the message of every error, such as `if.0.args must be ...`. */
function errorsOf(value: unknown): string[] {
  const outcome = parseRule(value, ['body']);
  if ('parsed' in outcome) return [];
  return outcome.errors.map(({ loc, msg }) => `${loc.slice(1).join('.')} ${msg}`.trim());
}

function withCondition(condition: unknown): unknown {
  return { ...RULE, if: [ATOM, condition] };
}

describe('a parsed rule', () => {
  it('has its defaults', () => {
    expect(parsedOf(RULE).rule).toEqual({
      id: 'rule:a',
      name: 'a',
      enabled: true,
      priority: 0,
      version: 1,
      if: [{ pred: 'q', args: ['?X'] }],
      then: { pred: 'p', args: ['?X'], confidence: 1 },
    });
  });

  it('is the same for a null field as for an absent one', () => {
    const bare = { ...RULE, name: null, enabled: null, priority: null, version: null };
    expect(parsedOf({ ...bare, then: { ...RULE.then, confidence: null } }).rule).toEqual(parsedOf(RULE).rule);
    const condition = { pred: 'q', args: ['?X'], not: null, compare: null };
    expect(parsedOf({ ...RULE, if: [condition] }).rule).toEqual(parsedOf(RULE).rule);
  });

  it('has no unknown fields, which are ignored', () => {
    const more = { ...RULE, stratum: 4, note: 'x', if: [{ ...ATOM, weight: 3 }], then: { ...RULE.then, more: [] } };
    expect(parsedOf(more).rule).toEqual(parsedOf(RULE).rule);
  });

  it('has every given field', () => {
    const given = {
      id: 'rule:B.2-x_y',
      name: 'Two met',
      enabled: false,
      priority: -7,
      version: 12,
      if: [ATOM, { not: { pred: 'r', args: [1, 'text', true] } }, { compare: ['?X', '=', 2.5] }],
      then: { pred: 'p', args: ['?X', 'seen'], confidence: 0.25 },
    };
    expect(parsedOf(given).rule).toEqual(given);
  });

  it('has its terms parsed', () => {
    const conditions = [ATOM, { not: { pred: 'r', args: ['?_x1', -0] } }, { compare: ['?X', '=', 'a'] }];
    const { body, head, confidence, loc } = parsedOf({ ...RULE, if: conditions });
    expect(body).toEqual([
      { kind: 'atom', atom: { pred: 'q', args: [{ variable: 'X' }] } },
      { kind: 'not', atom: { pred: 'r', args: [{ variable: '_x1' }, { constant: 0 }] } },
      { kind: 'compare', left: { variable: 'X' }, op: '==', right: { constant: 'a' } },
    ]);
    expect(head).toEqual({ pred: 'p', args: [{ variable: 'X' }] });
    expect(confidence).toBe(1);
    expect(loc).toEqual(['body']);
  });

  it('never contains -0', () => {
    const rule = {
      ...RULE,
      priority: -0,
      if: [ATOM, { compare: ['?X', '<', -0] }],
      then: { ...RULE.then, confidence: -0 },
    };
    const { rule: read, body } = parsedOf(rule);
    expect(Object.is(read.priority, 0) && Object.is(read.then.confidence, 0)).toBe(true);
    expect(body[1]).toMatchObject({ right: { constant: 0 } });
    expect(read.if[1]).toEqual({ compare: ['?X', '<', 0] });
  });

  it.each(['=', '==', '!=', '<', '<=', '>', '>='])('may have the operator %s', (op) => {
    const { rule, body } = parsedOf(withCondition({ compare: ['?X', op, '?X'] }));
    expect(rule.if[1]).toEqual({ compare: ['?X', op, '?X'] });
    expect(body[1]).toMatchObject({ op: op === '=' ? '==' : op });
  });

  it('may reach every limit', () => {
    const wide = { pred: 'q', args: Array.from({ length: 16 }, (_, index) => `?X${index}`) };
    const name = 'n'.repeat(128);
    const rule = {
      id: `rule:${name}`,
      name: 'x'.repeat(256),
      priority: Number.MIN_SAFE_INTEGER,
      if: Array.from({ length: 64 }, () => wide),
      then: { pred: name, args: [`?${'X'.repeat(128)}`, 'é'.repeat(32 * 1024), 1e308] },
    };
    expect(errorsOf(rule)).toEqual([]);
  });
});

describe('a wrong rule', () => {
  it.each([
    [3, 'must be a JSON object: a rule, not 3'],
    [null, 'must be a JSON object: a rule, not null'],
    ['rule:a', 'must be a JSON object: a rule, not "rule:a"'],
    [[RULE], 'must be a JSON object: a rule, not an array'],
  ])('is refused if it is not an object: %j', (value, message) => {
    expect(errorsOf(value)).toEqual([message]);
  });

  const ID = 'id must be rule: and a name of 1 to 128 letters, digits, _ . or -, the first a letter or _; it is';
  it.each([
    ['rule:', `${ID} "rule:"`],
    ['rule:1a', `${ID} "rule:1a"`],
    ['rule:a b', `${ID} "rule:a b"`],
    ['rule:é', `${ID} "rule:é"`],
    ['rule:a\n', `${ID} "rule:a\\n"`],
    ['Rule:a', `${ID} "Rule:a"`],
    ['a', `${ID} "a". Did you mean rule:a?`],
    [`rule:${'n'.repeat(129)}`, `${ID} "rule:${'n'.repeat(55)}..."`],
    [7, `${ID} 7`],
    [undefined, 'id is missing: an id like rule:close'],
    [null, 'id is missing: an id like rule:close'],
  ])('is refused because $1', (id, message) => {
    expect(errorsOf({ ...RULE, id })).toEqual([message]);
  });

  it.each([
    [{ name: 3 }, 'name must be a text of at most 256 characters; it is 3'],
    [{ name: 'x'.repeat(257) }, 'name must be a text of at most 256 characters; it has 257'],
    [{ name: 'a\ud800' }, 'name is not valid text: it contains half of a surrogate pair'],
    [{ enabled: 'yes' }, 'enabled must be true or false, not "yes"'],
    [{ enabled: 0 }, 'enabled must be true or false, not 0'],
    [{ priority: 1.5 }, 'priority must be an integer of at most 9007199254740991, not 1.5'],
    [{ priority: 2 ** 53 }, 'priority must be an integer of at most 9007199254740991, not 9007199254740992'],
    [{ priority: '1' }, 'priority must be an integer of at most 9007199254740991, not "1"'],
    [{ version: 'new' }, 'version must be an integer of at most 9007199254740991, not "new"'],
    [{ if: undefined }, 'if is missing: an array of 1 to 64 conditions'],
    [{ if: [] }, 'if must be an array of 1 to 64 conditions; it has 0'],
    [{ if: Array(65).fill(ATOM) }, 'if must be an array of 1 to 64 conditions; it has 65'],
    [{ if: ATOM }, 'if must be an array of 1 to 64 conditions; it is an object'],
    [{ then: null }, 'then is missing: an object {pred, args, confidence}'],
    [{ then: 'p' }, 'then must be a JSON object: the head {pred, args, confidence}, not "p"'],
    [{ then: { pred: 'p' } }, 'then.args is missing: an array of 0 to 16 variables and constants'],
    [{ then: { args: ['?X'] } }, 'then.pred is missing: a predicate name'],
    [{ then: { ...RULE.then, confidence: 1.1 } }, 'then.confidence must be a number from 0 to 1, not 1.1'],
    [{ then: { ...RULE.then, confidence: -0.1 } }, 'then.confidence must be a number from 0 to 1, not -0.1'],
    [{ then: { ...RULE.then, confidence: '1' } }, 'then.confidence must be a number from 0 to 1, not "1"'],
  ])('is refused since $1', (change, message) => {
    expect(errorsOf({ ...RULE, ...change })).toEqual([message]);
  });

  it('is refused if a field is missing, and a misspelled field is suggested', () => {
    expect(errorsOf({ ...RULE, if: undefined, iff: [] })).toEqual([
      'if is missing: an array of 1 to 64 conditions; is "iff" a misspelling of it?',
    ]);
    const { then: head, ...rest } = RULE;
    expect(errorsOf({ ...rest, than: head })).toEqual([
      'then is missing: an object {pred, args, confidence}; is "than" a misspelling of it?',
    ]);
  });
});

describe('a rule with a wrong condition', () => {
  const FORMS = 'an atom {pred, args}, a negation {not: {pred, args}} or a guard {compare: [left, op, right]}';
  const PRED = 'must be a predicate name: a small letter or _ and then letters, digits and _, at most 128; it is';
  const TERM = 'must be a variable like ?X, a text, a finite number, true or false, not';
  const VARIABLE =
    'begins with ? and must be a variable then: ? and a letter or _, then letters, digits and _, at most 128; it is';

  it.each<[unknown, string]>([
    ['q', `must be a JSON object: ${FORMS}, not "q"`],
    [[], `must be a JSON object: ${FORMS}, not an array`],
    [{}, `must be exactly one of ${FORMS}; it has none of pred, not and compare`],
    [
      { perd: 'q', arsg: [] },
      `must be exactly one of ${FORMS}; it has none of pred, not and compare (is "perd" a misspelling of pred?)`,
    ],
    [{ ...ATOM, not: ATOM }, `must be exactly one of ${FORMS}; it has pred and not at once`],
    [{ not: ATOM, compare: [1, '=', 1] }, `must be exactly one of ${FORMS}; it has not and compare at once`],
    [{ args: [], compare: [1, '=', 1] }, `must be exactly one of ${FORMS}; it has args and compare at once`],
    [{ pred: 'Q', args: [] }, `.pred ${PRED} "Q"`],
    [{ pred: '', args: [] }, `.pred ${PRED} ""`],
    [{ pred: 'q-r', args: [] }, `.pred ${PRED} "q-r"`],
    [{ pred: '?P', args: [] }, `.pred ${PRED} "?P"`],
    [{ pred: 5, args: [] }, `.pred ${PRED} 5`],
    [{ pred: 'q' }, '.args is missing: an array of 0 to 16 variables and constants'],
    [
      { pred: 'q', arg: ['?X'] },
      '.args is missing: an array of 0 to 16 variables and constants; is "arg" a misspelling of it?',
    ],
    [{ pred: 'q', args: '?X' }, '.args must be an array of 0 to 16 variables and constants; it is "?X"'],
    [{ pred: 'q', args: Array(17).fill(1) }, '.args must be an array of 0 to 16 variables and constants; it has 17'],
    [{ pred: 'q', args: [null] }, `.args.0 ${TERM} null`],
    [{ pred: 'q', args: ['?X', ['?Y']] }, `.args.1 ${TERM} an array`],
    [{ pred: 'q', args: [{}] }, `.args.0 ${TERM} an object`],
    [{ pred: 'q', args: [Number.POSITIVE_INFINITY] }, `.args.0 ${TERM} Infinity`],
    [{ pred: 'q', args: ['?'] }, `.args.0 ${VARIABLE} "?"`],
    [{ pred: 'q', args: ['?1'] }, `.args.0 ${VARIABLE} "?1"`],
    [{ pred: 'q', args: ['?X Y'] }, `.args.0 ${VARIABLE} "?X Y"`],
    [{ pred: 'q', args: ['?X\n'] }, `.args.0 ${VARIABLE} "?X\\n"`],
    [{ pred: 'q', args: ['??X'] }, `.args.0 ${VARIABLE} "??X"`],
    [{ pred: 'q', args: ['x'.repeat(65_537)] }, '.args.0 must be a text of at most 65536 bytes'],
    [{ pred: 'q', args: ['é'.repeat(32_769)] }, '.args.0 must be a text of at most 65536 bytes'],
    [{ pred: 'q', args: ['\udc00'] }, '.args.0 is not valid text: it contains half of a surrogate pair'],
    [{ not: 'q' }, '.not must be a JSON object: the atom {pred, args} that must not hold, not "q"'],
    [{ not: { not: ATOM } }, '.not must be one atom {pred, args}'],
    [{ not: { ...ATOM, compare: [1, '=', 1] } }, '.not must be one atom {pred, args}'],
    [
      { not: { compare: ['?X', '=', 1] } },
      '.not must be one atom {pred, args}; write the guard with the opposite operator',
    ],
    [{ not: { pred: 'Q', args: [] } }, `.not.pred ${PRED} "Q"`],
    [{ compare: '?X = 1' }, '.compare must be an array of three: left, operator, right; it is "?X = 1"'],
    [{ compare: ['?X', '='] }, '.compare must be an array of three: left, operator, right; it has 2 items'],
    [{ compare: ['?X', '~', 1] }, '.compare.1 must be one of = == != < <= > >=, not "~"'],
    [{ compare: ['?X', '=<', 1] }, '.compare.1 must be one of = == != < <= > >=, not "=<"; did you mean <=?'],
    [{ compare: ['?X', '<>', 1] }, '.compare.1 must be one of = == != < <= > >=, not "<>"; did you mean !=?'],
    [{ compare: ['?X', ['='], 1] }, '.compare.1 must be one of = == != < <= > >=, not an array'],
    [{ compare: ['?X', '=', null] }, `.compare.2 ${TERM} null`],
    [{ compare: ['?', '=', 1] }, `.compare.0 ${VARIABLE} "?"`],
  ])('is refused: $1', (condition, message) => {
    const place = message.startsWith('.') ? 'if.1' : 'if.1 ';
    expect(errorsOf(withCondition(condition))).toEqual([`${place}${message}`]);
  });
});

describe('the faults of a rule', () => {
  it('are all reported at once, in the order of the fields', () => {
    const rule = {
      id: 'a b',
      name: 1,
      enabled: 2,
      priority: 'x',
      version: [],
      if: [{ pred: 'Q', args: [null, '?'] }, { compare: [{}, '~', '?'] }, 5],
      then: { pred: 'P', args: 3, confidence: 2 },
    };
    const places = errorsOf(rule).map((error) => error.slice(0, error.indexOf(' ')));
    expect(places).toEqual([
      'id',
      'name',
      'enabled',
      'priority',
      'version',
      'if.0.pred',
      'if.0.args.0',
      'if.0.args.1',
      'if.1.compare.0',
      'if.1.compare.1',
      'if.1.compare.2',
      'if.2',
      'then.pred',
      'then.args',
      'then.confidence',
    ]);
  });

  it('are reported as one if the rule is too large', () => {
    const large = (length: number) => ({ pred: 'q', args: ['?X', 'x'.repeat(length)] });
    const four = [large(65_536), large(65_536), large(65_536), { compare: ['?X', '=', 'x'.repeat(65_535)] }];
    const head = { pred: 'p', args: ['y'] };
    expect(errorsOf({ ...RULE, if: four, then: head })).toEqual([]);
    expect(errorsOf({ ...RULE, if: [...four, large(1)], then: head })).toEqual([
      'must not hold more than 262144 characters of text',
    ]);
  });
});

describe('any JSON as a rule', () => {
  /** Returns a generator (an arbitrary of fast-check) whose values are mostly valid. */
  const mostly = <T>(right: fc.Arbitrary<T>, ...wrong: unknown[]) =>
    fc.oneof<fc.MaybeWeightedArbitrary<unknown>[]>(
      { weight: 20, arbitrary: right },
      { weight: 1, arbitrary: fc.oneof(fc.jsonValue({ maxDepth: 2 }), ...wrong.map((value) => fc.constant(value))) },
    );
  const term = mostly(fc.constantFrom<unknown>('?X', '?Y', 1, 'a', true), '?', {}, Number.POSITIVE_INFINITY);
  const atom = fc.record({
    pred: mostly(fc.constantFrom('q', 'r'), 'Q'),
    args: mostly(fc.array(term, { maxLength: 3 })),
  });
  const op = mostly(fc.constantFrom('=', '==', '!=', '<', '<=', '>', '>='), '~');
  const condition = mostly(fc.oneof(atom, fc.record({ not: atom }), fc.record({ compare: fc.tuple(term, op, term) })), {
    not: { compare: [1, '=', 1] },
  });
  const rule = mostly(
    fc.record(
      {
        id: mostly(fc.constantFrom('rule:a', 'rule:b'), 'a'),
        name: mostly(fc.string()),
        enabled: mostly(fc.boolean()),
        priority: mostly(fc.integer(), 1.5),
        if: mostly(fc.array(condition, { minLength: 1, maxLength: 4 }), []),
        then: mostly(atom),
      },
      { requiredKeys: ['id', 'if', 'then'] },
    ),
  );

  it('is parsed, or refused with the places of its faults; parsing a parsed rule again gives the same result', () => {
    let read = 0;
    fc.assert(
      fc.property(rule, (value) => {
        const outcome = parseRule(value, ['body']);
        if ('parsed' in outcome) {
          read++;
          expect(parsedOf(JSON.parse(JSON.stringify(outcome.parsed.rule)))).toEqual(outcome.parsed);
          return;
        }
        expect(outcome.errors.length).toBeGreaterThan(0);
        for (const { loc, msg } of outcome.errors) expect([loc[0], msg.length > 5]).toEqual(['body', true]);
      }),
      { seed: 6, numRuns: 3000 },
    );
    expect(read).toBeGreaterThan(100);
  });

  it('is accepted exactly when its description in the API accepts it', () => {
    // A null field means the same as an absent one, which the descriptions do not express.
    const withoutNull = rule.filter((value) => !JSON.stringify(value).includes('null'));
    let taken = 0;
    fc.assert(
      fc.property(withoutNull, (value) => {
        const isTaken = 'parsed' in parseRule(value, ['body']);
        if (isTaken) taken++;
        const described = v.safeParse(ruleBody, value).success;
        // The descriptions do not use a regular expression for "variable or constant", because it
        // would not help a reader. So they accept some texts that the parser refuses.
        if (/"\?"/.test(JSON.stringify(value))) expect(isTaken && !described).toBe(false);
        else expect([JSON.stringify(value), described]).toEqual([JSON.stringify(value), isTaken]);
      }),
      { seed: 7, numRuns: 3000 },
    );
    expect(taken).toBeGreaterThan(100);
  });
});
