import { useEffect, useState } from 'preact/hooks';

/** Everything that a page shows is in the hash of the address, so that it survives a reload and can be shared. */
export interface Route {
  parts: string[];
  query: URLSearchParams;
}

export function currentRoute(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  return { parts: path === '' ? [] : path.split('/').map(decode), query: new URLSearchParams(query) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

type QueryValues = Record<string, string | undefined>;

export function link(parts: readonly string[], query: QueryValues = {}): string {
  const entries = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const search = new URLSearchParams(entries).toString();
  return `#/${parts.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

export function navigate(parts: readonly string[], query: QueryValues = {}): void {
  location.hash = link(parts, query);
}

/** Changes parts of the query in the address, without an entry of their own in the history. */
export function setQuery(changes: QueryValues): void {
  const { parts, query } = currentRoute();
  const next = { ...Object.fromEntries(query), ...changes };
  history.replaceState(null, '', link(parts, next));
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  useEffect(() => {
    const update = (): void => setRoute(currentRoute());
    addEventListener('hashchange', update);
    return () => removeEventListener('hashchange', update);
  }, []);
  return route;
}
