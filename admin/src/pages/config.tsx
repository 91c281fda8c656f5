import { useMemo, useState } from 'preact/hooks';
import options from 'virtual:configuration-options';
import { call, get } from '../api/http.js';
import { setQuery } from '../lib/router.js';
import { useLoad } from '../lib/use-load.js';
import { ActionButton } from '../ui/action-button.js';
import { Await, Page, Section } from '../ui/page.js';
import { Text } from '../ui/text.js';
import { ConfigOption } from './config-option.js';

type Config = Record<string, Record<string, string>>;

export interface OptionChange {
  section: string;
  key: string;
  before: string | undefined;
  after: string | undefined;
}

/** Changes an option; undefined takes the change back and lets the files and the default count again. */
async function setOption(section: string, key: string, value: string | undefined): Promise<void> {
  const parts = ['_node', '_local', '_config', section, key];
  if (value === undefined) await call('DELETE', parts);
  else await call('PUT', parts, { json: value });
}

export function ConfigPage({ query }: { query: URLSearchParams }) {
  const state = useLoad((signal) => get<Config>(['_node', '_local', '_config'], undefined, signal), []);
  const [changes, setChanges] = useState<OptionChange[]>([]);
  const wanted = (query.get('find') ?? '').toLowerCase();
  const change = async (section: string, key: string, after: string | undefined): Promise<void> => {
    const before = state.data?.[section]?.[key];
    await setOption(section, key, after);
    setChanges((earlier) => [{ section, key, before, after }, ...earlier]);
    state.reload();
  };
  const undo = async ({ section, key, before }: OptionChange, at: number): Promise<void> => {
    await setOption(section, key, before);
    setChanges((earlier) => earlier.filter((_, index) => index !== at));
    state.reload();
  };
  return (
    <Page title="Options">
      <div class="toolbar">
        <input
          class="search"
          type="search"
          aria-label="Find options"
          placeholder="Find by name or meaning"
          value={query.get('find') ?? ''}
          onInput={(event) => setQuery({ find: event.currentTarget.value || undefined })}
        />
      </div>
      {changes.length > 0 && (
        <Section title="Changed since you came here">
          <ul class="plain">
            {changes.map((each, at) => (
              <li key={`${changes.length - at}`} class="row">
                <span class="grow">
                  <code>
                    [{each.section}] {each.key}
                  </code>{' '}
                  from <Text value={each.before ?? 'nothing'} max={60} /> to{' '}
                  <Text value={each.after ?? 'its default'} max={60} />
                </span>
                <ActionButton class="small" onAction={() => undo(each, at)}>
                  Undo
                </ActionButton>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Await state={state}>
        {(config) => <Sections config={config} wanted={wanted} onChange={change} />}
      </Await>
    </Page>
  );
}

interface SectionsProps {
  config: Config;
  wanted: string;
  onChange: (section: string, key: string, value: string | undefined) => Promise<void>;
}

function Sections({ config, wanted, onChange }: SectionsProps) {
  const found = useMemo(() => matching(config, wanted), [config, wanted]);
  if (found.length === 0) return <p class="empty">No option has this in its name or meaning.</p>;
  return (
    <>
      {found.map(([section, keys]) => (
        <Section key={section} title={`[${section}]`}>
          <ul class="options">
            {keys.map((key) => (
              <ConfigOption
                key={key}
                section={section}
                name={key}
                value={config[section]![key]!}
                about={options[`${section}/${key}`]}
                onChange={(value) => onChange(section, key, value)}
              />
            ))}
          </ul>
        </Section>
      ))}
    </>
  );
}

function matching(config: Config, wanted: string): [section: string, keys: string[]][] {
  return Object.entries(config)
    .filter(([section]) => section !== 'admins')
    .map(([section, values]): [string, string[]] => {
      const fits = (key: string): boolean =>
        `${section}/${key} ${options[`${section}/${key}`]?.meaning ?? ''}`.toLowerCase().includes(wanted);
      return [section, Object.keys(values).filter(fits)];
    })
    .filter(([, keys]) => keys.length > 0);
}
