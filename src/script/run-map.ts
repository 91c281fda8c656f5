import { asBytes, fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import { idOf } from './doc-id.js';
import { planMaps, type MapGroup } from './map-plan.js';
import { exceededDocsMax, type ExceededDoc, type MapPart, type MapTask, type Program } from './messages.js';
import { joinDocs } from './project.js';
import type { MapMemory } from './map-memory.js';
import { chunks, MissingProgram, prepare, ResultMeter, type SandboxPlace } from './run-task.js';
import { Exhausted } from './sandbox.js';

/** What map functions made of documents, and where they needed too much memory. */
interface MapOutcome {
  parts: MapPart[];
  exceeded: ExceededDoc[];
}

/** Runs map functions. What they throw costs the rows of that document, and is noted. */
export function runMap(place: SandboxPlace, task: MapTask, notes: string[]): Promise<MapOutcome> {
  return new MapRun(place, task, notes).run();
}

class MapRun {
  readonly #parts: MapPart[] = [];
  readonly #exceeded: ExceededDoc[] = [];
  readonly #meter: ResultMeter;
  readonly #before: Map<number, Set<string>>;

  constructor(
    private readonly place: SandboxPlace,
    private readonly task: MapTask,
    private readonly notes: string[],
  ) {
    this.#meter = new ResultMeter(place.resultBytesMax);
    const key = `${task.space} ${task.program.id}`;
    this.#before = place.maps.exceeded.get(key) ?? new Map<number, Set<string>>();
    place.maps.exceeded.set(key, this.#before);
    // Why functions that are not run any more give no rows must be known to the one who takes them.
    for (const [map, ids] of this.#before)
      if (ids.size >= exceededDocsMax) for (const id of ids) this.#exceeded.push({ map, id });
  }

  async run(): Promise<MapOutcome> {
    const groups = await planOf(this.task.program, this.place.maps);
    for (const chunk of chunks(this.task.docs)) {
      for (const group of groups) await this.#runChunk(group, chunk);
    }
    return { parts: this.#parts, exceeded: this.#exceeded };
  }

  async #runChunk(group: MapGroup, docs: readonly Bytes[]): Promise<void> {
    const running = this.#stillRunning(group);
    if (running.which.length > 0) {
      try {
        this.#add(this.#runGroup(running, docs, false));
      } catch (error) {
        if (!(error instanceof Exhausted)) throw error;
        // Some document needs all the memory, or more; which one shows when each has it for itself.
        for (const doc of docs) await this.#runAlone(running, doc);
      }
    }
    this.#skip(without(group, running), docs.length);
  }

  /** Runs functions on one document, each for itself where they need too much memory together. */
  async #runAlone(group: MapGroup, doc: Bytes): Promise<void> {
    const running = this.#stillRunning(group);
    this.#skip(without(group, running), 1);
    if (running.which.length === 0) return;
    await this.place.renew();
    try {
      this.#add(this.#runGroup(running, [doc], true));
    } catch (error) {
      if (!(error instanceof Exhausted)) throw error;
      if (running.which.length > 1) {
        for (const map of running.which) await this.#runAlone({ ...running, which: [map] }, doc);
        return;
      }
      await this.place.renew();
      this.notes.push(`A map function needed too much memory for the document ${idOf(doc)}, which it skips.`);
      this.#skip(running, 1);
      this.#blame(running.which[0]!, doc);
    }
  }

  #runGroup(group: MapGroup, docs: readonly Bytes[], alone: boolean): MapPart {
    const { sandbox } = this.place;
    const { program } = this.task;
    const id = `map ${program.id}`;
    prepare(sandbox, id, 'maps', program);
    const text = sandbox.ask(id, 'map', [
      joinDocs(docs, group.members),
      toBytes(JSON.stringify(group.which)),
      asBytes([...(alone ? ['alone'] : []), ...(group.mayChange ? ['frozen'] : [])].join()),
    ]);
    for (const note of sandbox.takeNotes()) this.#takeNote(note, docs);
    return { which: group.which, docs: docs.length, text };
  }

  #takeNote(note: unknown, docs: readonly Bytes[]): void {
    if (!Array.isArray(note)) return void this.notes.push(String(note));
    const [doc, map, thrown, exhausted] = note as [number, number, string, boolean];
    this.notes.push(`A map function threw ${thrown} for the document ${idOf(docs[doc]!)}, which it skips.`);
    if (exhausted) this.#blame(map, docs[doc]!);
  }

  #blame(map: number, doc: Bytes): void {
    const id = idOf(doc);
    this.#before.set(map, (this.#before.get(map) ?? new Set<string>()).add(id));
    this.#exceeded.push({ map, id });
  }

  #stillRunning(group: MapGroup): MapGroup {
    const isRunning = (map: number): boolean => (this.#before.get(map)?.size ?? 0) < exceededDocsMax;
    return group.which.every(isRunning) ? group : { ...group, which: group.which.filter(isRunning) };
  }

  /** No rows of these functions for so many documents. */
  #skip({ which }: MapGroup, docs: number): void {
    if (which.length > 0)
      this.#add({ which, docs, text: asBytes(`${'0,'.repeat(docs)}\n\n`.repeat(which.length)) });
  }

  #add(part: MapPart): void {
    this.#meter.add(part.text);
    this.#parts.push(part);
  }
}

const without = (group: MapGroup, { which }: MapGroup): MapGroup => ({
  ...group,
  which: group.which.filter((map) => !which.includes(map)),
});

async function planOf({ id, texts }: Program, { plans }: MapMemory): Promise<readonly MapGroup[]> {
  const known = plans.get(id);
  if (known !== undefined) return known;
  if (texts === undefined) throw new MissingProgram();
  // The parser takes longer to load than all the rest of a thread, and most threads never map.
  const { parse } = await import('acorn');
  const { groups } = planMaps(parse, JSON.parse(fromBytes(texts[0]!)) as string[], texts[1] !== '');
  plans.set(id, groups);
  return groups;
}
