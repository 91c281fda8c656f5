import { bodyText } from './peer.js';
import { userName, userPassword, type CompareRequest } from './request.js';

/** The requests as lines for a shell in which `$SERVER` is a server's address, with the credentials of an admin. */
export function curlLines(requests: readonly CompareRequest[], db = 'compared'): string[] {
  return requests.flatMap((request) => {
    const named = [
      ...new Set(`${request.path}${bodyText(request.body ?? '')}`.match(/\{(?:rev|old):[^}]*\}/g)),
    ];
    return [...named.map((name) => revisionLine(name, db)), curlLine(request, db)];
  });
}

/** The revision that a document has at that point stands in a variable. */
function revisionLine(name: string, db: string): string {
  const id = name.slice('{rev:'.length, -1);
  const address = id.startsWith('_') ? id : encodeURIComponent(id);
  return `${variable(name)}=$(curl -s "$SERVER/${db}/${address}" | sed 's/.*"_rev":"\\([^"]*\\)".*/\\1/')`;
}

const variable = (name: string): string => name.slice(1, -1).replaceAll(/\W/g, '_').toUpperCase();

function curlLine(request: CompareRequest, db: string): string {
  const words = ['curl', '-i', ...methodWords(request.method)];
  const user = request.user ?? 'server admin';
  const server = user === 'server admin' ? '$SERVER' : '$ADDRESS';
  if (user !== 'server admin' && user !== 'anonymous') words.push('-u', `${userName(user)}:${userPassword}`);
  const headers = {
    accept: 'application/json',
    ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...request.headers,
  };
  for (const [name, value] of Object.entries(headers))
    words.push('-H', quoted(`${name}:${value && ` ${value}`}`));
  if (request.body !== undefined) words.push('--data-binary', quoted(bodyText(request.body)));
  const fill = (text: string): string =>
    text
      .replaceAll('{db}', db)
      .replaceAll(/\{(?:rev|old):[^}]*\}/g, (name) => `'"$${variable(name)}"'`)
      .replaceAll('{host}', `'"$HOST"'`);
  return fill(`${words.join(' ')} "${server}"${quoted(request.path)}`);
}

function methodWords(method: string): string[] {
  if (method === 'GET') return [];
  return method === 'HEAD' ? ['--head'] : ['-X', method];
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
