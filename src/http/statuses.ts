import type { ErrorName } from '../base/errors.js';

/** The one place that knows which status an error has. `docs/errors.md` lists them; a test holds the two together. */
export const statuses: Readonly<Record<ErrorName, number>> = {
  attachment_too_large: 413,
  bad_content_type: 415,
  bad_request: 400,
  conflict: 409,
  doc_validation: 400,
  document_too_large: 413,
  expectation_failed: 417,
  file_exists: 412,
  forbidden: 403,
  illegal_database_name: 400,
  illegal_docid: 400,
  internal_server_error: 500,
  length_required: 411,
  method_not_allowed: 405,
  missing_stub: 412,
  not_acceptable: 406,
  not_found: 404,
  not_implemented: 501,
  query_parse_error: 400,
  request_timeout: 408,
  request_uri_too_long: 414,
  service_unavailable: 503,
  too_large: 413,
  unauthorized: 401,
};
