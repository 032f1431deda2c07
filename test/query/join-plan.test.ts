// Tests join plans as values: strategies, bands, the order of patterns, and the propagation of time
// windows from one pattern to the next.

import { describe, expect, it } from 'vitest';
import type { ParameterValues } from '../../src/query/binder/parameters.ts';
import type { JoinPlan, MatchPlan, ScanPlan } from '../../src/query/planner/plan.ts';
import { runPlan } from './execute.ts';
import { planOf, shown } from './plan-world.ts';

describe('join plans', () => {
  const join = (text: string, parameters?: ParameterValues) =>
    planOf(`MATCH ${text} RETURN count(*)`, parameters).input as JoinPlan;
  const joined = (plan: MatchPlan) => plan.input as JoinPlan | ScanPlan;
  /** Returns the aliases in the order in which their patterns are read. */
  const order = (plan: MatchPlan): string[] => {
    const aliases: string[] = [];
    for (let input = joined(plan); ; input = input.left) {
      aliases.unshift(plan.match.patterns[input.op === 'scan' ? input.pattern : input.right.pattern]!.alias);
      if (input.op === 'scan') return aliases;
    }
  };
  const windows = (text: string): string[] => {
    const plan = planOf(`MATCH ${text} RETURN count(*)`);
    const scans: ScanPlan[] = [];
    for (let input = joined(plan); ; input = input.left) {
      scans.push(input.op === 'scan' ? input : input.right);
      if (input.op === 'scan') break;
    }
    return scans.sort((a, b) => a.pattern - b.pattern).map((scan) => scan.paths.map(shown).join(' | ') || 'nothing');
  };

  it.each<[string, JoinPlan['strategy'], [number, number] | undefined, number | undefined, number, number]>([
    // Strategy; band (right - left); minimum number of shared members; numbers of equalities and
    // filters.
    ['(a:Contact), (t:Trip) WHERE overlaps(a, t, 5)', 'TEMPORAL_JOIN', [-5, 5], undefined, 0, 0],
    ['(a:Contact), (t:Trip) WHERE overlaps(t, a, 5.9)', 'TEMPORAL_JOIN', [-5, 5], undefined, 0, 0],
    ['(a:Contact), (t:Trip) WHERE follows(a, t, 7)', 'TEMPORAL_JOIN', [1, 7], undefined, 0, 0],
    ['(a:Contact), (t:Trip) WHERE follows(t, a, 7)', 'TEMPORAL_JOIN', [-7, -1], undefined, 0, 0],
    ['(a:Contact), (t:Trip) WHERE a.event_ts = t.event_ts', 'TEMPORAL_JOIN', [0, 0], undefined, 0, 0],
    ['(a:Contact), (t:Trip) WHERE a.event_ts < t.event_ts', 'TEMPORAL_JOIN', [-Infinity, -1], undefined, 0, 0],
    ['(a:Contact), (t:Trip) WHERE a.event_ts >= t.event_ts + 5', 'TEMPORAL_JOIN', [5, Infinity], undefined, 0, 0],
    [
      '(a:Contact), (t:Trip) WHERE a.event_ts - t.event_ts BETWEEN 2 AND 10 - 1',
      'TEMPORAL_JOIN',
      [2, 9],
      undefined,
      0,
      0,
    ],
    ['(a:Contact), (t:Trip) WHERE 3 > t.event_ts - a.event_ts', 'TEMPORAL_JOIN', [-2, Infinity], undefined, 0, 0],
    [
      '(a:Contact), (t:Trip) WHERE overlaps(a, t, 5) AND a.event_ts >= t.event_ts',
      'TEMPORAL_JOIN',
      [0, 5],
      undefined,
      0,
      0,
    ],
    ['(a:Contact), (t:Trip) WHERE overlaps(a, t, t.n)', 'NESTED_LOOP', undefined, undefined, 0, 1],
    ['(a:Contact), (t:Trip) WHERE overlaps(a, t, null)', 'NESTED_LOOP', undefined, undefined, 0, 1],
    ['(a:Contact), (t:Trip) WHERE a.event_ts <> t.event_ts', 'NESTED_LOOP', undefined, undefined, 0, 1],
    ['(a:Contact), (t:Trip) WHERE a.event_ts + t.event_ts < 5', 'NESTED_LOOP', undefined, undefined, 0, 1],
    ['(a:Contact), (t:Trip) WHERE shared(a, t) >= 2', 'MEMBER_JOIN', undefined, 2, 0, 0],
    ['(a:Contact), (t:Trip) WHERE shared(t, a) > 1', 'MEMBER_JOIN', undefined, 2, 0, 0],
    ['(a:Contact), (t:Trip) WHERE 1.5 <= shared(a, t)', 'MEMBER_JOIN', undefined, 2, 0, 0],
    ['(a:Contact), (t:Trip) WHERE intersects(a, t)', 'MEMBER_JOIN', undefined, 1, 0, 0],
    ['(a:Contact), (t:Trip) WHERE shared(a, t) = 2', 'MEMBER_JOIN', undefined, 2, 0, 1],
    ['(a:Contact), (t:Trip) WHERE shared(a, t) = 0', 'NESTED_LOOP', undefined, undefined, 0, 1],
    ['(a:Contact), (t:Trip) WHERE shared(a, t) >= 0', 'NESTED_LOOP', undefined, undefined, 0, 1],
    ['(a:Contact), (t:Trip) WHERE shared(a, t) < 2', 'NESTED_LOOP', undefined, undefined, 0, 1],
    ['(a:Contact), (t:Trip) WHERE a.n = t.n', 'HASH_JOIN', undefined, undefined, 1, 0],
    ['(a:Contact), (t:Trip) WHERE t.n + 1 = a.n AND a.place = t.place', 'HASH_JOIN', undefined, undefined, 2, 0],
    ['(a:Contact), (t:Trip) WHERE a.n + t.n = 5', 'NESTED_LOOP', undefined, undefined, 0, 1],
    ['(a:Contact), (t:Trip) WHERE a.members = t.members', 'NESTED_LOOP', undefined, undefined, 0, 1],
    [
      '(a:Contact), (t:Trip) WHERE intersects(a, t) AND follows(a, t, 9) AND a.n = t.n AND a.n < t.id',
      'MEMBER_JOIN',
      [1, 9],
      1,
      1,
      1,
    ],
    ['(a:Contact), (t:Trip) WHERE overlaps(a, t, 9) AND a.n = t.n', 'HASH_JOIN', [-9, 9], undefined, 1, 0],
    ['(a:Contact), (t:Trip) WHERE bucket(a) = t.n', 'HASH_JOIN', undefined, undefined, 1, 0],
    ['(a:Contact), (t:Trip) WHERE a.n < t.n', 'NESTED_LOOP', undefined, undefined, 0, 1],
  ])('are right for %s', (text, strategy, band, least, equal, filter) => {
    const plan = join(text);
    expect([plan.strategy, plan.equal.length, plan.filter.length]).toEqual([strategy, equal, filter]);
    expect(plan.band && [plan.band.low + 0, plan.band.high + 0]).toEqual(band);
    expect(plan.members?.least).toBe(least);
    expect(plan.cartesian).toBe(false);
  });

  it('are marked as products if no condition links the patterns', () => {
    expect(join('(a:Contact), (t:Trip)').cartesian).toBe(true);
    expect(join('(a:Contact), (t:Trip) WHERE a.n = 1 AND t.n = 2').cartesian).toBe(true);
    const chain = join('(a:Contact), (s:Small), (t:Trip) WHERE a.n = s.n');
    expect([chain.cartesian, (chain.left as JoinPlan).cartesian]).toEqual([true, false]);
  });

  it.each<[string, string[]]>([
    // The smallest pattern is first, then the smallest of those that a condition connects.
    ['(a:Contact), (t:Trip), (s:Small) WHERE a.n = t.n AND t.n = s.n', ['s', 't', 'a']],
    ['(a:Contact), (t:Trip), (s:Small) WHERE a.n = s.n AND t.n = a.n', ['s', 'a', 't']],
    ['(a:Contact), (t:Trip) WHERE a.n = t.n AND a.event_ts = 5', ['a', 't']],
    ['(a:Contact), (t:Trip), (s:Small) WHERE s.n = 3 AND a.n = 3', ['a', 's', 't']],
    ['(a:Contact), (s:Small) WHERE a.n = s.n AND 105 IN a.members', ['a', 's']],
  ])('put the patterns in order: %s', (text, expected) => {
    expect(order(planOf(`MATCH ${text} RETURN count(*)`))).toEqual(expected);
  });

  it.each<[string, string[]]>([
    ['(a:Contact), (t:Trip) WHERE overlaps(a, t, 10) AND a.event_ts BETWEEN 0 AND 50', ['0..50', '-10..60']],
    ['(a:Contact), (t:Trip) WHERE follows(t, a, 10) AND a.event_ts BETWEEN 0 AND 50', ['0..50', '1..60']],
    ['(a:Contact), (t:Trip) WHERE follows(a, t, 10) AND a.event_ts BETWEEN 0 AND 50', ['0..50', '-10..49']],
    [
      '(a:Contact), (t:Trip) WHERE overlaps(a, t, 10) AND a.event_ts > 100 AND t.event_ts < 120',
      ['101..129', '91..119'],
    ],
    ['(a:Contact), (t:Trip) WHERE a.event_ts < t.event_ts AND t.event_ts <= 50', ['..49', '..50']],
    ['(a:Contact), (t:Trip) WHERE a.event_ts = t.event_ts + 5 AND t.event_ts = 50', ['55..55', '50..50']],
    [
      '(a:Contact), (b:Contact), (c:Contact) WHERE follows(b, a, 10) AND follows(c, b, 10) AND a.event_ts BETWEEN 0 AND 5',
      ['0..5', '1..15', '2..25'],
    ],
    [
      '(a:Contact), (b:Contact), (c:Contact) WHERE follows(b, a, 10) AND follows(c, b, 10) AND c.event_ts = 100',
      ['80..98', '90..99', '100..100'],
    ],
    ['(a:Contact), (t:Trip) WHERE overlaps(a, t, 10) AND a.event_ts < 5 AND t.event_ts > 100', ['nothing', 'nothing']],
    [
      '(a:Contact), (t:Trip) WHERE overlaps(a, t, 10) AND (a.event_ts = 5 OR a.event_ts = 9)',
      ['5..5 | 9..9', 'everything'],
    ],
    ['(a:Contact), (t:Trip) WHERE overlaps(a, t, 10) OR a.event_ts = 5', ['everything', 'everything']],
    ['(a:Contact), (t:Trip) WHERE follows(a, t, -1) AND t.event_ts BETWEEN 0 AND 5', ['nothing', 'nothing']],
  ])('propagate time windows: %s', (text, expected) => {
    expect(windows(text)).toEqual(expected);
  });

  it('use a band between two other patterns as a filter', () => {
    const text =
      'MATCH (a:Small), (b:Small), (c:Small) WHERE a.event_ts - a.event_ts + b.event_ts < c.event_ts AND b.n = c.n + 0 * a.n RETURN count(*)';
    expect(runPlan(planOf(text), {}).rows).toEqual(['{"count(*)":0}']);
    const other =
      'MATCH (a:Small), (b:Small), (c:Small) WHERE b.event_ts < c.event_ts + a.event_ts - a.event_ts AND c.n = a.n RETURN count(*)';
    expect(runPlan(planOf(other), {}).rows).toEqual(['{"count(*)":15}']);
  });
});
