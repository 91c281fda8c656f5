/**
 * Every failure a caller may see, by the name the interface gives it. Domain code throws these; only `http/` knows
 * which status each name has (`http/answer/statuses.ts`), and `docs/errors.md` lists them.
 */
export type ErrorName =
  | 'attachment_too_large'
  | 'bad_arg'
  | 'bad_content_type'
  | 'bad_field'
  | 'bad_rep_doc'
  | 'bad_request'
  | 'compilation_error'
  | 'conflict'
  | 'damaged_attachment'
  | 'damaged_record'
  | 'db_not_found'
  | 'doc_validation'
  | 'document_too_large'
  | 'error'
  | 'expectation_failed'
  | 'file_exists'
  | 'forbidden'
  | 'gone'
  | 'illegal_database_name'
  | 'database_name_too_long'
  | 'illegal_docid'
  | 'illegal_partition'
  | 'index_all_disabled'
  | 'insufficient_storage'
  | 'internal_server_error'
  | 'invalid_aggregate'
  | 'invalid_bookmark'
  | 'invalid_boolean'
  | 'invalid_bulk_docs'
  | 'invalid_ddoc_lang'
  | 'invalid_design_doc'
  | 'invalid_field'
  | 'invalid_field_name'
  | 'invalid_fields'
  | 'invalid_index'
  | 'invalid_index_fields_definition'
  | 'invalid_index_name'
  | 'invalid_empty_string'
  | 'invalid_string'
  | 'invalid_list_index_params'
  | 'invalid_key'
  | 'invalid_non_neg_integer'
  | 'invalid_operator'
  | 'invalid_partitioned_option'
  | 'invalid_pos_integer'
  | 'invalid_replication'
  | 'invalid_selector'
  | 'invalid_selector_json'
  | 'invalid_sort_field'
  | 'invalid_sort_json'
  | 'invalid_value'
  | 'length_required'
  | 'list_error'
  | 'method_not_allowed'
  | 'missing_required_key'
  | 'missing_stub'
  | 'modification_not_allowed'
  | 'multiple_text_indexes'
  | 'no_usable_index'
  | 'not_acceptable'
  | 'not_found'
  | 'not_implemented'
  | 'not_supported'
  | 'os_process_error'
  | 'partition_overflow'
  | 'query_parse_error'
  | 'replication_failed'
  | 'request_header_fields_too_large'
  | 'request_timeout'
  | 'too_long'
  | 'requested_range_not_satisfiable'
  | 'rewrite_error'
  | 'service_unavailable'
  | 'show_error'
  | 'text_sort_error'
  | 'timeout'
  | 'too_large'
  | 'unauthorized'
  | 'unknown_query_language'
  | 'unsupported_mixed_sort'
  | 'update_error'
  | 'upgrade_required';

/**
 * A refusal with a name and a reason, both meant for the client. Its text must never hold a secret.
 *
 * The name is typed as a plain string for readers, because functions of design documents choose names of their own;
 * only a name with a status can be used to make one.
 */
export class RequestError extends Error {
  readonly error: string;

  constructor(
    error: ErrorName,
    readonly reason: string,
  ) {
    super(`${error}: ${reason}`);
    this.name = 'RequestError';
    this.error = error;
  }
}

/** What cannot be done now, and may work a moment later. */
export class Unavailable extends RequestError {
  readonly retryAfterSeconds = 1;

  constructor(reason: string) {
    super('service_unavailable', reason);
  }
}

/**
 * What a function of a design document failed with. Name and reason are its own choice: the name need not be one of
 * ours, the reason need not be text.
 */
export class FunctionError extends RequestError {
  override readonly error: string;

  constructor(
    error: string,
    readonly value: unknown,
  ) {
    const reason = typeof value === 'string' ? value : JSON.stringify(value ?? null);
    super('error', reason);
    this.name = 'FunctionError';
    this.message = `${error}: ${reason}`;
    this.error = error;
  }
}

/** A refusal as plain data, to be sent from one thread to another. */
export interface RequestErrorData {
  error: string;
  value: unknown;
  /** Whether a function of a design document chose the name. */
  isChosen: boolean;
  /** Whether it may work a moment later. */
  isPassing: boolean;
}

export const refusalData = (refusal: RequestError): RequestErrorData =>
  refusal instanceof FunctionError
    ? { error: refusal.error, value: refusal.value, isChosen: true, isPassing: false }
    : {
        error: refusal.error,
        value: refusal.reason,
        isChosen: false,
        isPassing: refusal instanceof Unavailable,
      };

export function refusalOf({ error, value, isChosen, isPassing }: RequestErrorData): RequestError {
  if (isChosen) return new FunctionError(error, value);
  return isPassing ? new Unavailable(String(value)) : new RequestError(error as ErrorName, String(value));
}

export const badRequest = (reason: string): RequestError => new RequestError('bad_request', reason);
export const notFound = (reason: string): RequestError => new RequestError('not_found', reason);
export const conflict = (): RequestError => new RequestError('conflict', 'Document update conflict.');
export const invalidJson = (): RequestError => badRequest('invalid UTF-8 JSON');
export const notAnObject = (): RequestError => badRequest('Request body must be a JSON object');
export const keysOutOfOrder = (descending: boolean): RequestError =>
  new RequestError(
    'query_parse_error',
    `No rows can match your key range, reverse your start_key and end_key or set descending=${!descending}`,
  );
