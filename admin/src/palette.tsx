import { useEffect, useState } from 'preact/hooks';
import { get } from './api/http.js';
import { logOut } from './api/session.js';
import { currentRoute, link } from './lib/router.js';
import { useSession } from './lib/session-context.js';
import { Dialog } from './ui/dialog.js';
import { Text } from './ui/text.js';

interface Command {
  title: string;
  kind: string;
  run: () => void;
}

interface Props {
  places: { title: string; href: string }[];
  onTheme: () => void;
  onClose: () => void;
}

const shownMax = 12;
const namesMax = 50;

/** Finds pages, databases and actions by a few letters: Ctrl-K. */
export function Palette({ places, onTheme, onClose }: Props) {
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const databases = useDatabasesLike(text);
  const { reload } = useSession();
  const go = (href: string) => (): void => {
    location.hash = href;
  };
  const commands: Command[] = [
    ...databasePages().map(({ title, href }) => ({ title, kind: 'This database', run: go(href) })),
    ...places.map(({ title, href }) => ({ title, kind: 'Page', run: go(href) })),
    { title: 'Create database', kind: 'Action', run: go(link([], { create: '1' })) },
    { title: 'Change light or dark', kind: 'Action', run: onTheme },
    { title: 'Log out', kind: 'Action', run: () => void logOut().then(reload) },
    ...databases.map((name) => ({ title: name, kind: 'Database', run: go(link(['db', name])) })),
  ];
  const wanted = text.trim().toLowerCase();
  const found = commands.filter(({ title }) => title.toLowerCase().includes(wanted)).slice(0, shownMax);
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setActive(Math.min(active + 1, found.length - 1));
    else if (event.key === 'ArrowUp') setActive(Math.max(active - 1, 0));
    else if (event.key === 'Enter') run(found[active]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <div class="palette">
        <input
          role="combobox"
          aria-label="Page, database or action"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={found.length > 0 ? `palette-${active}` : undefined}
          placeholder="Page, database or action"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setActive(0);
          }}
          onKeyDown={onKeyDown}
        />
        <ul id="palette-list" role="listbox" aria-label="Results">
          {found.map((command, at) => (
            <li
              key={`${command.kind}/${command.title}`}
              id={`palette-${at}`}
              role="option"
              aria-selected={at === active}
              onClick={() => run(command)}
            >
              <Text value={command.title} max={60} />
              <span class="quiet">{command.kind}</span>
            </li>
          ))}
        </ul>
        {found.length === 0 && <p class="empty">Nothing has this name.</p>}
      </div>
    </Dialog>
  );
}

function databasePages(): { title: string; href: string }[] {
  const { parts } = currentRoute();
  if (parts[0] !== 'db') return [];
  const db = parts[1]!;
  return [
    { title: 'Documents', href: link(['db', db]) },
    { title: 'New document', href: link(['db', db, 'new']) },
    { title: 'Query', href: link(['db', db, 'find']) },
    { title: 'Views', href: link(['db', db, 'views']) },
    { title: 'Changes', href: link(['db', db, 'changes']) },
    { title: 'Settings', href: link(['db', db, 'settings']) },
  ];
}

/** Names of databases that begin with a text; the server has too many to load them all for this. */
function useDatabasesLike(text: string): string[] {
  const [names, setNames] = useState<string[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    const query =
      text === ''
        ? { limit: namesMax }
        : { limit: namesMax, startkey: JSON.stringify(text), endkey: JSON.stringify(`${text}\ufff0`) };
    get<string[]>(['_all_dbs'], query, stop.signal).then(setNames, () => undefined);
    return () => stop.abort();
  }, [text]);
  return names;
}
