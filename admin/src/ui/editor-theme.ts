import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The page's colours, which are variables of the style sheet, so that both follow light and dark. */
export const editorTheme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '13px', height: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--quiet)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'var(--hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '.cm-specialChar': { color: 'var(--danger)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    color: 'var(--text)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--text)' },
  '.cm-insertedLine, .cm-changedLine': { backgroundColor: 'var(--added) !important' },
  '.cm-deletedChunk, .cm-deletedLine': { backgroundColor: 'var(--removed) !important' },
  '&.cm-merge-a .cm-changedLine': { backgroundColor: 'var(--removed) !important' },
  '&.cm-merge-a .cm-changedText': { background: 'var(--removed-text) !important' },
  '.cm-changedText': { background: 'var(--changed) !important' },
  '.cm-collapsedLines': { background: 'var(--hover)', color: 'var(--quiet)' },
});

export const highlighting = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--code-name)' },
  { tag: [tags.string, tags.regexp], color: 'var(--code-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword], color: 'var(--code-keyword)' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: tags.invalid, color: 'var(--danger)' },
]);
