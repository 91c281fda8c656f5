import { boolean, checked, formed, integer, text } from './options.js';
import { isAddress } from './text-checks.js';

/** Options of what stands between the server and the network: other origins, pages, TLS. Parts of `schema.ts`. */
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const tokens = new RegExp(`^${token}(?:\\s*,\\s*${token})*$`);
const origin = String.raw`(?:\*|null|[a-z][a-z0-9+.-]*://[^\s,;/?#]+)`;
const origins = new RegExp(`^${origin}(?:\\s*,\\s*${origin})*$`);
const visible = /^[\x20-\x7e]*$/;
/** As CouchDB writes it, a list of Erlang's, or plainly with commas. */
const tlsVersions = /^\[?\s*'?tlsv1\.[23]'?(?:\s*,\s*'?tlsv1\.[23]'?)*\s*\]?$/;

const headerName = (standard: string, meaning: string) =>
  formed(standard, new RegExp(`^${token}$`), 'the name of a header', meaning);
const headerValue = (standard: string, meaning: string) =>
  formed(standard, visible, 'visible ASCII characters', meaning);
const file = (meaning: string) =>
  formed('', /^[^\0]+$/, 'a path', `${meaning} Can't be changed over the API.`);

export const chttpdEdgeOptions = {
  'chttpd/enable_cors': boolean(false, 'Answer to pages of other origins, as `[cors]` says.'),
  'chttpd/allow_jsonp': boolean(
    false,
    'Wrap JSON answers in a call of the function that the parameter `callback` names.',
  ),
  'chttpd/enable_xframe_options': boolean(
    false,
    'Send `X-Frame-Options` with every answer, as `[x_frame_options]` says, so that other pages show none of them in a frame.',
  ),
  'chttpd/x_forwarded_host': headerName(
    '',
    'Header in which a proxy says which host was asked for, such as `X-Forwarded-Host`; empty: no header is believed.',
  ),
  'chttpd/x_forwarded_proto': headerName(
    'X-Forwarded-Proto',
    'Header in which a proxy says `https` where its client came over TLS.',
  ),
  'chttpd/x_forwarded_ssl': headerName(
    'X-Forwarded-Ssl',
    'Header in which a proxy says `on` where its client came over TLS.',
  ),
  'chttpd/config_whitelist': text(
    '',
    'The only options that may be changed over the API, such as `[{log,level}, {uuids,algorithm}]`; all that are not closed, when empty. A value that is no list leaves itself open, so that it can be corrected.',
  ),
};

export const edgeOptions = {
  'tuffet/utils_dir': file('Folder whose files are served at `/_utils/` in place of the admin page.'),
  'cors/origins': formed(
    '',
    origins,
    'origins such as https://example.com, separated by commas, or *',
    'Origins whose pages may read answers, with scheme and port and without a path, separated by commas; `*` for all.',
  ),
  'cors/credentials': boolean(
    false,
    'Whether those pages may send cookies and logins. Together with `origins = *`, every page of the web may act ' +
      'as the user who looks at it.',
  ),
  'cors/methods': formed('', tokens, 'methods, separated by commas', 'Methods they may use; empty for all.'),
  'cors/headers': formed(
    '',
    tokens,
    'names of headers, separated by commas',
    'Headers they may send; empty for those that clients of the interface use.',
  ),
  'cors/exposed_headers': formed(
    '',
    tokens,
    'names of headers, separated by commas',
    'Headers of answers they may read, beside the simple ones; empty for those of the interface.',
  ),
  'cors/max_age': integer(
    600,
    -1,
    86_400,
    'Seconds for which a browser may remember the answer to a preflight request.',
  ),
  'x_frame_options/same_origin': boolean(
    false,
    'Let pages of the same origin show answers in a frame (`SAMEORIGIN`). Otherwise none may (`DENY`), but those of `hosts`.',
  ),
  'x_frame_options/hosts': formed(
    '',
    origins,
    'origins such as https://example.com, separated by commas, or *',
    'Origins whose pages may show answers in a frame, sent as `frame-ancestors` of a content security policy: browsers ignore `ALLOW-FROM`.',
  ),
  'csp/utils_enable': boolean(true, 'Send a content security policy with the page at `/_utils/`.'),
  'csp/utils_header_value': headerValue('', 'That policy; empty for the one that fits the page.'),
  'csp/attachments_enable': boolean(
    true,
    'Send a content security policy with attachments, whose contents come from any client.',
  ),
  'csp/attachments_header_value': headerValue('sandbox', 'That policy.'),
  'csp/showlist_enable': boolean(
    true,
    'Send a content security policy with what show, list and update functions answer.',
  ),
  'csp/showlist_header_value': headerValue('sandbox', 'That policy.'),
  'ssl/enable': boolean(false, 'Serve TLS on a port of its own, beside plain HTTP. Read at start.'),
  'ssl/port': integer(6984, 0, 65_535, 'Port for TLS; 0 takes a free one. Read at start.'),
  'ssl/bind_address': checked(
    '',
    isAddress,
    'an IP address, localhost or a full host name',
    'Address for TLS; empty for that of `[chttpd]`. Read at start.',
  ),
  'ssl/cert_file': file('PEM file with the certificate, followed by those that lead to its issuer.'),
  'ssl/key_file': file('PEM file with the private key.'),
  'ssl/password': formed('', /^.+$/, 'text', 'Password of the private key.'),
  'ssl/cacert_file': file('PEM file with the issuers whose certificates clients may show.'),
  'ssl/verify_ssl_certificates': boolean(
    false,
    'Ask clients for a certificate, and refuse those that show one which `cacert_file` does not vouch for. Read at start.',
  ),
  'ssl/fail_if_no_peer_cert': boolean(
    false,
    'Refuse clients without a certificate too. Needs `verify_ssl_certificates`. Read at start.',
  ),
  'ssl/tls_versions': formed(
    'tlsv1.2, tlsv1.3',
    tlsVersions,
    'tlsv1.2, tlsv1.3 or both, separated by a comma',
    'Versions of TLS; older ones are not spoken.',
  ),
  'ssl/ciphers': formed(
    '',
    /^[\w\s"',:+!@=[\]-]+$/,
    'names of ciphers, separated by commas or colons',
    'Ciphers for TLS 1.2, in OpenSSL’s names; empty for Node’s choice.',
  ),
};
