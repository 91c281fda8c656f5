import { StartupError } from '../base/startup-error.js';
import { optionOf } from '../config/checks.js';
import { variable } from './environment-admin.js';

type Sections = Record<string, Record<string, string>>;

/** `TUFFET__CHTTPD__ENABLE_CORS=true` is `[chttpd] enable_cors = true`; secrets have variables of their own. */
export function environmentConfig(environment: NodeJS.ProcessEnv): Sections {
  const sections: Sections = {};
  for (const [name, value] of Object.entries(environment)) {
    const parts = /^TUFFET__(.+?)__(.+)$/.exec(name);
    if (parts === null || value === undefined) continue;
    const [section, key] = [parts[1]!.toLowerCase(), parts[2]!.toLowerCase()];
    if (optionOf(section, key) === undefined) {
      throw new StartupError(`${name} is set, but there is no option [${section}] ${key}.`);
    }
    (sections[section] ??= {})[key] = value;
  }
  const secret = variable(environment, 'TUFFET_SECRET') ?? variable(environment, 'COUCHDB_SECRET');
  if (secret !== undefined) (sections['chttpd_auth'] ??= {})['secret'] = secret;
  return sections;
}
