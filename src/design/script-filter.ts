import { asBytes, toBytes, type Bytes } from '../base/bytes.js';
import { FunctionError, notFound } from '../base/errors.js';
import type { DdocProgram, ScriptHost } from '../script/script-host.js';
import type { Database } from '../node/database.js';
import { openDesignDoc, requireJavascript, scriptSpace } from './design-functions.js';

/** A function of a design document that says of documents whether a feed shows them. */
export class ScriptFilter {
  private constructor(
    private readonly scripts: ScriptHost,
    private readonly space: string,
    private readonly program: DdocProgram,
    private readonly path: readonly string[],
    private readonly shared: Bytes,
  ) {}

  /** By the filter function of that name; `request` is JSON of what it is given as second argument. */
  static byFunction(
    scripts: ScriptHost,
    database: Database,
    ddoc: string,
    name: string,
    request: Bytes,
  ): ScriptFilter {
    return ScriptFilter.#open(scripts, database, ddoc, ['filters', name], asBytes(`[${request}]`));
  }

  /** By whether the map function of that view emits anything. */
  static byView(scripts: ScriptHost, database: Database, ddoc: string, view: string): ScriptFilter {
    return ScriptFilter.#open(scripts, database, ddoc, ['views', view, 'map'], asBytes('[]'));
  }

  static #open(
    scripts: ScriptHost,
    database: Database,
    ddoc: string,
    path: readonly string[],
    shared: Bytes,
  ): ScriptFilter {
    const { program, value } = openDesignDoc(database, toBytes(ddoc));
    requireMember(value, path);
    requireJavascript(value);
    return new ScriptFilter(scripts, scriptSpace(database), program, path, shared);
  }

  /** Whether each document passes. They are JSON text, deleted ones too, with `_revisions` where the feed has them. */
  async accepts(docs: readonly Bytes[]): Promise<boolean[]> {
    const calls = docs.map((doc) => asBytes(`[${doc}]`));
    const values = await this.scripts.call(this.space, this.program, this.path, calls, this.shared);
    return values.map((value) => {
      if ('ok' in value) return value.ok === 'true';
      throw new FunctionError(value.error, value.reason);
    });
  }
}

/** Refuses a path of a design document that leads nowhere. */
export function requireMember(ddoc: Readonly<Record<string, unknown>>, path: readonly string[]): void {
  let value: unknown = ddoc;
  for (const name of path) {
    const members = typeof value === 'object' && value !== null ? value : {};
    if (!Object.hasOwn(members, name)) throw notFound(`missing json key: ${name}`);
    value = (members as Record<string, unknown>)[name];
  }
}
