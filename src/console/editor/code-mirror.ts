// The one door to the editor library: what the statement editor takes from its two core packages.

export {
  Compartment,
  EditorSelection,
  EditorState,
  type Extension,
  findClusterBreak,
  Prec,
  StateEffect,
  StateField,
  type Text,
} from '@codemirror/state';
export {
  type Command,
  Decoration,
  type DecorationSet,
  EditorView,
  type KeyBinding,
  keymap,
  placeholder,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';
