import { useState } from 'preact/hooks';
import type { LoadedDocument } from './document-page.js';

/** The browser's storage holds some megabytes; larger drafts live with the page only. */
const draftLengthMax = 500_000;

interface Draft {
  text: string;
  setText: (text: string) => void;
  /** Whether the text comes from an earlier visit. */
  isRestored: boolean;
  clear: () => void;
}

/** The text being edited, kept until it is saved: a reload or a detour to another page loses nothing. */
export function useDraft(name: string, doc: LoadedDocument): Draft {
  const key = `tuffet-draft:${name}`;
  const [stored] = useState(() => sessionStorage.getItem(key));
  const isRestored = stored !== null && stored !== doc.text;
  const [state, setState] = useState({ text: isRestored ? stored : doc.text, isRestored });
  const setText = (text: string): void => {
    setState((before) => ({ ...before, text }));
    if (text === doc.text) sessionStorage.removeItem(key);
    else if (text.length <= draftLengthMax) sessionStorage.setItem(key, text);
  };
  const clear = (): void => {
    sessionStorage.removeItem(key);
    setState({ text: doc.text, isRestored: false });
  };
  return { ...state, setText, clear };
}
