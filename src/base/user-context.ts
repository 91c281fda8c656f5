/** Who is asking. Shared between requests, and therefore never changed. */
export interface UserContext {
  /** null for anonymous. */
  readonly name: string | null;
  readonly roles: readonly string[];
}

export const serverAdminRole = '_admin';

export const anonymous: UserContext = Object.freeze({ name: null, roles: Object.freeze([]) });
