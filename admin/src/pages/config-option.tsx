import { useEffect, useId, useState } from 'preact/hooks';
import { ErrorBox } from '../ui/error-box.js';
import { useAction } from '../ui/form.js';

interface Props {
  section: string;
  name: string;
  value: string;
  about: { values: string; initial: string; meaning: string } | undefined;
  onChange: (value: string | undefined) => Promise<void>;
}

const secrets = /^(secret|password)$|^hmac:/;

export function ConfigOption({ section, name, value, about, onChange }: Props) {
  const id = useId();
  const [text, setText] = useState(value);
  const [isShown, setIsShown] = useState(!secrets.test(name));
  useEffect(() => setText(value), [value]);
  const saving = useAction(() => onChange(text));
  const resetting = useAction(() => onChange(undefined));
  const initial = plain(about?.initial ?? '').replace(/^empty$/, '');
  const isDefault = about === undefined || value === initial;
  const choices = choicesOf(about?.values ?? '');
  const save = (event: Event): void => {
    event.preventDefault();
    void saving.run();
  };
  return (
    <li>
      <form class="option" onSubmit={save}>
        <div>
          <label for={id}>
            <code>{name}</code>
          </label>{' '}
          {!isDefault && <span class="badge waiting">changed</span>}
          <p class="hint" id={`${id}-hint`}>
            {about ? plain(about.meaning) : 'An option that this server does not read.'}
            {about && (
              <>
                <br />
                Takes {plain(about.values)}; default: <code>{initial || 'empty'}</code>
              </>
            )}
          </p>
        </div>
        <div class="option-value">
          {choices.length > 0 ? (
            <select
              id={id}
              aria-describedby={`${id}-hint`}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
            >
              {[...new Set([...choices, value])].map((choice) => (
                <option key={choice}>{choice}</option>
              ))}
            </select>
          ) : (
            <input
              id={id}
              type={(isShown ? 'text' : 'password') as 'text'}
              value={text}
              autocomplete="off"
              spellcheck={false}
              aria-describedby={`${id}-hint`}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          )}
          {!isShown && (
            <button type="button" class="small" onClick={() => setIsShown(true)}>
              Show
            </button>
          )}
          {text !== value && (
            <button type="submit" class="small primary" disabled={saving.isBusy}>
              Save
            </button>
          )}
          {text === value && !isDefault && (
            <button
              type="button"
              class="small"
              aria-label={`Reset ${section} ${name} to its default`}
              onClick={() => void resetting.run()}
            >
              Reset
            </button>
          )}
        </div>
      </form>
      <ErrorBox error={saving.error ?? resetting.error} />
    </li>
  );
}

/** The values of an option that takes one of a few. */
function choicesOf(values: string): string[] {
  if (values === 'true or false') return ['true', 'false'];
  return /^`[^`]+`(, `[^`]+`)+$/.test(values) ? plain(values).split(', ') : [];
}

/** The tables of the documentation are Markdown; here it is text. */
function plain(text: string): string {
  return text.replaceAll('`', '').replace(/\[([^\]]+)\]\([^)]+\)/g, '$1');
}
