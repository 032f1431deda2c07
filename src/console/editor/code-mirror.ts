// The one door to the editor library: what the statement editor takes from its packages.

export {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete';
export { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
export {
  bracketMatching,
  HighlightStyle,
  StreamLanguage,
  type StringStream,
  syntaxHighlighting,
} from '@codemirror/language';
export { EditorState, Prec, StateEffect, StateField } from '@codemirror/state';
export { Decoration, type DecorationSet, EditorView, keymap, placeholder } from '@codemirror/view';
export { tags } from '@lezer/highlight';
