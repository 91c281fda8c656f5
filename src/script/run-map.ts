import { fromBytes, type Bytes } from '../base/bytes.js';
import { planMaps, type MapGroup } from './map-plan.js';
import type { MapPart, MapTask, Program } from './messages.js';
import { joinDocs } from './project.js';
import { chunks, idOf, MissingProgram, prepare, ResultMeter, type SandboxPlace } from './run-task.js';
import { Exhausted } from './sandbox.js';

/** Runs map functions. What they throw costs the rows of that document, and is noted. */
export async function runMap(
  place: SandboxPlace,
  { program, docs }: MapTask,
  notes: string[],
): Promise<MapPart[]> {
  const groups = planOf(program);
  const parts: MapPart[] = [];
  const meter = new ResultMeter(place.resultBytesMax);
  const add = (part: MapPart): void => {
    meter.add(part.text);
    parts.push(part);
  };
  for (const chunk of chunks(docs)) {
    for (const group of groups) {
      try {
        add(runGroup(place, program, group, chunk, false, notes));
      } catch (error) {
        if (!(error instanceof Exhausted)) throw error;
        // Some document needs all the memory, or more; which one shows when each has it for itself.
        for (const doc of chunk) add(await runAlone(place, program, group, doc, notes));
      }
    }
  }
  return parts;
}

function runGroup(
  { sandbox }: SandboxPlace,
  program: Program,
  group: MapGroup,
  docs: readonly Bytes[],
  alone: boolean,
  notes: string[],
): MapPart {
  const id = `map ${program.id}`;
  prepare(sandbox, id, 'maps', program);
  const text = sandbox.ask(id, 'map', [
    joinDocs(docs, group.members),
    JSON.stringify(group.which),
    alone ? '1' : '',
  ]);
  for (const note of sandbox.takeNotes()) notes.push(mapNote(note, docs));
  return { which: group.which, docs: docs.length, text };
}

async function runAlone(
  place: SandboxPlace,
  program: Program,
  group: MapGroup,
  doc: Bytes,
  notes: string[],
): Promise<MapPart> {
  await place.renew();
  try {
    return runGroup(place, program, group, [doc], true, notes);
  } catch (error) {
    if (!(error instanceof Exhausted)) throw error;
    await place.renew();
    notes.push(`A map function needed too much memory for the document ${idOf(doc)}, which it skips.`);
    return { which: group.which, docs: 1, text: '0,\n\n'.repeat(group.which.length) };
  }
}

function mapNote(note: unknown, docs: readonly Bytes[]): string {
  if (!Array.isArray(note)) return String(note);
  const [doc, , thrown] = note as [number, number, string];
  return `A map function threw ${thrown} for the document ${idOf(docs[doc]!)}, which it skips.`;
}

/** How the functions of a program are run, by its id: a matter of their texts alone. */
const plans = new Map<string, readonly MapGroup[]>();
const plansMax = 100;

function planOf({ id, texts }: Program): readonly MapGroup[] {
  const known = plans.get(id);
  if (known !== undefined) return known;
  if (texts === undefined) throw new MissingProgram();
  const { groups } = planMaps(JSON.parse(fromBytes(texts[0]!)) as string[], texts[1] !== '');
  if (plans.size >= plansMax) plans.clear();
  plans.set(id, groups);
  return groups;
}
