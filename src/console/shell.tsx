// The frame around all views: the names of the views at the top, the tables at the left, the strip
// that shows edges over time, and the view itself.

import { Boundary } from './boundary.tsx';
import { Catalog } from './catalog.tsx';
import { wantedEdge } from './edge-tag.tsx';
import { loadEditor } from './editor/editor-frame.tsx';
import { Failure } from './failure.tsx';
import { given } from './given.ts';
import { lazy } from './lazy.tsx';
import { forgetNames } from './node-names.ts';
import { type ComponentType, useEffect, useRef } from './preact.ts';
import { forgetQuery } from './query/query-state.ts';
import { QueryView } from './query/query-view.tsx';
import { session, signOut } from './session.ts';
import { Hedge } from './sign-in.tsx';
import {
  address,
  catalogError,
  followAddress,
  forgetAll,
  loadCatalog,
  titleOf,
  VIEWS,
  type ViewName,
  view,
} from './state.ts';
import { switchTheme, theme } from './theme.ts';
import { TimeStrip } from './time-strip.tsx';

/** Functions that load the views other than the query view, which is part of the first page. */
const LOADERS: Readonly<Record<Exclude<ViewName, 'query'>, () => Promise<ComponentType>>> = {
  measures: () => import('./measures/measures-view.tsx').then((module) => module.MeasuresView),
  rules: () => import('./rules/rules-view.tsx').then((module) => module.RulesView),
  ask: () => import('./ask/ask-view.tsx').then((module) => module.AskView),
  changes: () => import('./changes/changes-view.tsx').then((module) => module.ChangesView),
  import: () => import('./import/import-view.tsx').then((module) => module.ImportView),
  virtual: () => import('./virtual/virtual-view.tsx').then((module) => module.VirtualView),
  operations: () => import('./operations/operations-view.tsx').then((module) => module.OperationsView),
  node: () => import('./node/node-view.tsx').then((module) => module.NodeView),
};
const COMPONENTS: ReadonlyMap<ViewName, ComponentType> = new Map(
  [...VIEWS, 'node' as const].map((name) => [name, name === 'query' ? QueryView : lazy(LOADERS[name])]),
);
/**
 * Delay before the service note is loaded, so that the first rows arrive before it. It cannot be
 * loaded when it is needed, because the service that sends it is then unreachable.
 */
const NOTE_AFTER_MS = 1500;
const ServiceNote = lazy(async () => {
  await new Promise((resolve) => setTimeout(resolve, NOTE_AFTER_MS));
  return (await import('./service-note.tsx')).ServiceNote;
}, '');
const EdgeDialog = lazy(() => import('./edge-dialog.tsx').then((module) => module.EdgeDialog));

/**
 * Starts fetching the code of the view in the address. The fetch continues while the page finds out
 * whether a key is needed, and while the user types one.
 */
export function fetchView(): void {
  const name = view.value;
  const fetched: Promise<unknown> = name === 'query' ? loadEditor() : LOADERS[name]();
  fetched.catch(() => {});
}

/** Views that show the chosen table within the window of time. */
const OVER_TIME: ReadonlySet<ViewName> = new Set(['query', 'measures', 'rules', 'ask', 'import']);

export function Shell() {
  useEffect(() => {
    void loadCatalog();
    const unfollow = followAddress();
    return () => {
      unfollow();
      forgetAll();
      forgetQuery();
      forgetNames();
    };
  }, []);
  const name = view.value;
  const View = COMPONENTS.get(name)!;
  return (
    <div class="shell">
      <a class="skip" href={`#${address.value}`} onClick={() => document.getElementById('view')?.focus()}>
        Skip to the view
      </a>
      <Header />
      <Boundary>
        <Catalog />
      </Boundary>
      <main id="view" tabIndex={-1}>
        <Failure error={catalogError.value} title="The tables cannot be listed" />
        {OVER_TIME.has(name) && (
          <Boundary>
            <TimeStrip />
          </Boundary>
        )}
        <Boundary key={name}>
          <View />
        </Boundary>
      </main>
      {wantedEdge.value !== undefined && <EdgeDialog />}
    </div>
  );
}

function Header() {
  const nav = useRef<HTMLElement>(null);
  const shown = view.value;
  useEffect(() => {
    // On narrow screens not all names of views fit, so the current one is scrolled into view.
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [shown]);
  const needsKey = session.value?.key !== '';
  // A link may contain a key of its sender.
  const isByLink = needsKey && session.value?.key === given.key;
  const isDark = theme.value === 'dark';
  return (
    <header class="header">
      <span class="brand">
        <Hedge /> Hedgerow
      </span>
      <nav ref={nav} aria-label="Views">
        {VIEWS.map((name) => (
          <a key={name} href={`#${name}`} aria-current={shown === name ? 'page' : undefined}>
            {titleOf(name)}
          </a>
        ))}
      </nav>
      <ServiceNote />
      <span class="header-end">
        <button type="button" class="plain" onClick={switchTheme}>
          {isDark ? 'Light' : 'Dark'}
          <span class="sr-only"> theme</span>
        </button>
        {isByLink && (
          <span class="quiet" title="The key came with the link that was opened. Sign out to use one of your own.">
            Key of the link
          </span>
        )}
        {needsKey ? (
          <button type="button" class="plain" onClick={signOut}>
            Sign out
          </button>
        ) : (
          <span class="quiet" title="The service asks for no key: HEDGEROW_AUTH_DISABLED is set.">
            No key needed
          </span>
        )}
      </span>
    </header>
  );
}
