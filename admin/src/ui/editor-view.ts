import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import type { CompletionSource } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { linter, lintGutter, setDiagnostics } from '@codemirror/lint';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Annotation, Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { editorTheme, highlighting } from './editor-theme.js';

export interface EditorOptions {
  label: string;
  language: 'json' | 'javascript';
  isReadOnly?: boolean;
  /** A text to show the differences from. */
  original?: string | undefined;
  /** A complaint of the server about the text. */
  problem?: string | undefined;
  completion?: CompletionSource;
  onChange?: (text: string) => void;
  /** Ctrl-Enter, or Cmd-Enter. */
  onSubmit?: () => void;
}

export interface EditorHandle {
  setText: (text: string) => void;
  setOriginal: (text: string | undefined) => void;
  setProblems: (problem: string | undefined) => void;
  destroy: () => void;
}

/** Marks a text that the page has set: it is no news to the page. */
const isSet = Annotation.define<true>();

/** Colouring and folding of megabytes would stall the page; such a text is shown plainly. */
const richLengthMax = 2_000_000;

export function createEditor(host: HTMLElement, text: string, options: EditorOptions): EditorHandle {
  const root = styleRoot(host);
  const comparison = new Compartment();
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({ doc: text, extensions: [extensionsOf(text, options), comparison.of([])] }),
  });
  return {
    setText: (next) => {
      if (next === view.state.doc.toString()) return;
      const changes = { from: 0, to: view.state.doc.length, insert: next };
      view.dispatch({ changes, annotations: isSet.of(true) });
    },
    setOriginal: (original) => {
      const shown = original === undefined ? [] : unifiedMergeView({ original, mergeControls: false });
      view.dispatch({ effects: comparison.reconfigure(shown) });
    },
    setProblems: (message) => {
      const end = Math.min(view.state.doc.line(1).to, view.state.doc.length);
      const found = message === undefined ? [] : [{ from: 0, to: end, severity: 'error' as const, message }];
      view.dispatch(setDiagnostics(view.state, found));
    },
    destroy: () => view.destroy(),
  };
}

/** Shows two texts beside each other, with their differences. */
export function createComparison(host: HTMLElement, left: string, right: string): { destroy: () => void } {
  const root = styleRoot(host);
  const side = (label: string, text: string) => ({
    doc: text,
    extensions: extensionsOf(text, { label, language: 'json', isReadOnly: true }),
  });
  return new MergeView({
    root,
    parent: root,
    a: side('Left revision', left),
    b: side('Right revision', right),
    collapseUnchanged: { margin: 3, minSize: 8 },
  });
}

/** In a shadow root the editor adds its styles by an interface that the content security policy allows. */
function styleRoot(host: HTMLElement): ShadowRoot {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  root.replaceChildren();
  return root;
}

function extensionsOf(text: string, options: EditorOptions): Extension {
  const isRich = text.length <= richLengthMax;
  const submit = (): boolean => {
    options.onSubmit?.();
    return options.onSubmit !== undefined;
  };
  return [
    keymap.of([{ key: 'Mod-Enter', run: submit }]),
    lineNumbers(),
    highlightSpecialChars({ addSpecialChars: /[\u061c\u2060-\u2069\u202a-\u202e]/ }),
    drawSelection(),
    history(),
    editorTheme,
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': options.label }),
    EditorState.readOnly.of(options.isReadOnly ?? false),
    EditorView.updateListener.of((update) => {
      const isTyped = update.docChanged && !update.transactions.some((each) => each.annotation(isSet));
      if (isTyped) options.onChange?.(update.state.doc.toString());
    }),
    isRich ? richExtensions(options) : [],
    keymap.of([
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...foldKeymap,
      ...completionKeymap,
    ]),
    // Tab indents only where text is written; Escape, then Tab leaves the editor.
    options.isReadOnly ? [] : keymap.of([indentWithTab]),
  ];
}

function richExtensions({ language, isReadOnly, completion }: EditorOptions): Extension {
  return [
    language === 'json' ? json() : javascript(),
    syntaxHighlighting(highlighting),
    bracketMatching(),
    closeBrackets(),
    indentOnInput(),
    foldGutter(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    completion ? autocompletion({ override: [completion] }) : [],
    isReadOnly ? [] : lintGutter(),
    language === 'json' && !isReadOnly ? linter(jsonParseLinter()) : [],
  ];
}
