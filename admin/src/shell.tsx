import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { link, useRoute } from './lib/router.js';
import { useIsAdmin, useSession } from './lib/session-context.js';
import { applyTheme, nextTheme, readTheme } from './lib/theme.js';
import { PageOf } from './pages/page-of.js';
import { Palette } from './palette.js';
import { Icon } from './ui/icon.js';
import { Text } from './ui/text.js';

const places = [
  { part: '', title: 'Databases', icon: 'databases', isForAll: true },
  { part: 'replication', title: 'Replication', icon: 'replication', isForAll: false },
  { part: 'tasks', title: 'Tasks', icon: 'tasks', isForAll: false },
  { part: 'server', title: 'Server', icon: 'server', isForAll: false },
  { part: 'config', title: 'Options', icon: 'options', isForAll: false },
  { part: 'users', title: 'Users', icon: 'users', isForAll: false },
  { part: 'account', title: 'Account', icon: 'account', isForAll: true },
] as const;

/** The frame around all pages: navigation, command palette and the keys that work everywhere. */
export function Shell() {
  const route = useRoute();
  const isAdmin = useIsAdmin();
  const { session } = useSession();
  const [theme, setTheme] = useState(readTheme);
  const [isPaletteOpen, setIsPaletteOpen] = useState(false);
  const here = route.parts[0] === 'db' ? '' : (route.parts[0] ?? '');
  useFocusOnNewPage(route.parts.join('/'));
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setIsPaletteOpen(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const toggleTheme = (): void => {
    applyTheme(nextTheme(theme));
    setTheme(nextTheme(theme));
  };
  const shown = places.filter(({ isForAll }) => isForAll || isAdmin);
  return (
    <div class="shell">
      <a class="skip-link" href="#main" onClick={skipToContent}>
        Skip to content
      </a>
      <header class="side">
        <a class="brand" href="#/">
          <img src="./icon.svg" alt="" /> Tuffet
        </a>
        <nav aria-label="Main">
          {shown.map(({ part, title, icon }) => (
            <a
              key={part}
              href={part === '' ? '#/' : link([part])}
              aria-current={part === here ? 'page' : undefined}
            >
              <Icon name={icon} />
              {title}
            </a>
          ))}
        </nav>
        <div class="side-foot">
          <button type="button" class="wide-only" onClick={() => setIsPaletteOpen(true)}>
            Go to… <kbd>Ctrl K</kbd>
          </button>
          <button type="button" class="ghost wide-only" onClick={toggleTheme}>
            Theme <span class="quiet">{theme}</span>
          </button>
          <p class="hint wide-only">
            Logged in as <Text value={session.userCtx.name ?? ''} max={40} />
          </p>
        </div>
      </header>
      <PageOf route={route} />
      {isPaletteOpen && (
        <Palette
          places={shown.map(({ part, title }) => ({ title, href: part === '' ? '#/' : link([part]) }))}
          onTheme={toggleTheme}
          onClose={() => setIsPaletteOpen(false)}
        />
      )}
    </div>
  );
}

function skipToContent(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

/** Screen readers and the keyboard go on at the top of a new page. */
function useFocusOnNewPage(path: string): void {
  const before = useRef(path);
  useLayoutEffect(() => {
    if (before.current === path) return;
    before.current = path;
    document.getElementById('main')?.focus({ preventScroll: true });
  }, [path]);
}
