/** One large document held against a selector, on a thread of its own: what is asked, and what is answered. */
import { fromBytes, type Bytes } from '../base/bytes.js';
import { MemberPicker } from '../json/raw-fields.js';
import { compileNode } from './compile.js';
import type { SelectorNode } from './node.js';
import { Projection } from './projection.js';

/** What does not change from document to document. */
export interface Evaluation {
  readonly selector: SelectorNode;
  /** The members that the selector looks at; undefined where it looks at the document as a whole. */
  readonly members: readonly string[] | undefined;
  /** What is to be shown of a document that matches; undefined where nothing has to be taken out of it. */
  readonly fields: readonly string[] | undefined;
}

export interface Evaluated {
  /** The document as the selector sees it, without members that are `added`; undefined for one that is known to match. */
  readonly text: Bytes | undefined;
  readonly added: Readonly<Record<string, string>>;
  /** The document as it is shown. Undefined where it is the same, or where no fields are to be taken out. */
  readonly shown: Bytes | undefined;
}

export interface Verdict {
  readonly matches: boolean;
  /** The fields that were asked for. */
  readonly fields: Bytes | undefined;
}

/** An evaluation with what it takes, made once. */
export class Evaluator {
  readonly #matches: (doc: unknown) => boolean;
  readonly #picker: MemberPicker | undefined;
  readonly #projection: Projection | undefined;

  constructor({ selector, members, fields }: Evaluation) {
    this.#matches = compileNode(selector);
    this.#picker = members && new MemberPicker(members);
    this.#projection = fields && new Projection(fields);
  }

  judge({ text, added, shown }: Evaluated): Verdict {
    const matches = text === undefined || this.#matches({ ...this.#parse(text), ...added });
    const source = shown ?? text;
    const fields = matches && source !== undefined ? this.#projection?.of(source) : undefined;
    return { matches, fields };
  }

  #parse(text: Bytes): Record<string, unknown> {
    const picked = this.#picker === undefined ? text : this.#picker.of(text);
    return JSON.parse(fromBytes(picked)) as Record<string, unknown>;
  }
}
