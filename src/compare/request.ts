/**
 * One request that both servers get. `{db}` stands for the database of the scene, `{host}` for the server's own address,
 * `{rev:ID}` for the newest revision that the server has given for a document and `{old:ID}` for the first one: each
 * server fills in its own.
 */
export interface CompareRequest {
  /** `GET /{db}/_all_docs`: what the report, the coverage and the intended differences go by. */
  endpoint: string;
  method: string;
  /** With its query, percent-encoded. */
  path: string;
  /** An empty value takes a default header away. */
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string is sent as it is. */
  body?: unknown;
  user?: User;
  /** The parameter that is tried, and the kind of its value. */
  parameter?: string;
  kind?: ValueKind;
}

export const users = ['server admin', 'db admin', 'member', 'outsider', 'anonymous'] as const;
export type User = (typeof users)[number];

export type ValueKind = 'right' | 'empty' | 'wrong type' | 'out of bounds' | 'malformed' | 'twice';

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  text: string;
}

export function userName(user: User): string {
  return `compare_${user.replace(' ', '_')}`;
}

export const userPassword = 'secret';
