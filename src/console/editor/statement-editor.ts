// Creates the statement editor. It is inside a shadow tree, where its styles work under a content
// security policy that forbids inline styles.

import type { Table } from '../../client/index.ts';
import {
  Compartment,
  Decoration,
  type DecorationSet,
  EditorState,
  EditorView,
  type KeyBinding,
  keymap,
  Prec,
  placeholder,
  StateEffect,
  StateField,
} from './code-mirror.ts';
import { colours } from './colours.ts';
import { look } from './look.ts';
import { typedOver } from './typed-over.ts';

export interface EditorInput {
  readonly text: string;
  readonly label: string;
  readonly tables: () => readonly Table[];
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
  /**
   * Returns an older statement (-1) or a newer one (1) of the history; undefined when there is
   * none.
   */
  readonly recall: (step: -1 | 1) => string | undefined;
}

export interface StatementEditor {
  setText(text: string): void;
  /** Marks the token at a place (1-based, in characters) until the text changes. */
  markFault(place: { readonly line: number; readonly column: number }): void;
  /** Inserts the text in place of the selection. */
  insert(text: string): void;
  /** Returns the position of the caret, in UTF-16 units. */
  place(): number;
  focus(): void;
  destroy(): void;
}

const setFault = StateEffect.define<{ from: number; to: number }>();
const faultMark = Decoration.mark({ class: 'cm-fault' });

const faults = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, change) => {
    let next = change.docChanged ? Decoration.none : marks;
    for (const effect of change.effects) {
      if (effect.is(setFault)) next = Decoration.set([faultMark.range(effect.value.from, effect.value.to)]);
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

export function createEditor(host: HTMLElement, input: EditorInput): StatementEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const later = new Compartment();
  let isGone = false;
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: input.text,
      extensions: [
        later.of([]),
        Prec.highest(keymap.of(ownKeys(input))),
        // The marker that turns a line into a comment.
        EditorState.languageData.of(() => [{ commentTokens: { line: '//' } }]),
        colours,
        faults,
        look,
        typedOver,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': input.label }),
        placeholder('MATCH (e:table) WHERE ... RETURN ...'),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) input.onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  const stopWaiting = onceInUse(view, async () => {
    const { typing } = await import('./typing.ts');
    if (!isGone) view.dispatch({ effects: later.reconfigure(typing(input.tables)) });
  });
  return {
    setText: (text) => {
      if (text !== view.state.doc.toString()) replaceAll(view, text);
    },
    insert: (text) => {
      view.dispatch(view.state.replaceSelection(text), { scrollIntoView: true });
      view.focus();
    },
    place: () => view.state.selection.main.from,
    markFault: ({ line, column }) => {
      const range = rangeAt(view.state.doc.toString(), line, column);
      view.dispatch({ effects: setFault.of(range), selection: { anchor: range.from }, scrollIntoView: true });
    },
    focus: () => view.focus(),
    destroy: () => {
      isGone = true;
      stopWaiting();
      view.destroy();
    },
  };
}

/**
 * Calls `work` at the first use of the editor; until then the browser itself moves the caret and
 * deletes. When the work fails, it is tried again at the next use. Returns a function that stops
 * waiting.
 */
function onceInUse({ dom, contentDOM }: EditorView, work: () => Promise<void>): () => void {
  let waiting = new AbortController();
  const wait = () => {
    const { signal } = waiting;
    dom.addEventListener('pointerenter', begin, { signal });
    contentDOM.addEventListener('focus', begin, { signal });
  };
  const begin = () => {
    waiting.abort();
    waiting = new AbortController();
    work().catch(wait);
  };
  wait();
  return () => waiting.abort();
}

function ownKeys(input: EditorInput): KeyBinding[] {
  const recall = (step: -1 | 1) => (view: EditorView) => {
    const text = input.recall(step);
    if (text !== undefined) replaceAll(view, text);
    return true;
  };
  const run = () => {
    input.onRun();
    return true;
  };
  return [
    { key: 'Mod-Enter', run, preventDefault: true },
    { key: 'Alt-ArrowUp', run: recall(-1) },
    { key: 'Alt-ArrowDown', run: recall(1) },
  ];
}

function replaceAll(view: EditorView, text: string): void {
  view.dispatch({
    changes: { from: 0, to: view.state.doc.length, insert: text },
    selection: { anchor: text.length },
  });
}

/**
 * Returns the range from the place to the end of the word there, at least one character. Columns
 * count characters, not UTF-16 units.
 */
export function rangeAt(text: string, line: number, column: number): { from: number; to: number } {
  const lines = text.split('\n');
  const before = lines.slice(0, line - 1).reduce((sum, item) => sum + item.length + 1, 0);
  const units = [...(lines[line - 1] ?? '')].slice(0, column - 1).join('').length;
  const from = Math.min(before + units, Math.max(0, text.length - 1));
  const length = /^(?:\w+|[^\w\s])/.exec(text.slice(from))?.[0].length ?? 1;
  return { from, to: Math.min(text.length, from + length) };
}
