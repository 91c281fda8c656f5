import { setTimeout as sleep } from 'node:timers/promises';
import { canonical } from './canonical.js';
import { faultsOf } from './compare.js';
import type { Scenario, Step } from './scenario.js';
import { sendStep, type Target } from './send-step.js';
import { observe, tidy, type Observed } from './tidy.js';
import { databaseNames, fill, freshVariables, valueAt, type Variables } from './variables.js';

const retries = 100;
const retryAfterMs = 100;
const cleanUpsMax = 5;

/** Plays a scenario and cleans up after it. Returns what went wrong first, in words, or nothing. */
export async function replay(scenario: Scenario, target: Target): Promise<string | undefined> {
  const variables = freshVariables(target.url, target.credentials);
  try {
    for (const [index, step] of scenario.steps.entries()) {
      const faults = await perform(step, target, variables);
      if (faults.length > 0) return `step ${index}: ${step.do}\n${faults.join('\n')}`;
    }
    return undefined;
  } finally {
    await cleanUp(scenario.finally ?? [], target, variables);
    for (const name of databaseNames) await sendStep(target, { do: `DELETE /{${name}}` }, variables);
  }
}

/** A replication may still be noting in its document what became of it: its deletion is refused then, and tried again. */
async function cleanUp(steps: readonly Step[], target: Target, variables: Variables): Promise<void> {
  for (let attempt = 1; attempt <= cleanUpsMax; attempt++) {
    let isRefused = false;
    for (const step of steps) {
      if (step.do === undefined) continue;
      const observed = await observeStep(step, target, variables).catch(() => undefined);
      if (observed === undefined) continue;
      keep(step, observed, variables);
      isRefused ||= observed.status === 409;
    }
    if (!isRefused) return;
    await sleep(retryAfterMs);
  }
}

/** Longer pauses are what the reference needs to read its configuration again. */
const reloadMs = 3_000;
/** Events of databases are on disk after this; the reference takes longer. */
const eventsMs = 500;

async function perform(step: Step, target: Target, variables: Variables): Promise<string[]> {
  if (step.sleep_ms !== undefined && step.sleep_ms < reloadMs) {
    await sleep(step.do?.includes('/_db_updates') ? eventsMs : step.sleep_ms);
  }
  if (step.do === undefined) return [];
  const observed = await observeStep(step, target, variables);
  return [
    ...keep(step, observed, variables),
    ...(step.setup ? [] : faultsOf(step, tidy(observed, step, variables))),
  ];
}

/** Sends the request, again and again where the step waits for something to happen. */
async function observeStep(step: Step, target: Target, variables: Variables): Promise<Observed> {
  const method = step.do!.split(' ', 1)[0]!;
  for (let attempt = 1; ; attempt++) {
    const observed = observe(await sendStep(target, step, variables), method, step.lines);
    const { until } = step;
    if (until === undefined || attempt === retries) return observed;
    if (canonical(valueAt(observed, until.path)) === canonical(fill(until.equals, variables))) {
      return observed;
    }
    await sleep(retryAfterMs);
  }
}

function keep(step: Step, observed: Observed, variables: Variables): string[] {
  return Object.entries(step.save ?? {}).flatMap(([name, path]) => {
    const value = valueAt(observed, path);
    variables[name] =
      value === undefined ? '<none>' : typeof value === 'string' ? value : JSON.stringify(value);
    if (value !== undefined) return [];
    return [`nothing at ${path} to keep as ${name}: ${JSON.stringify(observed.body)}`];
  });
}
