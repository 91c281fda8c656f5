import { X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import { StartupError } from '../../base/startup-error.js';
import type { Config } from '../../config/config.js';
import { secureContextOptions } from '../../http/connection/tls-options.js';
import { note, problem, type Finding } from './finding.js';

const dayMs = 24 * 60 * 60 * 1000;
const soonDays = 30;

export function tlsFindings(config: Config, now = Date.now()): Finding[] {
  const enabled = config.boolean('ssl/enable');
  const [cert, key] = [config.text('ssl/cert_file'), config.text('ssl/key_file')];
  if (!enabled) {
    return cert === '' && key === ''
      ? []
      : [
          problem(
            '[ssl] enable',
            'Certificate or key are set, but TLS is off.',
            'Set [ssl] enable = true, or remove them.',
          ),
        ];
  }
  try {
    secureContextOptions(config);
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    return [problem('[ssl]', error.message, 'The server does not start like this. See docs/tls.md.')];
  }
  return [...certificateFindings(cert, now), ...keyFindings(key), ...clientFindings(config)];
}

function certificateFindings(file: string, now: number): Finding[] {
  const certificate = new X509Certificate(fs.readFileSync(file));
  const days = (Date.parse(certificate.validTo) - now) / dayMs;
  const advice = 'Get a new one, and have the server read it: POST /_node/_local/_config/_reload.';
  if (days < 0) return [problem(file, `The certificate has expired: ${certificate.validTo}.`, advice)];
  if (days < soonDays)
    return [problem(file, `The certificate expires soon: ${certificate.validTo}.`, advice)];
  if (Date.parse(certificate.validFrom) > now) {
    return [
      problem(
        file,
        `The certificate counts only from ${certificate.validFrom}.`,
        'Look at the clock of this machine.',
      ),
    ];
  }
  if (certificate.checkIssued(certificate)) {
    return [
      note(
        file,
        'The certificate has signed itself: clients have to be told to trust it.',
        'Nothing, if they are.',
      ),
    ];
  }
  return [];
}

function keyFindings(file: string): Finding[] {
  return (fs.statSync(file).mode & 0o077) === 0
    ? []
    : [problem(file, 'Others than its owner may read the private key.', `chmod 600 ${file}`)];
}

function clientFindings(config: Config): Finding[] {
  const verify = config.boolean('ssl/verify_ssl_certificates');
  if (!verify && config.boolean('ssl/fail_if_no_peer_cert')) {
    return [
      problem(
        '[ssl] fail_if_no_peer_cert',
        'It has no effect without verify_ssl_certificates.',
        'Set [ssl] verify_ssl_certificates = true.',
      ),
    ];
  }
  if (verify && config.text('ssl/cacert_file') === '') {
    return [
      problem(
        '[ssl] cacert_file',
        'Certificates of clients are checked against all issuers that Node trusts: anybody can get one from those.',
        'Name the file with your own issuer.',
      ),
    ];
  }
  return [];
}
