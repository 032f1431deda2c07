// Statements that take long on a large table, one for each kind of long work.

/** Number of distinct texts in the column `formation`. */
export const WORDS = 5000;
/** Number of distinct values in the column `weight`. */
export const WEIGHTS = 100_000;

export interface LongStatement {
  readonly name: string;
  readonly query: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** Returns the statements; `times` are the times of all edges, ascending. */
export function longStatements(times: readonly number[]): LongStatement[] {
  return [...joins(times[Math.floor(times.length * 0.02)]!), ...groups(), ...rows(), ...writes()];
}

/** Returns joins. Only a few edges are earlier than `before`. */
function joins(before: number): LongStatement[] {
  const few = `event_ts < ${before}`;
  return [
    {
      name: 'nested loop',
      query: `MATCH (a:hyperedges), (b:hyperedges) WHERE a.${few} AND b.${few} AND a.weight < b.weight RETURN count(*)`,
    },
    {
      name: 'nested loop, costly condition',
      query: `MATCH (a:hyperedges), (b:hyperedges) WHERE a.${few} AND b.${few} AND a.formation + 'x' > b.formation + 'y' RETURN count(*)`,
    },
    {
      name: 'hash join',
      query:
        'MATCH (a:hyperedges), (b:hyperedges) WHERE a.formation = b.formation AND a.weight < b.weight RETURN count(*)',
    },
    {
      name: 'hash join of two keys',
      query:
        'MATCH (a:hyperedges), (b:hyperedges) WHERE a.formation = b.formation AND a.weight = b.weight RETURN a.id, b.id',
    },
    {
      name: 'member join over hubs',
      query: 'MATCH (a:hyperedges), (b:hyperedges) WHERE shared(a, b) >= 1 AND a.weight < b.weight RETURN count(*)',
    },
    {
      name: 'member join, three common members',
      query: 'MATCH (a:hyperedges), (b:hyperedges) WHERE shared(a, b) >= 3 RETURN count(*)',
    },
    {
      name: 'temporal join, wide',
      query: `MATCH (a:hyperedges), (b:hyperedges) WHERE overlaps(a, b, 10000000) AND a.weight = b.weight RETURN count(*)`,
    },
    {
      name: 'join of three',
      query:
        'MATCH (a:hyperedges), (b:hyperedges), (c:hyperedges) WHERE a.weight = b.weight AND b.weight = c.weight RETURN count(*)',
    },
  ];
}

function groups(): LongStatement[] {
  return [
    {
      name: 'groups, one per row',
      query: 'MATCH (e:hyperedges) RETURN e.id, count(*) AS n, max(e.weight) ORDER BY n LIMIT 10',
    },
    { name: 'groups by two keys', query: 'MATCH (e:hyperedges) RETURN e.event_ts, e.formation, avg(e.weight)' },
    {
      name: 'groups by members',
      query: 'MATCH (e:hyperedges) RETURN e.members, count(*) AS n ORDER BY n DESC LIMIT 5',
    },
    { name: 'COLLECT of all', query: 'MATCH (e:hyperedges) RETURN collect(e.formation)' },
    { name: 'COLLECT of rows', query: 'MATCH (e:hyperedges) RETURN e.formation, collect(e.id)' },
    { name: 'count(DISTINCT)', query: 'MATCH (e:hyperedges) RETURN count(DISTINCT e.members), count(DISTINCT e.id)' },
  ];
}

function rows(): LongStatement[] {
  const ids = Array.from({ length: 50_000 }, (_, i) => i * 7);
  return [
    { name: 'ORDER BY text', query: 'MATCH (e:hyperedges) RETURN e.id, e.formation ORDER BY e.formation, e.weight' },
    {
      name: 'ORDER BY text, LIMIT after a long SKIP',
      query: 'MATCH (e:hyperedges) RETURN e.id ORDER BY e.formation SKIP 500000 LIMIT 5',
    },
    { name: 'ORDER BY, LIMIT 5', query: "MATCH (e:hyperedges) RETURN e.id ORDER BY e.formation + 'x' LIMIT 5" },
    { name: 'DISTINCT', query: 'MATCH (e:hyperedges) RETURN DISTINCT e.members, e.formation' },
    {
      name: 'CONTAINS',
      query: "MATCH (e:hyperedges) WHERE e.formation + e.formation CONTAINS 'nowhere' RETURN count(*)",
    },
    {
      name: 'IN a long list',
      query: 'MATCH (e:hyperedges) WHERE e.id IN $ids AND NOT e.event_ts IN $ids RETURN count(*)',
      parameters: { ids },
    },
    {
      name: 'edges of a node',
      query: 'MATCH (e:hyperedges) WHERE $node IN e.members RETURN e',
      parameters: { node: 1 },
    },
    { name: 'all rows', query: 'MATCH (e:hyperedges) RETURN *' },
    { name: 'all rows as objects, ordered', query: 'MATCH (e:hyperedges) RETURN e ORDER BY e.weight' },
    {
      name: 'ANALYZE',
      query: "ANALYZE MATCH (e:hyperedges) WHERE e.formation ENDS WITH '7' RETURN e.members, count(*)",
    },
  ];
}

function writes(): LongStatement[] {
  return [
    { name: 'UPDATE of all rows', query: 'UPDATE hyperedges SET weight = weight + 1' },
    { name: 'UPDATE of texts', query: "UPDATE hyperedges SET formation = formation + '!'" },
    { name: 'DELETE of all rows', query: 'DELETE FROM hyperedges WHERE weight >= 0' },
  ];
}
