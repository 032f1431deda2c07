// What a process knows of the leader: where it is, and when that changes.

export class Election {
  #url: string | undefined;
  #isHere = false;
  #term = new AbortController();

  /** Address of the leader for clients; undefined while none is known, or if this process leads. */
  get url(): string | undefined {
    return this.#url;
  }

  get isHere(): boolean {
    return this.#isHere;
  }

  /** Aborted when the leader changes. */
  get term(): AbortSignal {
    return this.#term.signal;
  }

  /** Records who leads: the process at an address, this one, or none that is known. */
  set(leader: { url: string } | 'here' | undefined): void {
    const isHere = leader === 'here';
    const url = typeof leader === 'object' ? leader.url : undefined;
    if (isHere === this.#isHere && url === this.#url) return;
    this.#isHere = isHere;
    this.#url = url;
    const term = this.#term;
    this.#term = new AbortController();
    term.abort(new Error('the leader has changed'));
  }

  /** Resolves at the next change, or after `ms` milliseconds. */
  change(ms: number): Promise<void> {
    const { term } = this;
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        term.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      term.addEventListener('abort', done);
    });
  }
}
