import { asBytes, fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import { notFound, RequestError } from '../base/errors.js';
import type { UserContext } from '../base/user-context.js';
import type { Database } from '../node/database.js';
import { isDesignId, isLocalId } from '../shard/doc-id.js';
import type { NamedInput } from '../shard/document-input.js';
import type { ReadGate, Show } from '../node/read-gate.js';
import type { GateContext, SaveGate } from '../node/save-gate.js';
import type { Config } from '../config/config.js';
import { membersOf, objectOf } from '../json/members.js';
import { encodeContent, splitContent } from '../shard/content.js';
import { cannotHash, checkPassword, readPasswordRules } from './password-rules.js';
import { digestOf, type PasswordHasher } from './passwords.js';
import { dbAdminRefusal, isDbAdmin } from './rights.js';
import { checkUserDeletion, checkUserDoc, type UserDoc } from './user-rules.js';
import { holdsUsers, publicFields, userIdOf } from './users-database.js';

/** Stands before databases of users: keeps their rules, turns passwords into hashes, and hides what is not public. */
export class UsersGate implements SaveGate, ReadGate {
  /** Whether databases hold users, by name: it is asked with every read and write of a document. */
  readonly #holds = new Map<string, boolean>();
  readonly #stopListening: () => void;

  constructor(
    private readonly config: Config,
    private readonly hasher: PasswordHasher,
  ) {
    this.#stopListening = config.onChange('chttpd_auth', undefined, () => this.#holds.clear());
  }

  close(): void {
    this.#stopListening();
  }

  concerns({ name }: Database, id: Bytes): boolean {
    return this.#holdsUsers(name) && !isDesignId(id);
  }

  concernsLocal({ name }: Database): boolean {
    return this.#holdsUsers(name);
  }

  /**
   * Documents of other users appear to be missing. Anonymous users may create one, to sign up. As in CouchDB, a password
   * that can't be accepted is refused whatever the revision.
   */
  admit({ security }: Database, input: NamedInput, user: UserContext): RequestError | undefined {
    const { id, body, deleted } = input;
    if (isLocalId(id)) return dbAdminRefusal(user, security);
    if (user.name !== null && id !== userIdOf(user.name) && !isDbAdmin(user, security))
      return notFound('missing');
    try {
      this.#passwordOf(splitContent(body).body, deleted);
      return undefined;
    } catch (error) {
      if (error instanceof RequestError) return error;
      throw error;
    }
  }

  async check(database: Database, input: NamedInput, context: GateContext): Promise<NamedInput> {
    const { attachments, body } = splitContent(input.body);
    const { security } = database;
    const { user } = context;
    const before = isDbAdmin(user, security)
      ? context.previous?.content
      : judgedBy(database, input.id, context);
    const previous = before === undefined ? undefined : parse(splitContent(before).body);
    const hashed = await this.#hashed(body, input.deleted);
    const iterations = {
      min: this.config.number('chttpd_auth/min_iterations'),
      max: this.config.number('chttpd_auth/max_iterations'),
    };
    const change = { id: fromBytes(input.id), doc: parse(hashed), previous, user, security, iterations };
    if (input.deleted) checkUserDeletion(change);
    else checkUserDoc(change);
    return { ...input, body: encodeContent(attachments, hashed) };
  }

  showFor({ name, security }: Database, user: UserContext): Show | undefined {
    if (!this.#holdsUsers(name) || isDbAdmin(user, security)) return undefined;
    const own = user.name === null ? undefined : userIdOf(user.name);
    const visible = publicFields(this.config);
    return (id, content) => {
      if (isDesignId(id)) {
        return new RequestError(
          'forbidden',
          'Only administrators can view design docs in the users database.',
        );
      }
      if (id === own) return content;
      const { attachments, body } = splitContent(content);
      const shown = membersOf(body).filter((member) => visible.has(member.name));
      if (shown.length === 0) return notFound('missing');
      return encodeContent(attachments, objectOf(shown.map(({ text }) => text)));
    };
  }

  #holdsUsers(name: string): boolean {
    let holds = this.#holds.get(name);
    if (holds !== undefined) return holds;
    if (this.#holds.size >= namesMax) this.#holds.clear();
    this.#holds.set(name, (holds = holdsUsers(this.config, name)));
    return holds;
  }

  /** The body with the password's hash in the place of the password, which is kept nowhere. */
  async #hashed(body: Bytes, deleted: boolean): Promise<Bytes> {
    const password = this.#passwordOf(body, deleted);
    if (password === undefined) return body;
    const replaced = deleted ? new Set(['password']) : hashMembers;
    const others = membersOf(body)
      .filter(({ name }) => !replaced.has(name))
      .map(({ text }) => text);
    if (deleted) return objectOf(others);
    const { preserve_salt: keepsSalt, salt } = parse(body) as { preserve_salt?: unknown; salt?: unknown };
    const kept = keepsSalt === true && typeof salt === 'string' ? salt : undefined;
    return objectOf([...(await this.#hash(password, kept)), ...others]);
  }

  /** Throws if the password is no string, or, for a document that isn't deleted, one that the rules don't allow. */
  #passwordOf(body: Bytes, deleted: boolean): string | undefined {
    const password = (parse(body) as { password?: unknown }).password ?? undefined;
    if (password === undefined) return undefined;
    if (typeof password !== 'string')
      throw new RequestError(
        'forbidden',
        `Password value of '${JSON.stringify(password).slice(0, 100)}' is invalid.`,
      );
    if (!deleted) checkPassword(password, readPasswordRules(this.config.text('chttpd_auth/password_regexp')));
    return password;
  }

  async #hash(password: string, keptSalt: string | undefined): Promise<Bytes[]> {
    const prf = this.config.text('chttpd_auth/pbkdf2_prf');
    const scheme = this.config.text('chttpd_auth/password_scheme');
    if (scheme !== 'pbkdf2' || digestOf(prf) === undefined) throw cannotHash();
    const iterations = this.config.number('chttpd_auth/iterations');
    const { hex, salt } = await this.hasher.derive(password, prf, iterations, keptSalt);
    return [
      asBytes('"password_scheme":"pbkdf2"'),
      asBytes(`"pbkdf2_prf":"${prf}"`),
      toBytes(`"salt":${JSON.stringify(salt)}`),
      asBytes(`"iterations":${iterations}`),
      asBytes(`"derived_key":"${hex}"`),
    ];
  }
}

/**
 * The revision that a non-admin's change is compared with. A replicated revision may continue any older one, and so
 * bring back roles that were taken away since: there it is the document as it stands today.
 */
function judgedBy(database: Database, id: Bytes, context: GateContext): Bytes | undefined {
  if (context.newEdits) return context.previous?.content;
  const winner = database.collection.winner(id);
  if (winner === undefined || winner.deleted) return undefined;
  return database.collection.winnerBody(database.shardOf(id), winner);
}

/** Names of databases that are remembered. */
const namesMax = 1_000;

/** What a new hash takes the place of. */
const hashMembers: ReadonlySet<string> = new Set([
  'password',
  'password_sha',
  'password_scheme',
  'pbkdf2_prf',
  'preserve_salt',
  'salt',
  'iterations',
  'derived_key',
]);

const parse = (body: Bytes): UserDoc => JSON.parse(fromBytes(body)) as UserDoc;
