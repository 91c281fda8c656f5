import { hasAdmin } from '../../auth/admins.js';
import type { Config } from '../../config/config.js';
import { note, problem, type Finding } from './finding.js';

/** What the settings mean together for who may do what from where. */
export function securityFindings(config: Config, isRunning: boolean): Finding[] {
  return [
    ...adminFindings(config, isRunning),
    ...openFindings(config),
    ...corsFindings(config),
    ...otherFindings(config),
  ];
}

function adminFindings(config: Config, isRunning: boolean): Finding[] {
  if (hasAdmin(config)) return [];
  const advice =
    'Write a line "admin = PASSWORD" under [admins] in local.ini of the data folder, or start with --admin or TUFFET_USER.';
  // It was given one when it was started.
  const message = isRunning
    ? 'There is no server admin in the files: the next start needs one again.'
    : 'There is no server admin in the files. The first start on a new folder makes one; on a folder in use, the server does not start.';
  return [(isRunning ? note : problem)('[admins]', message, advice)];
}

const loopback = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/;

function openFindings(config: Config): Finding[] {
  const findings: Finding[] = [];
  const bind = config.text('chttpd/bind_address');
  const everyone = config.choice('couchdb/default_security') !== 'admin_only';
  if (!loopback.test(bind)) {
    const tls = config.boolean('ssl/enable');
    findings.push(
      problem(
        '[chttpd] bind_address',
        `The server listens on ${bind} without TLS: passwords and documents cross the network in clear text.`,
        tls
          ? 'Let plain HTTP listen on 127.0.0.1 and TLS on all addresses: [chttpd] bind_address = 127.0.0.1, [ssl] bind_address = 0.0.0.0.'
          : 'Set [ssl] enable, cert_file and key_file, or listen on 127.0.0.1 behind a proxy that speaks TLS.',
      ),
    );
  }
  if (everyone) {
    const reachable = !loopback.test(bind) || !loopback.test(config.text('ssl/bind_address') || bind);
    const anonymous = !config.boolean('chttpd/require_valid_user');
    findings.push(
      (reachable && anonymous ? problem : note)(
        '[couchdb] default_security',
        `A database whose security object was never set is open to everyone${anonymous ? ', also without a login' : ' who has a login'}.`,
        'Set [couchdb] default_security = admin_only to close databases to come. Those that exist keep what they have.',
      ),
    );
  }
  return findings;
}

function corsFindings(config: Config): Finding[] {
  if (!config.boolean('chttpd/enable_cors')) return [];
  const variants = config.variants('cors');
  if (config.text('cors/origins') === '' && variants.length === 0) {
    return [
      note(
        '[cors] origins',
        'CORS is on, but no origin is named: no page gets anything.',
        'Name the origins of your pages, such as https://app.example.com.',
      ),
    ];
  }
  // A section of one origin says nothing of others, whatever it inherits.
  const ofHosts = variants.filter((section) => !section.includes('://'));
  return ['cors', ...ofHosts].flatMap((section) => {
    const origins = config.variantValue(section, 'cors/origins') ?? config.text('cors/origins');
    const credentials =
      config.variantValue(section, 'cors/credentials') ?? config.boolean('cors/credentials');
    return anyOriginFindings(section, String(origins), credentials === true);
  });
}

function anyOriginFindings(section: string, origins: string, credentials: boolean): Finding[] {
  if (!origins.split(',').some((each) => each.trim() === '*')) return [];
  return credentials
    ? [
        problem(
          `[${section}] origins`,
          'Every page of the web may act with the login of the user who visits it.',
          `Name the origins of your pages in place of *, or set [${section}] credentials = false.`,
        ),
      ]
    : [
        note(
          `[${section}] origins`,
          'Every page of the web may read what needs no login.',
          'Name the origins of your pages in place of *, if that is not meant.',
        ),
      ];
}

/** Of PBKDF2 with SHA-256, by today's common advice. */
const iterationsAdvised = 600_000;

function otherFindings(config: Config): Finding[] {
  const findings: Finding[] = [];
  if (config.boolean('chttpd/allow_jsonp')) {
    findings.push(
      problem(
        '[chttpd] allow_jsonp',
        'Any page may read, with the login of who looks at it, whatever that user may read.',
        'Set it to false and use CORS.',
      ),
    );
  }
  if ((config.get('chttpd_auth', 'secret') ?? '') === '') {
    findings.push(
      note(
        '[chttpd_auth] secret',
        'No secret is set: sessions end with the server, and several servers do not know each other’s.',
        'Set it to a long random text, such as what "openssl rand -hex 32" prints.',
      ),
    );
  }
  for (const key of ['utils_enable', 'attachments_enable'] as const) {
    if (config.boolean(`csp/${key}`)) continue;
    findings.push(
      problem(
        `[csp] ${key}`,
        'Without the policy, a document or attachment with a script in it can act as who looks at it.',
        'Set it to true.',
      ),
    );
  }
  const [min, max] = [
    config.number('chttpd_auth/min_iterations'),
    config.number('chttpd_auth/max_iterations'),
  ];
  const made = config.number('chttpd_auth/iterations');
  if (made < iterationsAdvised) {
    findings.push(
      note(
        '[chttpd_auth] iterations',
        `New passwords are hashed ${made} times: anyone who obtains the hashes can try many passwords a second.`,
        `Set it to ${iterationsAdvised}, as CouchDB 3.4 has it. A login then takes some tenths of a second of a processor; hashes that exist stay as they are until the password is set anew.`,
      ),
    );
  }
  if (made < min || made > max) {
    findings.push(
      problem(
        '[chttpd_auth] iterations',
        `New passwords are hashed ${made} times, but only ${min} to ${max} times are accepted: no user could log in.`,
        'Choose a number between min_iterations and max_iterations.',
      ),
    );
  }
  return findings;
}
