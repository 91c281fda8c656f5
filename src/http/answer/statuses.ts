import { FunctionError, type ErrorName, type RequestError } from '../../base/errors.js';

/** The one place that knows which status an error has. `docs/errors.md` lists them; a test holds the two together. */
export const statuses: Readonly<Record<ErrorName, number>> = {
  attachment_too_large: 413,
  bad_arg: 400,
  bad_content_type: 415,
  bad_field: 400,
  bad_rep_doc: 500,
  bad_request: 400,
  compilation_error: 400,
  conflict: 409,
  damaged_attachment: 500,
  damaged_record: 500,
  db_not_found: 404,
  doc_validation: 400,
  document_too_large: 413,
  error: 500,
  expectation_failed: 417,
  file_exists: 412,
  forbidden: 403,
  gone: 410,
  illegal_database_name: 400,
  database_name_too_long: 400,
  illegal_docid: 400,
  illegal_partition: 400,
  index_all_disabled: 403,
  insufficient_storage: 507,
  internal_server_error: 500,
  invalid_aggregate: 400,
  invalid_bookmark: 400,
  invalid_boolean: 400,
  invalid_bulk_docs: 400,
  invalid_ddoc_lang: 400,
  invalid_design_doc: 400,
  invalid_field: 400,
  invalid_field_name: 400,
  invalid_fields: 400,
  invalid_index: 400,
  invalid_index_fields_definition: 400,
  invalid_index_name: 400,
  invalid_empty_string: 400,
  invalid_string: 400,
  invalid_list_index_params: 400,
  invalid_key: 400,
  invalid_non_neg_integer: 400,
  invalid_operator: 400,
  invalid_partitioned_option: 400,
  invalid_pos_integer: 400,
  invalid_replication: 400,
  invalid_selector: 400,
  invalid_selector_json: 400,
  invalid_sort_field: 400,
  invalid_sort_json: 400,
  invalid_value: 400,
  length_required: 411,
  list_error: 404,
  method_not_allowed: 405,
  missing_required_key: 400,
  missing_stub: 412,
  modification_not_allowed: 400,
  multiple_text_indexes: 400,
  no_usable_index: 400,
  not_acceptable: 406,
  not_found: 404,
  not_implemented: 501,
  not_supported: 400,
  os_process_error: 500,
  partition_overflow: 403,
  query_parse_error: 400,
  replication_failed: 500,
  request_header_fields_too_large: 431,
  request_timeout: 408,
  too_long: 414,
  rewrite_error: 404,
  requested_range_not_satisfiable: 416,
  service_unavailable: 503,
  show_error: 404,
  text_sort_error: 400,
  timeout: 500,
  too_large: 413,
  unauthorized: 401,
  unknown_query_language: 500,
  unsupported_mixed_sort: 400,
  update_error: 404,
  upgrade_required: 426,
};

/** What functions may choose among: any other name of theirs is a failure of the function. */
const chosenStatuses: Readonly<Record<string, number>> = {
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  conflict: 409,
};

export function statusOf(refusal: RequestError): number {
  const table: Readonly<Record<string, number>> =
    refusal instanceof FunctionError ? chosenStatuses : statuses;
  return (
    (Object.hasOwn(table, refusal.error) ? table[refusal.error] : undefined) ?? statuses.internal_server_error
  );
}

/** What a client is told of a refusal, as JSON. */
export function refusalText(refusal: RequestError): string {
  const reason = refusal instanceof FunctionError ? refusal.value : refusal.reason;
  return JSON.stringify({ error: refusal.error, reason });
}
