import type { CompareRequest } from './request.js';

const replaysMax = 60;

/**
 * Leaves out of a sequence what is not needed for its last request to fail: other requests first, then parameters,
 * headers and members of bodies. `fails` replays a sequence from the start,
 * and is true for the whole one.
 */
export async function shrink(
  requests: readonly CompareRequest[],
  fails: (requests: readonly CompareRequest[]) => Promise<boolean>,
): Promise<readonly CompareRequest[]> {
  let replays = 0;
  const stillFails = async (candidate: readonly CompareRequest[]): Promise<boolean> =>
    ++replays <= replaysMax && (await fails(candidate));
  let shortest = await withoutOthers(requests, stillFails);
  for (let at = shortest.length - 1; at >= 0; at--) shortest = await simplify(shortest, at, stillFails);
  return shortest;
}

type Test = (requests: readonly CompareRequest[]) => Promise<boolean>;

/** Leaves out ever shorter stretches of what comes before the last request. */
async function withoutOthers(
  requests: readonly CompareRequest[],
  fails: Test,
): Promise<readonly CompareRequest[]> {
  let shortest = requests;
  for (let length = shortest.length - 1; length >= 1; length = Math.floor(length / 2)) {
    for (let from = shortest.length - 1 - length; from >= 0; from -= length) {
      const candidate = shortest.toSpliced(from, length);
      if (await fails(candidate)) shortest = candidate;
    }
  }
  return shortest;
}

async function simplify(
  requests: readonly CompareRequest[],
  at: number,
  fails: Test,
): Promise<readonly CompareRequest[]> {
  let shortest = requests;
  for (let tried = 0; ;) {
    const simpler = simplerRequests(shortest[at]!);
    if (tried >= simpler.length) return shortest;
    const candidate = shortest.with(at, simpler[tried]!);
    if (await fails(candidate)) shortest = candidate;
    else tried++;
  }
}

/** The request without one of its parts, in every way. */
function simplerRequests(request: CompareRequest): CompareRequest[] {
  const { path, headers = {}, body } = request;
  const [bare = '', query = ''] = path.split(/\?(.*)/s);
  const parameters = query === '' ? [] : query.split('&');
  return [
    ...parameters.map((_, at) => {
      const left = parameters.toSpliced(at, 1).join('&');
      return { ...request, path: left === '' ? bare : `${bare}?${left}` };
    }),
    ...Object.keys(headers).map((name) => ({ ...request, headers: without(headers, name) })),
    ...simplerValues(body).map((simpler) => ({ ...request, body: simpler })),
  ];
}

/** An object or list without one of its members, at any depth. */
function simplerValues(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    return value.flatMap((each, at) => [
      value.toSpliced(at, 1),
      ...simplerValues(each).map((simpler) => value.with(at, simpler)),
    ]);
  }
  const members = value as Record<string, unknown>;
  // Without its id, a document is another one.
  const names = Object.keys(members).filter((name) => name !== '_id');
  return names.flatMap((name) => [
    without(members, name),
    ...simplerValues(members[name]).map((simpler) => ({ ...members, [name]: simpler })),
  ]);
}

function without<T>(members: Readonly<Record<string, T>>, name: string): Record<string, T> {
  return Object.fromEntries(Object.entries(members).filter(([each]) => each !== name));
}
