// Fuzz targets that parse: statements, queries on virtual graphs, specs of virtual graphs, and
// rules.

import { readStatement } from '../../src/query/parser/parser.ts';
import { readRuleSet } from '../../src/rules/rule-set.ts';
import { parseQuery } from '../../src/virtual/language/parser.ts';
import { checkedSpec } from '../../src/virtual/spec/spec.ts';
import { type GoldenCase, goldenNames, readGolden } from '../query/golden-file.ts';
import { QUERIES, QUERY_WORDS, RULES, SPECS } from './corpus/texts.ts';
import type { Target } from './fuzz-loop.ts';
import { mutateJson, mutateText } from './support/mutate-text.ts';

const STATEMENT_WORDS = (
  '( ) [ ] , . : ; = <> < > + - * / % $p $list \' " ` // /* */ MATCH HYPEREDGE MEMBERS WHERE RETURN DISTINCT ORDER BY ASC DESC SKIP OFFSET LIMIT AND OR NOT IN ' +
  'BETWEEN IS NULL CONTAINS STARTS WITH ENDS AS true false null count sum avg size bucket shared overlaps follows INSERT INTO VALUES UPDATE SET DELETE FROM CREATE DROP ' +
  'TABLE IF EXISTS PROPERTIES BUCKET_SECONDS COMPACT_THRESHOLD ALTER ADD COLUMN DEFAULT RENAME TO INDEX ON SHOW COMPACT TTL BEGIN COMMIT ROLLBACK COPY EXPLAIN ANALYZE'
).split(' ');

function goldenStatements(): string[] {
  return goldenNames().flatMap((name) =>
    readGolden(name)
      .parts.filter((part): part is GoldenCase => typeof part !== 'string')
      .map((one) => one.text)
      .filter((text): text is string => typeof text === 'string'),
  );
}

function textTarget(
  name: string,
  share: number,
  seeds: readonly string[],
  words: readonly string[],
  parse: (text: string) => unknown,
): Target<string> {
  return {
    name,
    share,
    seeds,
    guided: true,
    mutate: (random, source, corpus) => mutateText(random, source, words, corpus),
    run: (text) => parse(text) !== undefined,
    show: (text) => JSON.stringify(text),
  };
}

function jsonTarget(
  name: string,
  share: number,
  seeds: readonly unknown[],
  parse: (value: unknown) => unknown,
): Target<unknown> {
  return {
    name,
    share,
    seeds,
    guided: true,
    mutate: (random, source, corpus) => mutateJson(random, source, corpus),
    run: (value) => parse(value) !== undefined,
    show: (value) => JSON.stringify(value) ?? 'undefined',
  };
}

export function textTargets(): (Target<string> | Target<unknown>)[] {
  return [
    textTarget('statement', 270, goldenStatements(), STATEMENT_WORDS, readStatement),
    textTarget('virtual-query', 200, QUERIES, QUERY_WORDS, parseQuery),
    jsonTarget('virtual-spec', 100, SPECS, (value) => checkedSpec(value, { root: '/srv/virtual' })),
    jsonTarget('rules', 100, RULES, (value) => readRuleSet(Array.isArray(value) ? value : [value], ['body'])),
  ];
}
