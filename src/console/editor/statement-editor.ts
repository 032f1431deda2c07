// The statement editor itself: one editor in a shadow tree, where its styles pass a policy without inline styles.

import type { Table } from '../../client/index.ts';
import {
  acceptCompletion,
  autocompletion,
  bracketMatching,
  completionKeymap,
  Decoration,
  type DecorationSet,
  defaultKeymap,
  EditorState,
  EditorView,
  history,
  historyKeymap,
  keymap,
  Prec,
  placeholder,
  StateEffect,
  StateField,
  syntaxHighlighting,
} from './code-mirror.ts';
import { completionOf } from './completion.ts';
import { statementColours, statementLanguage } from './language.ts';

export interface EditorInput {
  readonly text: string;
  readonly label: string;
  readonly tables: () => readonly Table[];
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
  /** An older statement (-1) or a newer one (1) of the history; undefined when there is none. */
  readonly recall: (step: -1 | 1) => string | undefined;
}

export interface StatementEditor {
  setText(text: string): void;
  /** Marks what stands at a place (from 1, in characters) until the text changes. */
  markFault(line: number, column: number): void;
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

const look = EditorView.theme({
  '&': { fontSize: '14px', backgroundColor: 'transparent', color: 'var(--ink)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', minHeight: '108px', maxHeight: '300px' },
  '.cm-content': { padding: '12px 4px', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 12px' },
  '.cm-placeholder': { color: 'var(--quiet)' },
  '.cm-fault': {
    textDecoration: 'underline wavy var(--berry)',
    textUnderlineOffset: '4px',
    backgroundColor: 'var(--berry-soft)',
  },
  '.cm-matchingBracket': { backgroundColor: 'var(--leaf-soft) !important' },
  '.cm-tooltip': {
    backgroundColor: 'var(--panel)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
  },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--leaf)', color: 'var(--on-leaf)' },
  '.cm-completionDetail': { color: 'inherit', opacity: '0.8' },
});

export function createEditor(host: HTMLElement, input: EditorInput): StatementEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const replaceAll = (view: EditorView, text: string) => {
    view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert: text },
      selection: { anchor: text.length },
    });
  };
  const recall = (step: -1 | 1) => (view: EditorView) => {
    const text = input.recall(step);
    if (text !== undefined) replaceAll(view, text);
    return true;
  };
  const run = () => {
    input.onRun();
    return true;
  };
  const keys = [
    { key: 'Mod-Enter', run, preventDefault: true },
    { key: 'Alt-ArrowUp', run: recall(-1) },
    { key: 'Alt-ArrowDown', run: recall(1) },
    // Tab takes a completion when one is offered; else it leaves the editor, as it does everywhere on the page.
    { key: 'Tab', run: acceptCompletion },
  ];
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: input.text,
      extensions: [
        Prec.highest(keymap.of(keys)),
        history(),
        bracketMatching(),
        autocompletion({ override: [completionOf(input.tables)], icons: false }),
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        statementLanguage,
        syntaxHighlighting(statementColours),
        faults,
        look,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': input.label }),
        placeholder('MATCH (e:table) WHERE ... RETURN ...'),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) input.onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setText: (text) => {
      if (text !== view.state.doc.toString()) replaceAll(view, text);
    },
    markFault: (line, column) => {
      const range = rangeAt(view.state.doc.toString(), line, column);
      view.dispatch({ effects: setFault.of(range), selection: { anchor: range.from }, scrollIntoView: true });
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

/** From the place to the end of the word there, one character at least. Columns count characters, not UTF-16 units. */
export function rangeAt(text: string, line: number, column: number): { from: number; to: number } {
  const lines = text.split('\n');
  const before = lines.slice(0, line - 1).reduce((sum, item) => sum + item.length + 1, 0);
  const units = [...(lines[line - 1] ?? '')].slice(0, column - 1).join('').length;
  const from = Math.min(before + units, Math.max(0, text.length - 1));
  const length = /^(?:\w+|[^\w\s])/.exec(text.slice(from))?.[0].length ?? 1;
  return { from, to: Math.min(text.length, from + length) };
}
