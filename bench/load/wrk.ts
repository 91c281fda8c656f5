import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Sample } from '../figures/figure.js';

const run = promisify(execFile);

export interface WrkRun {
  url: string;
  script: string;
  /** What the script gets. */
  args: string[];
  seconds: number;
  /** 32 if nothing is said. */
  connections?: number;
}

/** Requests at several connections. One thread: more would take the server's processor time. */
export async function wrk({ url, script, args, seconds, connections = 32 }: WrkRun): Promise<Sample> {
  const options = [
    '--threads',
    '1',
    '--connections',
    String(connections),
    '--duration',
    `${seconds}s`,
    '--script',
    script,
  ];
  const { stdout } = await run('wrk', [...options, url, '--', ...args]);
  const result = /RESULT requests=(\d+) us=(\d+) errors=(\d+)/.exec(stdout);
  if (result === null) throw new Error(`wrk gave no result:\n${stdout}`);
  const [requests, us, errors] = result.slice(1).map(Number) as [number, number, number];
  if (errors > 0 || requests === 0) throw new Error(`${errors} of ${requests} requests to ${url} failed.`);
  return { units: requests, seconds: us / 1e6 };
}

/** Asks at random for the paths in a file, one a line. */
const randomPaths = `
local requests = {}
function init(args)
  math.randomseed(tonumber(args[2]))
  for path in io.lines(args[1]) do requests[#requests + 1] = wrk.format("GET", path) end
end
function request() return requests[math.random(#requests)] end
`;

/** Posts at random the bodies in a file, one a line, to a path. */
const randomBodies = `
local requests = {}
function init(args)
  math.randomseed(tonumber(args[3]))
  local headers = { ["Content-Type"] = "application/json" }
  for body in io.lines(args[2]) do requests[#requests + 1] = wrk.format("POST", args[1], headers, body) end
end
function request() return requests[math.random(#requests)] end
`;

/** Saves new documents: the path before the id, the first part of the ids, a file with a body a line. */
const newDocuments = `
local tails, head, number = {}, nil, 0
function init(args)
  head = "PUT " .. args[1] .. args[2]
  for body in io.lines(args[3]) do
    tails[#tails + 1] = " HTTP/1.1\\r\\nHost: bench\\r\\nContent-Type: application/json\\r\\nContent-Length: " ..
      #body .. "\\r\\n\\r\\n" .. body
  end
end
function request()
  number = number + 1
  return head .. string.format("%012x", number) .. tails[number % #tails + 1]
end
`;

/** Puts attachments, each with bytes of its own: the path before the id, the first part of the ids, a file with bytes. */
const newAttachments = `
local head, rest, prefix, tail, number = nil, nil, nil, nil, 0
function init(args)
  local file = io.open(args[3], "rb")
  local bytes = file:read("*a")
  file:close()
  head = "PUT " .. args[1] .. args[2]
  tail = bytes:sub(13)
  rest = "/f HTTP/1.1\\r\\nHost: bench\\r\\nContent-Type: application/octet-stream\\r\\nContent-Length: " ..
    #bytes .. "\\r\\n\\r\\n"
  prefix = args[2]:sub(-4)
end
function request()
  number = number + 1
  local id = string.format("%08x", number)
  return head .. id .. rest .. prefix .. id .. tail
end
`;

const printResult = `
function done(summary)
  local e = summary.errors
  io.write(string.format("RESULT requests=%d us=%d errors=%d\\n", summary.requests, summary.duration,
    e.connect + e.read + e.write + e.timeout + e.status))
end
`;

export function writeScripts(
  folder: string,
): Record<'randomPaths' | 'randomBodies' | 'newDocuments' | 'newAttachments', string> {
  const write = (name: string, text: string): string => {
    const file = path.join(folder, name);
    fs.writeFileSync(file, text + printResult);
    return file;
  };
  return {
    randomPaths: write('random-paths.lua', randomPaths),
    randomBodies: write('random-bodies.lua', randomBodies),
    newDocuments: write('new-documents.lua', newDocuments),
    newAttachments: write('new-attachments.lua', newAttachments),
  };
}

/** Installs wrk where that is possible; tells what to do where it is not. */
export function ensureWrk(): void {
  if (isInstalled()) return;
  if (process.getuid?.() === 0) {
    console.error('Installing wrk…');
    const install = () =>
      spawnSync('apt-get', ['install', '-y', '-qq', 'wrk'], { stdio: ['ignore', 'ignore', 'inherit'] });
    if (install().status !== 0) {
      spawnSync('apt-get', ['update', '-qq'], { stdio: ['ignore', 'ignore', 'inherit'] });
      install();
    }
  }
  if (!isInstalled())
    throw new Error('The benchmarks need wrk: install it (Debian: apt-get install wrk) and try again.');
}

const isInstalled = (): boolean => spawnSync('wrk', ['-v']).error === undefined;
