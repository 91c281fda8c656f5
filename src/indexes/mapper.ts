import type { Bytes } from '../base/bytes.js';
import { TimeSlice } from '../base/turns.js';
import type { MapProgram, ScriptHost } from '../script/script-host.js';
import { makeAnalyzer, type Analyzer } from '../search/analysis/analyzer.js';
import type { ViewDefinition } from './definition.js';
import type { Emitted } from './doc-rows.js';
import { FieldsMapper } from './fields-mapper.js';
import { spaceOf, type IndexJob } from './index-job.js';
import type { Mapped, Mapper } from './mapper-contract.js';
import type { OpenIndex } from './open-index.js';
import { fieldRows } from './search-rows.js';

/** Runs map functions in the sandbox. */
class ScriptMapper implements Mapper {
  readonly isElsewhere = true;
  readonly #program: MapProgram;

  constructor(
    private readonly scripts: ScriptHost,
    private readonly space: string,
    views: readonly ViewDefinition[],
    lib: Bytes | undefined,
    isSearch = false,
  ) {
    this.#program = {
      id: views.map(({ signature }) => signature).join(),
      lib,
      maps: views.map(({ map }) => (map.kind === 'fields' ? '' : map.source)),
      isSearch,
    };
  }

  map(docs: readonly Bytes[]): Promise<Mapped> {
    return this.scripts.map(this.space, this.#program, docs);
  }
}

/** Runs the functions of search indexes, and cuts the texts that they name into terms. */
class SearchMapper implements Mapper {
  readonly isElsewhere = true;
  readonly #scripts: ScriptMapper;
  #analyzers: Promise<readonly Analyzer[]> | undefined;

  constructor(
    scripts: ScriptHost,
    space: string,
    private readonly views: readonly ViewDefinition[],
    lib: Bytes | undefined,
  ) {
    this.#scripts = new ScriptMapper(scripts, space, views, lib, true);
  }

  async map(docs: readonly Bytes[]): Promise<Mapped> {
    this.#analyzers ??= Promise.all(
      this.views.map(({ map }) => makeAnalyzer(map.kind === 'search' ? map.analyzer : { name: 'standard' })),
    );
    const analyzers = await this.#analyzers;
    const mapped = await this.#scripts.map(docs);
    return {
      ...(mapped.exceeded === undefined ? {} : { exceeded: mapped.exceeded }),
      rows: async () => {
        const slice = new TimeSlice();
        const rows: (readonly Emitted[])[][] = [];
        for (const calls of await mapped.rows()) {
          const ofDoc: (readonly Emitted[])[] = [];
          for (const [i, analyzer] of analyzers.entries())
            ofDoc.push(await fieldRows(analyzer, calls[i]!, slice));
          rows.push(ofDoc);
        }
        return rows;
      },
    };
  }
}

export function mapperOf(scripts: ScriptHost, job: IndexJob, group: readonly OpenIndex[]): Mapper {
  const views = group.map(({ view }) => view);
  if (views.every(({ map }) => map.kind === 'fields')) return new FieldsMapper(views);
  const space = spaceOf(job.instance);
  return views.every(({ map }) => map.kind === 'search')
    ? new SearchMapper(scripts, space, views, job.lib)
    : new ScriptMapper(scripts, space, views, job.lib);
}
