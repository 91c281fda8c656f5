import fs from 'node:fs';
import path from 'node:path';

/** One request and what the reference answered. `README.md` beside the recordings' source explains each member. */
export interface Step {
  do?: string;
  as?: string;
  body?: unknown;
  text?: string;
  base64?: string;
  headers?: Record<string, string | null>;
  save?: Record<string, string>;
  sleep_ms?: number;
  timeout_ms?: number;
  /** Reads the answer for so long, and hangs up. */
  for_ms?: number;
  /** The body is one JSON value a line. */
  lines?: boolean;
  until?: { path: string; equals: unknown };
  any?: string[];
  ignore?: string[];
  unordered?: string[];
  check?: ('status' | 'headers' | 'body')[];
  body_has?: string[];
  cookies?: boolean;
  setup?: boolean;
  seen?: Expected;
  want?: Expected;
}

export interface Expected {
  status?: number | number[];
  headers?: Record<string, string | null>;
  body?: unknown;
}

export interface Scenario {
  name: string;
  why?: string;
  steps: Step[];
  /** Run in any case, to leave the server as it was. */
  finally?: Step[];
}

/** The recordings are read where they lie in the sources: the compiler does not copy them. */
const casesFolder = path.resolve(import.meta.dirname, '../../../test/golden/cases');

export interface Family {
  name: string;
  scenarios: Scenario[];
}

export function readFamilies(): Family[] {
  const files = fs.readdirSync(casesFolder).filter((file) => file.endsWith('.json'));
  return files.sort().map((file) => ({
    name: path.basename(file, '.json'),
    scenarios: JSON.parse(fs.readFileSync(path.join(casesFolder, file), 'utf8')) as Scenario[],
  }));
}
