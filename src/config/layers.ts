import type { Sections } from './ini.js';

export type Values = Map<string, Map<string, string>>;

/** What remains when each of the layers is put over the ones before it; null takes a value back. */
export function mergeLayers(layers: Iterable<Sections>): Values {
  const values: Values = new Map();
  for (const sections of layers) {
    for (const [section, keys] of sections) {
      const merged = values.get(section) ?? new Map<string, string>();
      for (const [key, value] of keys) {
        if (value === null) merged.delete(key);
        else merged.set(key, value);
      }
      values.set(section, merged);
    }
  }
  return values;
}

/** The same sections with one value more, or taken back by null. */
export function withValue(sections: Sections, section: string, key: string, value: string | null): Sections {
  return new Map(sections).set(section, new Map(sections.get(section)).set(key, value));
}

export function withoutValue(sections: Sections, section: string, key: string): Sections {
  const keys = new Map(sections.get(section));
  keys.delete(key);
  return new Map(sections).set(section, keys);
}

/** The options whose values are not the same in both. */
export function changedOptions(before: Values, after: Values): [section: string, key: string][] {
  const changed: [string, string][] = [];
  for (const section of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(section), after.get(section)];
    for (const key of new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])) {
      if (old?.get(key) !== now?.get(key)) changed.push([section, key]);
    }
  }
  return changed;
}
