import { boolean, checked, choice, formed, integer, text } from './options.js';
import { areHandlers, passwordRules } from './text-checks.js';

const millions = 1_000_000;
const iterationsMax = 1000 * millions;

/** What concerns who is asking and what they may do. */
export const couchdbAuthOptions = {
  'couchdb/users_db_security_editable': boolean(
    false,
    'The security object of the users database may be changed, so that it can be opened to others than server admins.',
  ),
};

export const chttpdAuthOptions = {
  'chttpd/authentication_handlers': checked(
    '{chttpd_auth, cookie_authentication_handler}, {chttpd_auth, default_authentication_handler}',
    areHandlers,
    'a list of handlers such as {chttpd_auth, cookie_authentication_handler}, separated by commas',
    'Ways to log in, in the order in which they are tried: `cookie`, `default` (Basic), `proxy` and `jwt`.',
  ),
  'chttpd/WWW-Authenticate': text(
    '',
    'What the header of that name says in answers with 401, so that browsers ask for a password. Empty: no such header.',
  ),
};

export const authOptions = {
  'chttpd_auth/iterations': integer(10_000, 1, iterationsMax, 'PBKDF2 iterations of new password hashes.'),
  'chttpd_auth/min_iterations': integer(100, 1, iterationsMax, 'Hashes with fewer iterations are refused.'),
  'chttpd_auth/max_iterations': integer(
    millions,
    1,
    iterationsMax,
    'Hashes with more iterations are refused: each login costs as many steps.',
  ),
  'chttpd_auth/password_scheme': text(
    'pbkdf2',
    'How passwords of user documents are hashed; `pbkdf2` is all there is.',
  ),
  'chttpd_auth/pbkdf2_prf': text(
    'sha256',
    'Digest under PBKDF2 in user documents: `sha`, `sha224`, `sha256`, `sha384` or `sha512`.',
  ),
  'chttpd_auth/upgrade_hash_on_auth': boolean(
    false,
    'Hash passwords of users anew at a login if the stored hash has another digest or fewer iterations; sessions go on.',
  ),
  'chttpd_auth/password_regexp': checked(
    '',
    (value) => passwordRules(value) !== undefined,
    'a list of regular expressions such as ["expression", {"expression", "reason"}]',
    'Rules that new passwords of user documents must all match: `["expression", {"expression", "reason"}]`.',
  ),
  'chttpd_auth/auth_cache_size': integer(50, 0, millions, 'Verified credentials kept in memory, as digests.'),
  'chttpd_auth/authentication_db': text(
    '',
    'Database with the user documents; empty for the one that `users_db_suffix` names.',
  ),
  'chttpd_auth/users_db_suffix': text(
    '_users',
    'Databases of this name, also behind a slash, hold user documents and keep their rules.',
  ),
  'chttpd_auth/users_db_public': boolean(
    false,
    'Let everybody who may read the users database see the `public_fields` of all user documents.',
  ),
  'chttpd_auth/public_fields': text(
    '',
    'Members of user documents that others see if `users_db_public` is true, separated by commas.',
  ),
  'chttpd_auth/secret': text(
    '',
    'Signs session cookies and the tokens of proxies. Made at the first start where it is empty.',
  ),
  'chttpd_auth/timeout': integer(
    600,
    1,
    1000 * millions,
    'Seconds without a request after which a session ends.',
  ),
  'chttpd_auth/allow_persistent_cookies': boolean(
    true,
    'Session cookies outlive the browser: they carry `Max-Age` and `Expires`.',
  ),
  'chttpd_auth/cookie_domain': text('', 'The `Domain` of session cookies; empty for the host alone.'),
  'chttpd_auth/same_site': text(
    '',
    'The `SameSite` of session cookies: `none`, `lax` or `strict`. Anything else adds none.',
  ),
  'chttpd_auth/hash_algorithms': text(
    'sha256, sha',
    'Digests of session cookies and proxy tokens: the first signs, all are accepted.',
  ),
  'chttpd_auth/authentication_redirect': text(
    '',
    'Path that browsers are sent to after a login, and where a login is needed; empty for `/_utils/session.html`, and ' +
      'only where one is needed.',
  ),
  'chttpd_auth/proxy_use_secret': boolean(
    false,
    'A proxy must prove with a token that it knows the `secret`.',
  ),
  'chttpd_auth/x_auth_username': text('X-Auth-Svc-UserName', "Header with the user's name, from a proxy."),
  'chttpd_auth/x_auth_roles': text('X-Auth-Svc-Roles', "Header with the user's roles, from a proxy."),
  'chttpd_auth/x_auth_token': text('X-Auth-Svc-Token', 'Header with the token, from a proxy.'),
  'chttpd_auth_lockout/mode': choice(
    'enforce',
    ['enforce', 'warn', 'off'],
    'Whether failed logins lock an account for their sender: `warn` only logs.',
  ),
  'chttpd_auth_lockout/threshold': integer(5, 1, millions, 'Failed logins that lock.'),
  'chttpd_auth_lockout/max_objects': integer(10_000, 1, millions, 'Failing senders and names remembered.'),
  'chttpd_auth_lockout/max_lifetime': integer(
    300_000,
    1,
    1000 * millions,
    'Milliseconds after which failed logins are forgotten.',
  ),
  'jwt_auth/required_claims': text(
    'exp',
    'Claims that a token must have, and that are checked: `exp, iat, {iss, "issuer"}`. Others are not looked at.',
  ),
  'jwt_auth/roles_claim_name': text('_svc.roles', 'Claim with the list of roles.'),
  'jwt_auth/roles_claim_path': text(
    '',
    'Where that list stands inside nested claims, with dots: `app.roles`; `\\.` is a dot. Wins over the name.',
  ),
  'jwt_auth/clock_skew': integer(
    0,
    0,
    3600,
    'Seconds by which the clocks of those who make tokens may be wrong.',
  ),
  'jwt_auth/jwks_url': formed(
    '',
    /^https?:\/\/[^\s/?#]+\S*$/i,
    'an address that begins with http:// or https://',
    'Address of a JWK set with keys that `[jwt_keys]` does not have.',
  ),
};
