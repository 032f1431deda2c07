// A naive model of memories: a list, searched from end to end.

export interface NaiveMemory {
  readonly id: number;
  readonly what: string;
  readonly who: readonly string[];
  readonly about: readonly string[];
  readonly event_ts: number;
  end_ts: number | null;
  readonly source: string | null;
  supersedes: number | null;
}

/** What a reader sees of a memory in a history. */
export type NaiveVersion = NaiveMemory & { readonly superseded_by: number | null };

export class NaiveMemories {
  all: NaiveMemory[] = [];

  find(id: number): NaiveMemory | undefined {
    return this.all.find((memory) => memory.id === id);
  }

  successorOf(id: number): NaiveMemory | undefined {
    return this.all.find(({ supersedes }) => supersedes === id);
  }

  /**
   * Returns why a memory cannot be superseded from one time to another, as the code of the error.
   */
  refusalOf(id: number, [at, until]: readonly [number, number | undefined], now: number): string | undefined {
    const memory = this.find(id);
    if (memory === undefined) return 'edge_not_found';
    const begins = this.successorOf(id)?.event_ts;
    if (begins !== undefined && (begins <= now || begins <= at)) return 'memory_ended';
    if (memory.end_ts !== null && memory.end_ts <= at) return 'memory_ended';
    if (at < memory.event_ts) return 'invalid_input';
    return begins !== undefined && until !== undefined && until > begins ? 'invalid_input' : undefined;
  }

  add(memory: NaiveMemory): void {
    this.all.push({ ...memory, who: toSet(memory.who), about: toSet(memory.about) });
  }

  /** Returns whether the memory came between two others. */
  supersede(memory: NaiveMemory): boolean {
    this.find(memory.supersedes!)!.end_ts = memory.event_ts;
    const next = this.successorOf(memory.supersedes!);
    this.add({ ...memory, end_ts: memory.end_ts ?? next?.event_ts ?? null });
    if (next !== undefined) next.supersedes = memory.id;
    return next !== undefined;
  }

  forget(id: number): void {
    this.all = this.all.filter((memory) => memory.id !== id);
  }

  /** Returns the ids of the memories that hold at a time and name one of the keys in each role. */
  holding(at: number, asked: { who?: readonly string[]; about?: readonly string[] }): number[] {
    const names = (keys: readonly string[], wanted: readonly string[] | undefined) =>
      wanted === undefined || wanted.length === 0 || wanted.some((key) => keys.includes(key));
    return this.all
      .filter(({ event_ts: begin, end_ts: end }) => begin <= at && (end === null || at < end))
      .filter(({ who, about }) => names(who, asked.who) && names(about, asked.about))
      .map(({ id }) => id)
      .sort((a, b) => a - b);
  }

  /** Returns the versions of some memories, oldest first. */
  versionsOf(ids: readonly number[]): NaiveVersion[] {
    const chosen = new Set(ids);
    for (let size = -1; size !== chosen.size; ) {
      size = chosen.size;
      for (const { id, supersedes } of this.all) {
        if (supersedes === null) continue;
        if (chosen.has(supersedes)) chosen.add(id);
        if (chosen.has(id) && this.find(supersedes) !== undefined) chosen.add(supersedes);
      }
    }
    // A memory that was deleted does not link those before and after it.
    return this.all
      .filter(({ id }) => chosen.has(id))
      .sort((a, b) => a.event_ts - b.event_ts || a.id - b.id)
      .map((memory) => ({ ...memory, superseded_by: this.successorOf(memory.id)?.id ?? null }));
  }
}

function toSet(keys: readonly string[]): string[] {
  return [...new Set(keys)].sort();
}
