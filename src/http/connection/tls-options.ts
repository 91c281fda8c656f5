import fs from 'node:fs';
import tls, { type SecureContextOptions, type SecureVersion } from 'node:tls';
import { StartupError } from '../../base/startup-error.js';
import type { Config } from '../../config/config.js';

/** Certificates, key and ciphers as `[ssl]` names them. Throws one clear line where they can't be used. */
export function secureContextOptions(config: Config): SecureContextOptions {
  const cacert = config.text('ssl/cacert_file');
  const password = config.text('ssl/password');
  const ciphers = cipherList(config.text('ssl/ciphers'));
  const options: SecureContextOptions = {
    cert: readPem(config, 'cert_file'),
    key: readPem(config, 'key_file'),
    ...(cacert === '' ? {} : { ca: readPem(config, 'cacert_file') }),
    ...(password === '' ? {} : { passphrase: password }),
    ...(ciphers === '' ? {} : { ciphers }),
    ...versionRange(config.text('ssl/tls_versions')),
    honorCipherOrder: true,
  };
  try {
    tls.createSecureContext(options);
  } catch (error) {
    throw new StartupError(`TLS can't be served: ${problemOf(error)}`, { cause: error });
  }
  return options;
}

function readPem(config: Config, key: 'cert_file' | 'key_file' | 'cacert_file'): Buffer {
  const file = config.text(`ssl/${key}`);
  if (file === '') throw new StartupError(`TLS can't be served: [ssl] ${key} is not set.`);
  try {
    return fs.readFileSync(file);
  } catch (error) {
    const message = `TLS can't be served: [ssl] ${key} ${file} can't be read: ${(error as Error).message}`;
    throw new StartupError(message, { cause: error });
  }
}

/** OpenSSL's list, also out of a list of Erlang's. */
function cipherList(text: string): string {
  return text
    .replace(/["'[\]]/g, '')
    .split(/[\s,:]+/)
    .filter((name) => name !== '')
    .join(':');
}

function versionRange(text: string): { minVersion: SecureVersion; maxVersion: SecureVersion } {
  return {
    minVersion: text === '' || text.includes('1.2') ? 'TLSv1.2' : 'TLSv1.3',
    maxVersion: text === '' || text.includes('1.3') ? 'TLSv1.3' : 'TLSv1.2',
  };
}

/** What is wrong in words, where OpenSSL has none that help. */
function problemOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH') return '[ssl] key_file does not belong to cert_file.';
  if (code === 'ERR_MISSING_PASSPHRASE' || code === 'ERR_OSSL_CRYPTO_INTERRUPTED_OR_CANCELLED')
    return '[ssl] key_file needs a password; set [ssl] password.';
  if (code === 'ERR_OSSL_BAD_DECRYPT' || code === 'ERR_OSSL_EVP_BAD_DECRYPT')
    return '[ssl] password is not that of key_file.';
  if (code.endsWith('NO_START_LINE')) return '[ssl] cert_file, key_file or cacert_file is no PEM file.';
  if (code === 'ERR_SSL_NO_CIPHER_MATCH') return '[ssl] ciphers names none that is known.';
  return `[ssl]: ${message}`;
}
