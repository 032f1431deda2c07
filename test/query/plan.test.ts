// Tests plans as values: what is requested from each index, what is known without reading, what is
// read, and whether estimates match what scans touch.

import { describe, expect, it } from 'vitest';
import type { ParameterValues } from '../../src/query/binder/parameters.ts';
import { runMatch } from '../../src/query/executor/run-match.ts';
import { bucketsOf, explainRow } from '../../src/query/explain.ts';
import type { MatchPlan, ScanPlan } from '../../src/query/planner/plan.ts';
import { contextOf, runPlan } from './execute.ts';
import { contact, planOf, shown } from './plan-world.ts';

function scanOf(condition: string, parameters?: ParameterValues): ScanPlan {
  return planOf(`MATCH (a:Contact) WHERE ${condition} RETURN a.id`, parameters).input as ScanPlan;
}

/** Returns every access path, and the remaining filter. */
function accessOf(condition: string, parameters?: ParameterValues): string[] {
  const { paths, texts, filter } = scanOf(condition, parameters);
  const checked = texts.map(({ expression }) => `text ${expression.text}`);
  return [...paths.map(shown), ...checked, ...filter.map((one) => `filter ${one.text}`)];
}

describe('the access paths for times', () => {
  it.each<[string, string[]]>([
    ['a.event_ts = 5', ['5..5']],
    ['5 = a.event_ts', ['5..5']],
    ['a.event_ts < 5', ['..4']],
    ['5 > a.event_ts', ['..4']],
    ['a.event_ts <= 5', ['..5']],
    ['a.event_ts > 5', ['6..']],
    ['5 <= a.event_ts', ['5..']],
    ['a.event_ts < 5.5', ['..5']],
    ['a.event_ts <= 5.5', ['..5']],
    ['a.event_ts > 5.5', ['6..']],
    ['a.event_ts >= -5.5', ['-5..']],
    ['a.event_ts < -5.5', ['..-6']],
    ['a.event_ts = 5.0', ['5..5']],
    ['a.event_ts BETWEEN 3 AND 9', ['3..9']],
    ['a.event_ts BETWEEN 2.1 AND 2.9 + 5', ['3..7']],
    ['a.event_ts > 3 AND a.event_ts < 9 AND a.event_ts <> 5', ['4..8', 'filter a.event_ts <> 5']],
    ['a.event_ts >= 60 * 60 AND a.event_ts < 2 * 60 * 60', ['3600..7199']],
    ['a.event_ts = $t', ['7..7']],
    ['a.event_ts > $t - 2', ['6..']],
    ['a.event_ts = -(-3)', ['3..3']],
    ['a.event_ts >= -9007199254740991', ['everything']],
    ['a.event_ts IN [5, 3, 5, null, 4.5]', ['3..3', '5..5']],
    ['a.event_ts IN $list', ['1..2']],
    ['a.event_ts IN [1, 2] AND a.event_ts > 1', ['2..2']],
    ['a.event_ts NOT IN [1]', ['everything', 'filter a.event_ts NOT IN [1]']],
    ['NOT a.event_ts > 5', ['everything', 'filter NOT a.event_ts > 5']],
    ['a.event_ts <> 5', ['everything', 'filter a.event_ts <> 5']],
    ['a.event_ts + 1 = 5', ['everything', 'filter a.event_ts + 1 = 5']],
    ['a.event_ts < a.n', ['everything', 'filter a.event_ts < a.n']],
    ['bucket(a) = 2', ['20..29']],
    ['2 = bucket(a)', ['20..29']],
    ['bucket(a) = -1', ['-10..-1']],
    ['bucket(a) < 2', ['..19']],
    ['bucket(a) <= 2', ['..29']],
    ['bucket(a) > 2', ['30..']],
    ['bucket(a) >= -2', ['-20..']],
    ['bucket(a) > -1.5', ['-10..']],
    ['bucket(a) < 1.5', ['..19']],
    ['bucket(a) BETWEEN -0.5 AND 1.5', ['0..19']],
    ['bucket(a) IN [1, -1, 2.5]', ['-10..-1', '10..19']],
    ['bucket(a) IN [1, 3, 2] OR a.event_ts BETWEEN 35 AND 50', ['10..50']],
    ['a.event_ts > 5 OR a.event_ts <= 5', ['everything']],
    ['a.event_ts > 5 AND a.n = 1 OR a.event_ts <= 5', ['..5', '6.. n [1, 1]']],
    ['bucket(a) <> 2', ['everything', 'filter bucket(a) <> 2']],
  ])('are right for %s', (condition, expected) => {
    expect(accessOf(condition, { t: 7, list: [2, 1] })).toEqual(expected);
  });
});

describe('a condition that never matches', () => {
  it.each([
    'a.event_ts = 5.5',
    'a.event_ts = null',
    'a.event_ts < null',
    'a.event_ts > 5 AND a.event_ts < 5',
    'a.event_ts BETWEEN 9 AND 3',
    'a.event_ts BETWEEN 2.1 AND 2.9',
    'a.event_ts > 9007199254740991',
    'bucket(a) = 1.5',
    'bucket(a) = 2 AND a.event_ts = 30',
    'bucket(a) > 900719925474099',
    'bucket(a) < -1e300',
    'a.event_ts IN []',
    'a.event_ts IN [null, 1.5]',
    'a.event_ts IN [1] AND a.event_ts = 2',
    'false',
    'null',
    '1 = 2 AND a.n = 3',
    'null IN a.members',
    '1.5 IN a.members',
    'a.n = null',
    'a.n > 1 AND $p',
    'a.event_ts = 1.5 OR false',
  ])('is planned without an access path, and nothing is read: %s', (condition) => {
    const text = `MATCH (a:Contact) WHERE ${condition} RETURN a.id`;
    const plan = planOf(text, { p: false });
    expect((plan.input as ScanPlan).paths).toEqual([]);
    const { rows, plan: touched } = runPlan(plan, { p: false });
    expect([rows, touched!.bucketsScanned]).toEqual([[], 0]);
    expect(explainRow(plan)).toMatchObject({ buckets_scanned: 0, estimated_rows: 0 });
    expect(
      runPlan(planOf(`MATCH (a:Contact) WHERE ${condition} RETURN count(*)`, { p: false }), { p: false }).rows,
    ).toEqual(['{"count(*)":0}']);
  });

  it('is recognized if it requires more nodes than an edge can have members', () => {
    const nodes = Array.from({ length: 300 }, (_, i) => i);
    const plan = planOf('MATCH (a:Contact) MEMBERS $nodes RETURN a.id', { nodes });
    expect((plan.input as ScanPlan).paths).toEqual([]);
    expect(contact.estimate({ nodes })).toMatchObject({ rows: 0, bucketsScanned: 0 });
  });

  it('makes a join of its table read nothing', () => {
    const plan = planOf(
      'MATCH (a:Contact), (t:Trip) WHERE a.event_ts < 5 AND t.event_ts > 100 AND overlaps(a, t, 10) RETURN a.id',
    );
    expect(runPlan(plan, {})).toMatchObject({ rows: [], plan: { bucketsScanned: 0 } });
  });
});

describe('the access paths for nodes and ranges', () => {
  it.each<[string, string[]]>([
    ['3 IN a.members', ['nodes 3']],
    ['3.0 IN a.members', ['nodes 3']],
    ['3 IN a.members AND 5 IN a.members AND 3 IN a.members', ['nodes 3 5']],
    ['3 IN a.members AND a.event_ts > 5', ['6.. nodes 3']],
    ['$t IN a.members', ['nodes 7']],
    ['a.n IN a.members', ['everything', 'filter a.n IN a.members']],
    ['3 NOT IN a.members', ['everything', 'filter 3 NOT IN a.members']],
    ['a.n = 5', ['n [5, 5]']],
    ['5 < a.n', ['n (5, ]']],
    ['a.n BETWEEN 2 AND 5.5', ['n [2, ] n [, 5.5]']],
    ['a.n < 5 AND a.weight >= 2', ['n [, 5) weight [2, ]']],
    ['a.n <> 5', ['everything', 'filter a.n <> 5']],
    ["a.place = 'x'", ['everything', "text a.place = 'x'"]],
    ["'x' = a.place", ['everything', "text 'x' = a.place"]],
    ["a.place = ''", ['everything', "text a.place = ''"]],
    ['a.place = $p', ['everything', 'text a.place = $p']],
    ["a.place = 'x' AND a.formation = 'y'", ['everything', "text a.place = 'x'", "text a.formation = 'y'"]],
    ["a.place = 'x' AND a.place = 'y'", ['everything', "text a.place = 'x'", "filter a.place = 'y'"]],
    ["a.n < 5 AND a.place = 'x'", ['n [, 5)', "text a.place = 'x'"]],
    ["3 IN a.members AND a.place = 'x' AND a.n <> 2", ['nodes 3', "text a.place = 'x'", 'filter a.n <> 2']],
    ["a.place = 'x' AND a.event_ts IN [1, 2, 9]", ['1..2', '9..9', "text a.place = 'x'"]],
    ["a.place <> 'x'", ['everything', "filter a.place <> 'x'"]],
    ["a.place >= 'x'", ['everything', "filter a.place >= 'x'"]],
    ["NOT a.place = 'x'", ['everything', "filter NOT a.place = 'x'"]],
    ['a.place = NULL', ['everything', 'filter a.place = NULL']],
    ['a.place = a.formation', ['everything', 'filter a.place = a.formation']],
    ['a.place = $long', ['everything', 'filter a.place = $long']],
    ['a.id = 5', ['id [5, 5]']],
    ['a.n + 1 = 5', ['everything', 'filter a.n + 1 = 5']],
    ['a.n = a.weight', ['everything', 'filter a.n = a.weight']],
    ['true AND 3 IN a.members', ['nodes 3']],
  ])('are right for %s', (condition, expected) => {
    expect(accessOf(condition, { t: 7, p: 'x', long: 'x'.repeat(1025) })).toEqual(expected);
  });

  it('combine the nodes of MEMBERS with those of the conditions', () => {
    const { paths } = planOf('MATCH (a:Contact) MEMBERS [1, 2, 1] WHERE 3 IN a.members RETURN a.id').input as ScanPlan;
    expect(paths.map(shown)).toEqual(['nodes 1 2 3']);
    expect((planOf('MATCH (a:Contact) MEMBERS [1, null] RETURN a.id').input as ScanPlan).paths).toEqual([]);
  });
});

describe('the access paths for OR', () => {
  it.each<[string, string[]]>([
    ['a.event_ts = 1 OR a.event_ts = 9', ['1..1', '9..9']],
    ['a.event_ts = 1 OR 3 IN a.members', ['1..1', 'nodes 3']],
    ['(a.event_ts > 100 AND 3 IN a.members) OR a.n = 5', ['101.. nodes 3', 'n [5, 5]']],
    ['a.event_ts BETWEEN 1 AND 3 OR a.event_ts BETWEEN 7 AND 9', ['1..3', '7..9']],
    ['(a.event_ts = 1 OR 3 IN a.members) AND a.n > 5', ['1..1 n (5, ]', 'nodes 3 n (5, ]']],
    ['(a.event_ts = 1 OR a.event_ts = 50) AND a.event_ts < 9', ['1..1']],
    ['a.event_ts = 1 OR a.event_ts = 1.5 OR null', ['1..1']],
    ["a.event_ts = 1 OR a.place = 'x'", ['everything', "filter a.event_ts = 1 OR a.place = 'x'"]],
    [
      "a.event_ts = 1 OR 3 IN a.members AND a.place = 'x'",
      ['everything', "filter a.event_ts = 1 OR 3 IN a.members AND a.place = 'x'"],
    ],
    ['a.event_ts = 1 OR true', ['everything', 'filter a.event_ts = 1 OR true']],
    ['NOT (a.event_ts = 1 OR a.event_ts = 2)', ['everything', 'filter NOT (a.event_ts = 1 OR a.event_ts = 2)']],
    ['a.event_ts = 1 OR a.event_ts IN [9, 2] OR 3 IN a.members', ['1..2', '9..9', 'nodes 3']],
    // In the next two cases the plan reads everything: in the first, no index answers one of the
    // branches; in the second, the branches together touch as much as a scan does.
    ['a.event_ts = 1 OR a.weight > 5', ['everything', 'filter a.event_ts = 1 OR a.weight > 5']],
    [
      'a.event_ts < 400 OR a.event_ts > 410 OR 3 IN a.members',
      ['everything', 'filter a.event_ts < 400 OR a.event_ts > 410 OR 3 IN a.members'],
    ],
    // One OR becomes a union, and the other becomes a filter.
    [
      '(a.event_ts = 1 OR a.event_ts = 2) AND (3 IN a.members OR 4 IN a.members)',
      ['1..2', 'filter (3 IN a.members OR 4 IN a.members)'],
    ],
  ])('are right for %s', (condition, expected) => {
    expect(accessOf(condition)).toEqual(expected);
  });

  it('are replaced by a filter if there are very many branches', () => {
    const times = Array.from({ length: 65 }, (_, i) => 2 * i);
    expect(scanOf(`a.event_ts IN [${times.join()}]`).filter).toHaveLength(1);
    expect(scanOf(times.map((time) => `a.event_ts = ${time}`).join(' OR ')).filter).toHaveLength(1);
    expect(scanOf(`a.event_ts IN [${times.slice(1).join()}]`).paths).toHaveLength(64);
  });

  it('return a row once if several branches find it', () => {
    const { rows } = runPlan(
      planOf('MATCH (a:Contact) WHERE a.event_ts = 0 OR 0 IN a.members OR a.n <= 20 RETURN a.id ORDER BY a.id'),
      {},
    );
    expect(new Set(rows).size).toBe(rows.length);
    expect(rows).toHaveLength(21 + 17);
  });
});

describe('the order and the shortcuts of a plan', () => {
  it.each<[string, MatchPlan['order']]>([
    ['a.id', 'none'],
    ['a.id ORDER BY a.event_ts', 'index'],
    ['a.id ORDER BY a.event_ts ASC, a.id', 'index'],
    ['a.id ORDER BY a.event_ts, a.id, a.n', 'sort'],
    ['a.id ORDER BY a.event_ts, a.id DESC', 'sort'],
    ['a.id ORDER BY a.event_ts, a.n', 'sort'],
    ['a.id ORDER BY a.event_ts DESC', 'sort'],
    ['a.id ORDER BY a.event_ts DESC LIMIT 5', 'reversed'],
    ['a.id ORDER BY a.event_ts DESC, a.id DESC LIMIT 5', 'reversed'],
    ['a.id ORDER BY a.event_ts DESC, a.id LIMIT 5', 'sort'],
    ['a.event_ts AS t ORDER BY t LIMIT 5', 'index'],
    ['a.id ORDER BY -a.event_ts', 'sort'],
    ['a.id ORDER BY a.id', 'sort'],
    ['DISTINCT a.event_ts AS t ORDER BY t', 'sort'],
    ['a.event_ts, count(*) ORDER BY a.event_ts', 'sort'],
  ])('are right for the order of RETURN %s', (items, expected) => {
    expect(planOf(`MATCH (a:Contact) RETURN ${items}`).order).toBe(expected);
  });

  it('include a sort for joins and unions', () => {
    expect(planOf('MATCH (a:Contact), (t:Trip) WHERE a.n = t.n RETURN a.id ORDER BY a.event_ts').order).toBe('sort');
    expect(planOf('MATCH (a:Contact) WHERE a.n = 1 OR a.event_ts = 5 RETURN a.id ORDER BY a.event_ts').order).toBe(
      'sort',
    );
  });

  it('read no more than the limit needs if the order comes from an index', () => {
    for (const order of ['', 'ORDER BY a.event_ts', 'ORDER BY a.event_ts DESC']) {
      const { rows, plan } = runPlan(planOf(`MATCH (a:Contact) RETURN a.id ${order} SKIP 2 LIMIT 3`), {});
      expect(rows).toHaveLength(3);
      expect(plan!.bucketsScanned).toBeLessThan(order.endsWith('DESC') ? 20 : 5);
    }
  });

  it.each<[string, readonly string[] | undefined]>([
    ['count(*)', ['count']],
    ['count(a), count(a.id) AS i, count(a.event_ts) AS t', ['count', 'count', 'count']],
    ['min(a.event_ts), max(a.event_ts), count(*) + 1', ['least', 'greatest', 'count']],
    ['max(DISTINCT a.event_ts)', ['greatest']],
    ['count(DISTINCT a.id)', undefined],
    ['count(a.n)', undefined],
    ['min(a.id)', undefined],
    ['sum(a.event_ts)', undefined],
    ['count(*), a.n', undefined],
    ['count(*), max(a.n)', undefined],
  ])('are right for the shortcut of RETURN %s', (items, expected) => {
    expect(planOf(`MATCH (a:Contact) RETURN ${items}`).shortcut?.values).toEqual(expected);
    const windowed = planOf(`MATCH (a:Contact) WHERE a.event_ts BETWEEN 3 AND 60 RETURN ${items}`);
    expect(windowed.shortcut?.values).toEqual(expected);
    expect(runPlan(windowed, {}).plan!.bucketsScanned > 0).toBe(expected === undefined);
  });

  it('include no shortcut for other statements', () => {
    for (const condition of ['a.n = 3', '3 IN a.members', "a.place = 'x'", 'a.event_ts = 1 OR a.event_ts = 5'])
      expect(planOf(`MATCH (a:Contact) WHERE ${condition} RETURN count(*)`).shortcut).toBeUndefined();
    expect(planOf('MATCH (a:Contact), (t:Trip) WHERE a.n = t.n RETURN count(*)').shortcut).toBeUndefined();
  });
});

describe('the strategy and the figures of a plan', () => {
  it.each<[string, string, string]>([
    ['MATCH (a:Contact) RETURN a.id', 'FULL_SCAN', 'NONE'],
    ["MATCH (a:Contact) WHERE a.place = 'p1' RETURN a.id", 'FULL_SCAN', 'NONE'],
    ['MATCH (a:Contact) WHERE a.event_ts > 500 RETURN a.id', 'TPI_BUCKET_PUSHDOWN', 'TPI'],
    ['MATCH (a:Contact) WHERE 3 IN a.members RETURN a.id', 'FMI_LOOKUP', 'FMI'],
    ['MATCH (a:Contact) WHERE 3 IN a.members AND 103 IN a.members RETURN a.id', 'FMI_INTERSECT', 'FMI'],
    ['MATCH (a:Contact) WHERE a.n = 3 RETURN a.id', 'PSI_RANGE', 'PSI'],
    ['MATCH (a:Contact) WHERE a.n = 3 AND a.event_ts < 900 RETURN a.id', 'PSI_RANGE', 'PSI'],
    ['MATCH (a:Contact) WHERE a.weight = 3 RETURN a.id', 'FULL_SCAN', 'NONE'],
    ['MATCH (a:Contact), (t:Trip) WHERE a.n = t.n RETURN a.id', 'HASH_JOIN', 'NONE'],
    ['MATCH (a:Contact), (t:Trip) WHERE overlaps(a, t, 1) RETURN a.id', 'TEMPORAL_JOIN', 'TPI'],
    ['MATCH (a:Contact), (t:Trip) WHERE intersects(a, t) RETURN a.id', 'MEMBER_JOIN', 'FMI'],
  ])('are right for %s', (text, strategy, indexType) => {
    const plan = planOf(text);
    expect(plan.strategy).toBe(strategy);
    expect(explainRow(plan)).toMatchObject({ strategy, index_type: indexType });
  });

  it('include speedup_factor, the number of all buckets divided by the number read', () => {
    const row = explainRow(planOf('MATCH (a:Contact) WHERE bucket(a) = 3 RETURN a.id'));
    expect(row).toMatchObject({ buckets_scanned: 1, total_buckets: 100, speedup_factor: 100, estimated_rows: 2 });
  });

  it('include exact estimates for windows and approximate ones for lookups, never above the number of rows', () => {
    const exact = (condition: string) => {
      const plan = planOf(`MATCH (a:Contact) WHERE ${condition} RETURN a.id`);
      const { rows, plan: touched } = runPlan(plan, {});
      expect([(plan.input as ScanPlan).estimatedRows, bucketsOf(plan).scanned]).toEqual([
        rows.length,
        touched!.bucketsScanned,
      ]);
    };
    for (const condition of [
      'a.event_ts BETWEEN 0 AND 333',
      'a.event_ts < -50',
      'bucket(a) IN [1, 5, 9]',
      'true',
      '103 IN a.members',
      'a.n = 12',
    ])
      exact(condition);
    const { estimatedRows, paths } = scanOf('3 IN a.members AND a.event_ts > 0');
    expect(estimatedRows).toBe(18);
    expect(paths[0]!.bucketsScanned).toBeLessThanOrEqual(100);
  });

  it('include the rows and the time of every operator in ANALYZE', () => {
    const plan = planOf('MATCH (a:Contact), (t:Trip) WHERE a.n = t.n AND a.event_ts >= 0 RETURN a.id LIMIT 4');
    const context = contextOf(plan, {}, true);
    for (const _ of runMatch(plan, context)) _?.count;
    const row = explainRow(plan, context.figures) as unknown as { actual_rows: number; elapsed_us: number; plan: Node };
    type Node = { operator: string; actual_rows?: number; elapsed_us?: number; children?: Node[] };
    const nodes: Record<string, Node> = {};
    const visit = (node: Node): void => {
      nodes[node.operator] = node;
      node.children?.forEach(visit);
    };
    visit(row.plan);
    expect(row.actual_rows).toBe(4);
    expect(nodes.HASH_JOIN!.actual_rows).toBe(20);
    expect([nodes.TPI_BUCKET_PUSHDOWN!.actual_rows, nodes.FULL_SCAN!.actual_rows]).toEqual([180, 40]);
    for (const node of [nodes.HASH_JOIN!, nodes.FULL_SCAN!]) expect(node.elapsed_us).toBeGreaterThan(0);
    expect(row.elapsed_us).toBeGreaterThanOrEqual(nodes.HASH_JOIN!.elapsed_us!);
  });
});

describe('the columns that a plan reads', () => {
  it.each<[string, string]>([
    ['MATCH (a:Contact) RETURN 1', ''],
    ['MATCH (a:Contact) WHERE a.event_ts > 5 RETURN a.id', 'ids'],
    ['MATCH (a:Contact) WHERE a.n > 5 RETURN a.place', 'place'],
    ['MATCH (a:Contact) WHERE a.n <> 5 RETURN a.place', 'n place'],
    ['MATCH (a:Contact) RETURN size(a.members)', 'sizes'],
    ['MATCH (a:Contact) RETURN count(a.place)', 'place'],
    ['MATCH (a:Contact) RETURN bucket(a) ORDER BY a.id', 'times ids'],
    ['MATCH (a:Contact) WHERE 5 IN a.members RETURN 1', ''],
    ['MATCH (a:Contact) WHERE 5 NOT IN a.members RETURN 1', 'members'],
    ['MATCH (a:Contact) WHERE a.n = 1 OR a.event_ts = 5 RETURN 1', 'times ids'],
    ['MATCH (a:Contact) RETURN a', 'times ids members weight mean_dist_m formation n place'],
  ])('are only the columns that are needed for %s', (text, expected) => {
    const { needs } = planOf(text).input as ScanPlan;
    const names = contact.columns.columns
      .filter((column) => needs.properties.has(column.id))
      .map((column) => column.name);
    const parts = (['times', 'ids', 'sizes', 'members'] as const).filter((part) => needs[part]);
    expect([...parts, ...names].join(' ')).toBe(expected);
  });
});
