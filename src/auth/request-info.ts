/** What a request says in its headers, and where it comes from. */
export interface RequestInfo {
  /** The value of a header, by its name in lower case. */
  header(name: string): string | undefined;
  /** The values of a header that came more than once. */
  headers(name: string): string[];
  /** The address of the other end of the connection. */
  readonly sender: string;
}
