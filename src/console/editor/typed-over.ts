// What is typed over a selection is put in its place by the editor: the browser would keep the look
// of the old text by inline styles, which the policy refuses.

import { EditorView, type Extension } from './code-mirror.ts';

/** Not while an input method composes a character: that is the browser's to show. */
export const typedOver: Extension = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== 'insertText' || event.isComposing || !event.data) return false;
    const { from, to } = selectionIn(event, view);
    if (from >= to) return false;
    view.dispatch({
      changes: { from, to, insert: event.data },
      selection: { anchor: from + event.data.length },
      userEvent: 'input.type',
      scrollIntoView: true,
    });
    event.preventDefault();
    return true;
  },
});

/**
 * The browser's own, which may be newer than what the editor knows; not every browser tells it
 * across a shadow tree.
 */
function selectionIn(event: InputEvent, view: EditorView): { readonly from: number; readonly to: number } {
  const [range] = event.getTargetRanges();
  const isTold =
    range !== undefined &&
    view.contentDOM.contains(range.startContainer) &&
    view.contentDOM.contains(range.endContainer);
  if (!isTold) return view.state.selection.main;
  return {
    from: view.posAtDOM(range.startContainer, range.startOffset),
    to: view.posAtDOM(range.endContainer, range.endOffset),
  };
}
