import type { Core } from './core.js';

/** The media types that `provides` chooses among, by the short names functions give them. */
export interface MediaTypes {
  register: (name: string, ...types: string[]) => void;
  /** All types of a short name; empty if it is not registered. */
  of: (name: string) => string[];
  /**
   * Which of these names a request's `Accept` prefers, and by which type. Where it is all the same, that is the last type of
   * the first name, as in CouchDB.
   */
  best: (names: string[], accept: string) => { name: string; type: string } | undefined;
}

/** How much a client wants a type, by its `Accept`: 0 for not at all. */
export type Wish = (type: string, accept: string) => number;

export function makeWish({ apply }: Core): Wish {
  const { split, trim, toLowerCase } = String.prototype;

  const parts = (text: string, separator: string): string[] => {
    const list = apply(split, text, [separator]) as string[];
    for (let i = 0; i < list.length; i++)
      list[i] = apply(trim, apply(toLowerCase, list[i]!, []), []) as string;
    return list;
  };

  /** How well a type fits one range of an `Accept` header: 0 not at all, 3 in every word. */
  const fit = (type: string, range: string): number => {
    const [major, minor] = parts(parts(type, ';')[0]!, '/');
    const [rangeMajor, rangeMinor] = parts(range, '/');
    if (rangeMajor === '*' || major === '*') return 1;
    if (major !== rangeMajor) return 0;
    if (rangeMinor === '*') return 2;
    return minor === rangeMinor ? 3 : 0;
  };

  // First by how exactly the type was named, then by the quality it was given.
  return (type, accept) => {
    const ranges = parts(accept, ',');
    let most = 0;
    for (let i = 0; i < ranges.length; i++) {
      const [range, ...settings] = parts(ranges[i]!, ';');
      let quality = 1;
      for (let k = 0; k < settings.length; k++) {
        const [name, value] = parts(settings[k]!, '=');
        if (name === 'q') quality = +value! >= 0 && +value! <= 1 ? +value! : 1;
      }
      const fits = fit(type, range!);
      if (fits > 0 && quality > 0 && fits * 2 + quality > most) most = fits * 2 + quality;
    }
    return most;
  };
}

export function makeMediaTypes({ isArray }: Core, wish: Wish): MediaTypes {
  const known: Record<string, string[]> = {
    __proto__: null as never,
    all: ['*/*'],
    text: ['text/plain; charset=utf-8', 'txt'],
    html: ['text/html; charset=utf-8'],
    xhtml: ['application/xhtml+xml', 'xhtml'],
    xml: ['application/xml', 'text/xml', 'application/x-xml'],
    js: ['text/javascript', 'application/javascript', 'application/x-javascript'],
    css: ['text/css'],
    ics: ['text/calendar'],
    csv: ['text/csv'],
    rss: ['application/rss+xml'],
    atom: ['application/atom+xml'],
    yaml: ['application/x-yaml', 'text/yaml'],
    multipart_form: ['multipart/form-data'],
    url_encoded_form: ['application/x-www-form-urlencoded'],
    json: ['application/json', 'text/x-json'],
  };

  return {
    register: (name, ...types) => {
      known[name] = types;
    },
    of: (name) => (isArray(known[name]) ? known[name] : []),
    best: (names, accept) => {
      let found: { name: string; type: string } | undefined;
      let most = 0;
      for (let i = 0; i < names.length; i++) {
        const types = known[names[i]!] ?? [];
        for (let k = 0; k < types.length; k++) {
          const wanted = wish(types[k]!, accept);
          const isSameName = found !== undefined && found.name === names[i];
          if (wanted < most || wanted === 0 || (wanted === most && !isSameName)) continue;
          most = wanted;
          found = { name: names[i]!, type: types[k]! };
        }
      }
      return found;
    },
  };
}
