// Connects the feed of changes to the page: draws at most ten times a second, and reads only while
// the view is shown and the page is visible.

import type { WalStatus } from '../../client/index.ts';
import { useEffect, useMemo, useRef, useState } from '../preact.ts';
import { watchedFetch } from '../service-state.ts';
import { connection, serviceUrl, session } from '../session.ts';
import { loadCatalog } from '../state.ts';
import { ChangeFeed, type Commit } from './change-feed.ts';
import { type FollowState, followChanges } from './follow-changes.ts';

/** The view begins with the changes of this many LSNs. */
const RECENT_LSNS = 500;
const DRAW_MS = 100;
const TICK_MS = 1000;
/** Screen readers are told the number of changes once in this many ticks. */
const TICKS_A_REPORT = 10;

export interface Live {
  readonly commits: readonly Commit[];
  readonly state: FollowState;
  /** Changes a second. */
  readonly rate: number;
  /** Changes in the last ten seconds, for the report to screen readers. */
  readonly reported: number;
  readonly isPaused: boolean;
  /** Changes received since the pause began. */
  readonly missed: number;
  readonly setPaused: (isPaused: boolean) => void;
  /** Goes on from the last LSN after a final state. */
  readonly tryAgain: () => void;
  /** Forgets all changes and begins at the newest LSN. */
  readonly startAtNewest: () => void;
}

const NO_FIGURES = { rate: 0, reported: 0, missed: 0 };
type Figures = Readonly<typeof NO_FIGURES>;

/** Follows the changes of a table, or of all tables if the name is empty. */
export function useChanges(table: string): Live {
  const [run, setRun] = useState({ turn: 0, recent: RECENT_LSNS });
  const [attempt, setAttempt] = useState(0);
  const feed = useMemo(() => new ChangeFeed(), [table, run]);
  const [commits, setCommits] = useState<readonly Commit[]>([]);
  const [state, setState] = useState<FollowState>({ kind: 'connecting' });
  const [figures, setFigures] = useState(NO_FIGURES);
  const isHidden = useHidden();
  /** Number of changes received when the pause began; undefined while nothing is paused. */
  const pausedAt = useRef<number | undefined>(undefined);
  const [isPaused, markPaused] = useState(false);
  useEffect(() => {
    pausedAt.current = isPaused ? 0 : undefined;
    setCommits([]);
    setFigures(NO_FIGURES);
  }, [feed]);
  useEffect(() => {
    if (isHidden) return;
    const end = new AbortController();
    const drawing = drawer(() => {
      if (pausedAt.current === undefined) setCommits(feed.commits());
    });
    /** Whether a table or an index has changed since the lists of them were read. */
    let isOutdated = false;
    const tick = ticker(feed, () => pausedAt.current, setFigures);
    const ticks = setInterval(() => {
      tick();
      if (isOutdated) void loadCatalog();
      isOutdated = false;
    }, TICK_MS);
    void followChanges({
      feed,
      onChange: ({ op }) => {
        drawing.wake();
        if (/^(table|index)_/.test(op)) isOutdated = true;
      },
      url: serviceUrl(),
      key: session.value?.key ?? '',
      table,
      recent: run.recent,
      signal: end.signal,
      fetch: watchedFetch,
      newest: async () => (await connection().json<WalStatus>('getWal')).last_lsn,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      onState: setState,
    });
    return () => {
      end.abort();
      drawing.stop();
      clearInterval(ticks);
    };
  }, [feed, attempt, isHidden]);
  return {
    commits,
    state,
    ...figures,
    isPaused,
    setPaused: (paused) => {
      pausedAt.current = paused ? feed.seen : undefined;
      markPaused(paused);
      setFigures({ ...figures, missed: 0 });
      setCommits(feed.commits());
    },
    tryAgain: () => setAttempt(attempt + 1),
    startAtNewest: () => setRun({ turn: run.turn + 1, recent: 0 }),
  };
}

function useHidden(): boolean {
  const [isHidden, setHidden] = useState(document.hidden);
  useEffect(() => {
    const look = () => setHidden(document.hidden);
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return isHidden;
}

/** Returns a function that computes the figures, to be called once a second. */
function ticker(feed: ChangeFeed, pausedAt: () => number | undefined, onFigures: (figures: Figures) => void) {
  let { seen } = feed;
  let seenAtReport = seen;
  let reported = 0;
  let ticks = 0;
  let atMs = performance.now();
  return () => {
    const nowMs = performance.now();
    const rate = ((feed.seen - seen) * 1000) / (nowMs - atMs);
    seen = feed.seen;
    atMs = nowMs;
    ticks += 1;
    if (ticks % TICKS_A_REPORT === 0) {
      reported = seen - seenAtReport;
      seenAtReport = seen;
    }
    onFigures({ rate, reported, missed: seen - (pausedAt() ?? seen) });
  };
}

/** Calls `draw` in an animation frame after `wake`, at most once in `DRAW_MS`. */
function drawer(draw: () => void) {
  let pending = 0;
  let drawnMs = 0;
  const frame = (nowMs: number) => {
    pending = 0;
    if (nowMs - drawnMs < DRAW_MS) {
      pending = requestAnimationFrame(frame);
      return;
    }
    drawnMs = nowMs;
    draw();
  };
  return {
    wake: () => {
      if (pending === 0) pending = requestAnimationFrame(frame);
    },
    stop: () => cancelAnimationFrame(pending),
  };
}
