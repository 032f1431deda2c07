// Tests what the binder refuses: unknown names, wrong types and misplaced aggregates, each with its
// position and a suggestion.

import { describe, expect, it } from 'vitest';
import { refusal } from './bind-world.ts';

describe('the binder refuses', () => {
  const where = (condition: string) => `MATCH (a:Contact), (t:Trip) WHERE ${condition} RETURN *`;

  it.each<[string, string, string]>([
    // Names.
    ['MATCH (a:Contakt) RETURN *', 'table_not_found 1:10', 'Did you mean Contact?'],
    ['MATCH (a:Nothing) RETURN *', 'table_not_found 1:10', 'SHOW TABLES lists them.'],
    ['MATCH (a:Contact), (A:Trip) RETURN *', 'invalid_statement 1:21', 'alias A occurs twice'],
    ['MATCH (a:Contact) RETURN b.n', 'invalid_statement 1:26', '"b" is not an alias; there is a.'],
    ['MATCH (alpha:Contact)\nRETURN alhpa.n', 'invalid_statement 2:8', 'Did you mean alpha?'],
    ['MATCH (a:Contact) RETURN a.plase', 'unknown_column 1:28', 'Did you mean Place?'],
    ['MATCH (a:Contact) RETURN a.eventts', 'unknown_column 1:28', 'Did you mean event_ts?'],
    ['MATCH (a:Contact) RETURN a.zzzzzzz', 'unknown_column 1:28', 'it has id, event_ts, members, weight'],
    ['MATCH (a:Trip) RETURN a.n', 'unknown_column 1:25', 'table Trip has no column "n"'],
    ['MATCH (a:Contact) RETURN place', 'invalid_statement 1:26', 'a column is written after its alias: a.place'],
    ['MATCH (a:Contact) RETURN foo(a)', 'invalid_statement 1:26', 'there is no function "foo"'],
    ['MATCH (a:Contact) RETURN buckt(a)', 'invalid_statement 1:26', 'Did you mean bucket?'],
    ['MATCH (a:Contact) RETURN constructor(a)', 'invalid_statement 1:26', 'there is no function'],
    // Conditions.
    [where('a.n'), 'invalid_statement 1:35', 'WHERE takes a condition, but a.n is an integer.'],
    [where('a'), 'invalid_statement 1:35', 'a whole row'],
    [where('a.members'), 'invalid_statement 1:35', 'a list'],
    [where('a.ok AND a.n'), 'invalid_statement 1:44', 'AND takes a condition'],
    [where("a.ok OR 'x'"), 'invalid_statement 1:43', 'OR takes a condition'],
    [where('NOT a.n'), 'invalid_statement 1:39', 'NOT takes a condition'],
    [where("a.n = 'x'"), 'invalid_statement 1:35', "a.n is an integer and 'x' is a text"],
    [where('a.ok = 1'), 'invalid_statement 1:35', 'cannot be compared'],
    [where('a.place > 1.5'), 'invalid_statement 1:35', 'cannot be compared'],
    [where('a = t'), 'invalid_statement 1:35', 'whole rows cannot be compared'],
    [where('a.members > [1]'), 'invalid_statement 1:35', 'lists are compared with = and <> only'],
    [where("a.members = ['x']"), 'invalid_statement 1:35', 'cannot be compared'],
    [where('a.members = 1'), 'invalid_statement 1:35', 'cannot be compared'],
    [where("a.n BETWEEN 1 AND 'x'"), 'invalid_statement 1:35', 'cannot be compared'],
    [where('bucket(a) = bucket(t)'), 'invalid_statement 1:35', 'different widths, 10 and 60 seconds'],
    [where('bucket(a) IN [1, bucket(t)]'), 'invalid_statement 1:35', 'different widths'],
    [where('bucket(a) BETWEEN 1 AND bucket(t)'), 'invalid_statement 1:35', 'different widths'],
    [where("a.n IN ['x']"), 'invalid_statement 1:35', 'a.n is an integer, but the list holds a text'],
    [where("a.n IN [1, 'x']"), 'invalid_statement 1:46', 'a list holds single values of one type'],
    [where('a.n IN [1, [2]]'), 'invalid_statement 1:46', 'a list holds single values'],
    [where('a.n IN [a]'), 'invalid_statement 1:43', 'a list holds single values'],
    [where('a.n IN 5'), 'invalid_statement 1:42', 'IN takes a list or members'],
    [where("'x' IN a.members"), 'invalid_statement 1:35', 'but the list holds an integer'],
    [where('a IN a.members'), 'invalid_statement 1:35', 'a whole row'],
    [where("a.n CONTAINS 'x'"), 'invalid_statement 1:35', 'CONTAINS compares texts'],
    [where('a.members CONTAINS 5'), 'invalid_statement 1:35', 'node IN alias.members'],
    [where('a.place STARTS WITH 5'), 'invalid_statement 1:55', 'STARTS WITH compares texts'],
    // Computing.
    [where("a.n + 'x' = 1"), 'invalid_statement 1:35', 'both must be numbers, or both texts'],
    [where('a.place - a.place = 1'), 'invalid_statement 1:35', 'a text - a text cannot be computed'],
    [where('a.ok + true = 1'), 'invalid_statement 1:35', 'a boolean + a boolean'],
    [where('a.members + 1 = 1'), 'invalid_statement 1:35', 'a list + an integer'],
    [where('-a.place = 1'), 'invalid_statement 1:36', 'a minus takes a number, not a text'],
    // Functions.
    [where('size(a.n) = 1'), 'invalid_statement 1:40', 'size counts members or a list'],
    [where('size(a) = 1'), 'invalid_statement 1:40', 'size counts'],
    [where('bucket(a.n) = 1'), 'invalid_statement 1:42', 'an alias is missing here: bucket(alias)'],
    [where('bucket(a, t) = 1'), 'invalid_statement 1:35', 'bucket is written bucket(alias).'],
    [where('shared(a) = 1'), 'invalid_statement 1:35', 'shared is written shared(a, b).'],
    [where('shared(*) = 1'), 'invalid_statement 1:35', 'shared is written'],
    [where('shared(DISTINCT a, t) = 1'), 'invalid_statement 1:35', 'shared is written'],
    [where("overlaps(a, t, 'x')"), 'invalid_statement 1:50', 'takes a number, not a text'],
    [where('follows(a, t)'), 'invalid_statement 1:35', 'follows(later, earlier, seconds)'],
    [where('overlaps(a, x, 5)'), 'invalid_statement 1:47', '"x" is not an alias'],
    // MEMBERS.
    ['MATCH (a:Contact) MEMBERS [] RETURN *', 'invalid_statement 1:27', 'at least one node id'],
    ["MATCH (a:Contact) MEMBERS ['x'] RETURN *", 'invalid_statement 1:27', 'MEMBERS takes integers'],
    ['MATCH (a:Contact) MEMBERS [1.5] RETURN *', 'invalid_statement 1:27', 'MEMBERS takes integers'],
    ['MATCH (a:Contact) MEMBERS [1, 1.5] RETURN *', 'invalid_statement 1:27', 'MEMBERS takes integers'],
    ['MATCH (a:Contact) MEMBERS [null] RETURN *', 'invalid_statement 1:27', 'MEMBERS takes integers'],
    ['MATCH (a:Contact) MEMBERS [a.n] RETURN *', 'invalid_statement 1:28', 'there are no aliases here'],
    ['MATCH (a:Contact) MEMBERS [count(*)] RETURN *', 'invalid_statement 1:28', 'aggregates are allowed in RETURN'],
    // Aggregates and groups.
    [where('count(*) > 1'), 'invalid_statement 1:35', 'not in WHERE'],
    ['MATCH (a:Contact) RETURN sum(max(a.n))', 'invalid_statement 1:30', 'an aggregate cannot be inside another'],
    ['MATCH (a:Contact) RETURN sum(*)', 'invalid_statement 1:26', 'only COUNT takes *'],
    ['MATCH (a:Contact) RETURN count()', 'invalid_statement 1:26', 'COUNT takes one value'],
    ['MATCH (a:Contact) RETURN sum(a.n, a.n)', 'invalid_statement 1:26', 'SUM takes one value'],
    ['MATCH (a:Contact) RETURN sum(a.place)', 'invalid_statement 1:26', 'SUM takes numbers'],
    ['MATCH (a:Contact) RETURN avg(a.ok)', 'invalid_statement 1:26', 'AVG takes numbers'],
    ['MATCH (a:Contact) RETURN min(a.members)', 'invalid_statement 1:26', 'MIN takes single values'],
    ['MATCH (a:Contact) RETURN max(a)', 'invalid_statement 1:26', 'MAX takes a single value, not a whole row'],
    ['MATCH (a:Contact) RETURN sum(DISTINCT a)', 'invalid_statement 1:26', 'SUM takes a single value'],
    ['MATCH (a:Contact) RETURN a.n + count(*)', 'invalid_statement 1:26', 'a.n is next to an aggregate'],
    [
      'MATCH (a:Contact) RETURN a.place, bucket(a) + count(*)',
      'invalid_statement 1:35',
      'bucket(a) is next to an aggregate',
    ],
    // ORDER BY.
    [
      'MATCH (a:Contact) RETURN a.n ORDER BY count(*)',
      'invalid_statement 1:39',
      'an aggregate in ORDER BY must also be returned',
    ],
    [
      'MATCH (a:Contact) RETURN DISTINCT a.n ORDER BY a.score',
      'invalid_statement 1:48',
      'only returned items can be ordered by, and a.score is not one',
    ],
    ['MATCH (a:Contact) RETURN a.n, count(*) ORDER BY a.score', 'invalid_statement 1:49', 'a.score is not one'],
    ['MATCH (a:Contact) RETURN a.n, count(*) ORDER BY sum(a.n)', 'invalid_statement 1:49', 'sum(a.n) is not one'],
    ['MATCH (a:Contact) RETURN a.n ORDER BY a.members', 'invalid_statement 1:39', 'ordered by single values'],
    ['MATCH (a:Contact) RETURN a AS r ORDER BY r', 'invalid_statement 1:42', 'ordered by single values'],
    [
      'MATCH (a:Contact) RETURN DISTINCT a.members ORDER BY a.members',
      'invalid_statement 1:54',
      'ordered by single values',
    ],
    ['MATCH (a:Contact) RETURN DISTINCT a AS r ORDER BY r', 'invalid_statement 1:51', 'ordered by single values'],
    ['MATCH (a:Contact) RETURN collect(a.n) AS c ORDER BY c', 'invalid_statement 1:53', 'ordered by single values'],
    ['MATCH (a:Contact) RETURN count(*) AS c ORDER BY sum(c)', 'invalid_statement 1:53', '"c" is not an alias'],
    ['MATCH (a:Contact) RETURN a.n ORDER BY b', 'invalid_statement 1:39', '"b" is not an alias'],
  ])('%s', (text, place, part) => {
    const { place: found, detail } = refusal(text);
    expect(found).toBe(place);
    expect(detail).toContain(part);
  });

  it('a long expression with a message that shortens it', () => {
    const long = `'${'x'.repeat(500)}'`;
    expect(refusal(where(`a.n = ${long}`)).detail.length).toBeLessThan(300);
  });
});
