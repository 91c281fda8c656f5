import type { Runtime } from '../base/runtime.js';
import type { Bytes } from '../base/bytes.js';
import type { MapProgram, ScriptHost, SearchApi } from '../script/script-host.js';
import type { ViewDefinition } from './definition.js';
import { FieldsMapper } from './fields-mapper.js';
import { spaceOf, type IndexJob } from './index-job.js';
import type { Mapped, Mapper } from './mapper-contract.js';
import type { OpenIndex } from './open-index.js';
import { TextMapper } from './text-mapper.js';

/** Runs map functions in the sandbox. */
class ScriptMapper implements Mapper {
  readonly isElsewhere = true;
  readonly #program: MapProgram;

  constructor(
    private readonly scripts: ScriptHost,
    private readonly space: string,
    views: readonly ViewDefinition[],
    lib: Bytes | undefined,
  ) {
    this.#program = {
      id: views.map(({ signature }) => signature).join(),
      lib,
      maps: views.map(({ map }) => ('source' in map ? map.source : '')),
      searchApi: searchApiOf(views),
    };
  }

  map(docs: readonly Bytes[]): Promise<Mapped> {
    return this.scripts.map(this.space, this.#program, docs);
  }
}

function searchApiOf([view]: readonly ViewDefinition[]): SearchApi | undefined {
  return view?.map.kind === 'search' ? (view.map.api ?? 'search') : undefined;
}

export function mapperOf(
  scripts: ScriptHost,
  job: IndexJob,
  group: readonly OpenIndex[],
  runtime: Runtime,
): Mapper {
  const views = group.map(({ view }) => view);
  if (views.every(({ map }) => map.kind === 'fields')) return new FieldsMapper(views, runtime);
  if (views.every(({ map }) => map.kind === 'text')) return new TextMapper(views, runtime);
  return new ScriptMapper(scripts, spaceOf(job.instance), views, job.lib);
}
