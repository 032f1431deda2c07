// Schemas of rules. They only describe the bodies; the rule parser checks these.

import { described, finite, integer, integerFrom, text, titled, v } from '../../http/schema.ts';

const value = described(
  v.union([v.number(), v.string(), v.boolean()]),
  'A text that begins with ? is a variable (?Name); anything else is a constant.',
);

const pred = () =>
  described(
    v.pipe(text(), v.regex(/^[a-z_][A-Za-z0-9_]{0,127}$/)),
    'Predicate. It has the same number of arguments in all rules.',
  );
const args = () => v.pipe(v.array(value), v.maxLength(16));
const atom = titled(v.object({ pred: pred(), args: args() }), 'RuleAtom');

const condition = titled(
  v.union([
    atom,
    described(v.object({ not: atom }), 'Holds if there is no such fact.'),
    described(
      v.object({ compare: v.tuple([value, v.picklist(['=', '==', '!=', '<', '<=', '>', '>=']), value]) }),
      'Compares two values; false if their types differ.',
    ),
  ]),
  'RuleCondition',
);

const id = () =>
  described(v.pipe(text(), v.regex(/^rule:[A-Za-z_][A-Za-z0-9_.-]{0,127}$/)), '`rule:`, followed by an identifier.');
const priority = () => described(integer(), 'Affects only the order of lists and tags, not the derived facts.');
const confidence = () =>
  described(
    v.pipe(finite(), v.minValue(0), v.maxValue(1)),
    'The confidence of a derived fact is this number times the least confidence of its premises.',
  );
const version = () => described(integerFrom(1), 'Increases by one with each update.');
const body = () => v.pipe(v.array(condition), v.minLength(1), v.maxLength(64));

/** A rule in a request; also used for rules sent with a question. */
export const ruleBody = titled(
  v.pipe(
    v.object({
      id: id(),
      name: v.optional(described(v.pipe(text(), v.maxLength(256)), 'Default: the identifier.')),
      enabled: v.optional(described(v.boolean(), 'Default true. A disabled rule is checked too.')),
      priority: v.optional(priority()),
      version: v.optional(described(integer(), 'Ignored: the service counts versions itself.')),
      if: described(body(), 'At least one positive atom; the positive atoms must bind every variable of the rule.'),
      then: v.object({ pred: pred(), args: args(), confidence: v.optional(confidence()) }),
    }),
    v.examples([
      {
        id: 'rule:close',
        if: [
          { pred: 'member', args: ['?E', '?A'] },
          { pred: 'member', args: ['?E', '?B'] },
          { pred: 'mean_dist', args: ['?E', '?D'] },
          { compare: ['?A', '<', '?B'] },
          { compare: ['?D', '<=', 10] },
        ],
        then: { pred: 'close', args: ['?A', '?B'], confidence: 0.9 },
      },
    ]),
  ),
  'RuleInput',
);

export const storedRule = titled(
  v.object({
    id: id(),
    name: v.string(),
    enabled: v.boolean(),
    priority: priority(),
    version: version(),
    if: body(),
    then: v.object({ pred: pred(), args: args(), confidence: confidence() }),
    stratum: described(
      integerFrom(0),
      'Strata are evaluated one after the other, so that a negation only tests complete predicates.',
    ),
  }),
  'Rule',
);

const ruleSummary = titled(
  v.object({
    id: id(),
    name: v.string(),
    enabled: v.boolean(),
    priority: priority(),
    version: version(),
    head: described(v.string(), 'The predicate that the rule derives.'),
    body_size: described(integerFrom(1), 'Number of conditions.'),
  }),
  'RuleSummary',
);

export const ruleList = v.object({ rules: described(v.array(ruleSummary), 'Higher priority first, then by id.') });

export const validation = v.object({
  ok: v.boolean(),
  errors: v.array(v.object({ loc: v.array(v.union([v.string(), v.number()])), msg: v.string() })),
  stratum: v.nullable(integerFrom(0)),
});

export const ruleParameters = v.object({ id: text() });

export const deletedRule = v.object({ id: v.string(), deleted: v.literal(true) });
