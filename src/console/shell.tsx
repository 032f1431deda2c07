// The frame around all views: names of views above, tables at the left, the hedge of time, the view itself.

import { Catalog } from './catalog.tsx';
import { EdgeDialog } from './edge-dialog.tsx';
import { Failure } from './failure.tsx';
import { given } from './given.ts';
import { forgetNames } from './node-names.ts';
import { type ComponentType, useEffect, useRef, useState } from './preact.ts';
import { forgetQuery } from './query/query-state.ts';
import { session, signOut } from './session.ts';
import { Hedge } from './sign-in.tsx';
import { catalogError, followAddress, forgetAll, loadCatalog, VIEWS, type ViewName, view } from './state.ts';
import { switchTheme, theme } from './theme.ts';
import { TimeStrip } from './time-strip.tsx';

/** Views come when they are first opened. */
const LOADERS: Readonly<Record<ViewName, () => Promise<ComponentType>>> = {
  query: async () => {
    // It asks for the editor as soon as it is there: so both are fetched side by side.
    import('./editor/statement-editor.ts').catch(() => {});
    return (await import('./query/query-view.tsx')).QueryView;
  },
  measures: () => import('./measures/measures-view.tsx').then((module) => module.MeasuresView),
  rules: () => import('./rules/rules-view.tsx').then((module) => module.RulesView),
  ask: () => import('./ask/ask-view.tsx').then((module) => module.AskView),
  import: () => import('./import/import-view.tsx').then((module) => module.ImportView),
  virtual: () => import('./virtual/virtual-view.tsx').then((module) => module.VirtualView),
  operations: () => import('./operations/operations-view.tsx').then((module) => module.OperationsView),
};

/** The view of the address is fetched while it is still found out whether a key is needed, and while one is typed. */
export function fetchView(): void {
  LOADERS[view.value]().catch(() => {});
}

/** Views that look at the chosen table through the window of time. */
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
  return (
    <div class="shell">
      <a class="skip" href={`#${name}`} onClick={() => document.getElementById('view')?.focus()}>
        Skip to the view
      </a>
      <Header />
      <Catalog />
      <main id="view" tabIndex={-1}>
        <Failure error={catalogError.value} title="The tables cannot be listed" />
        {OVER_TIME.has(name) && <TimeStrip />}
        <LazyView key={name} name={name} />
      </main>
      <EdgeDialog />
    </div>
  );
}

function Header() {
  const nav = useRef<HTMLElement>(null);
  const shown = view.value;
  useEffect(() => {
    // On narrow screens the names of the views do not all fit side by side.
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [shown]);
  const needsKey = session.value?.key !== '';
  // Whoever sends a link may send a key of their own along.
  const isByLink = needsKey && session.value?.key === given.key;
  const isDark = theme.value === 'dark';
  return (
    <header class="header">
      <span class="brand">
        <Hedge /> Hedgerow
      </span>
      <nav ref={nav} aria-label="Views">
        {VIEWS.map(([name, title]) => (
          <a key={name} href={`#${name}`} aria-current={shown === name ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
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

function LazyView({ name }: { name: ViewName }) {
  const [View, setView] = useState<{ Component: ComponentType } | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  useEffect(() => {
    LOADERS[name]().then((Component) => setView({ Component }), setError);
  }, [name]);
  if (error !== undefined) return <Failure error={error} title="This view could not be loaded; load the page anew" />;
  if (View === undefined) return <p class="waiting">Loading ...</p>;
  return <View.Component />;
}
