import { asBytes, fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import type { RequestError } from '../base/errors.js';
import type { UserContext } from '../base/user-context.js';
import type { Database } from '../node/database.js';
import { isDesignId } from '../shard/doc-id.js';
import type { NamedInput } from '../shard/document-input.js';
import type { ReadGate, Show } from '../node/read-gate.js';
import type { GateContext, SaveGate } from '../node/save-gate.js';
import type { Config } from '../config/config.js';
import { membersOf, objectOf } from '../json/members.js';
import { encodeContent, splitContent } from '../shard/content.js';
import { withoutLogin } from './endpoint.js';
import { isReplicatorName, readBody, replicatorUser } from './replicator-database.js';
import { without } from './without.js';
import { checkMembers, checkOwner, ownerRefusal, specRefusal } from './replicator-rules.js';

type IsAdmin = (user: UserContext, security: Database['security']) => boolean;

/** Stands before databases of replications: keeps their rules, and hides credentials from all users but the owner. */
export class ReplicatorGate implements SaveGate, ReadGate {
  constructor(
    private readonly config: Config,
    /** Whether a user is an admin of a database with that security object. */
    private readonly isAdmin: IsAdmin,
  ) {}

  concerns({ name }: Database, id: Bytes): boolean {
    return isReplicatorName(name) && !isDesignId(id);
  }

  /** As in CouchDB, what is asked for is judged before the revision: a malformed document is forbidden, conflict or not. */
  admit({ security }: Database, input: NamedInput, user: UserContext): RequestError | undefined {
    if (user === replicatorUser) return undefined;
    const body = readBody(input.body);
    const refusal = ownerRefusal(body, user, () => this.isAdmin(user, security));
    return refusal ?? (input.deleted ? undefined : specRefusal(body, user, this.config));
  }

  check(database: Database, input: NamedInput, context: GateContext): NamedInput {
    const { user } = context;
    if (user === replicatorUser) return input;
    const { attachments, body } = splitContent(input.body);
    const isAdmin = this.isAdmin(user, database.security);
    const before = isAdmin ? context.previous?.content : judgedBy(database, input.id, context);
    const change = {
      body: readBody(body),
      deleted: input.deleted,
      previous: before === undefined ? undefined : readBody(before),
      user,
      isAdmin,
    };
    const owner = checkOwner(change);
    checkMembers(change);
    if (input.deleted || change.body['owner'] === owner) return input;
    return { ...input, body: encodeContent(attachments, withOwner(body, owner)) };
  }

  showFor({ name, security }: Database, user: UserContext): Show | undefined {
    if (!isReplicatorName(name) || this.isAdmin(user, security)) return undefined;
    return (id, content) => {
      if (isDesignId(id) || (user.name !== null && readBody(content)['owner'] === user.name)) return content;
      const { attachments, body } = splitContent(content);
      return encodeContent(attachments, withoutCredentials(body));
    };
  }
}

/**
 * The revision that a non-admin's change is compared with. A replicated revision may continue none that is here, and
 * win all the same: there it is the document as it stands today.
 */
function judgedBy(database: Database, id: Bytes, { newEdits, previous }: GateContext): Bytes | undefined {
  if (newEdits) return previous?.content;
  const winner = database.collection.winner(id);
  if (winner === undefined || winner.deleted) return undefined;
  return database.collection.winnerBody(database.shardOf(id), winner);
}

function withOwner(body: Bytes, owner: unknown): Bytes {
  const others = membersOf(body).filter(({ name }) => name !== 'owner');
  return objectOf([...others.map(({ text }) => text), asBytes(`"owner":${toBytes(JSON.stringify(owner))}`)]);
}

const addressed: ReadonlySet<string> = new Set(['source', 'target', 'proxy', 'source_proxy', 'target_proxy']);

function withoutCredentials(body: Bytes): Bytes {
  const members = membersOf(body).map(({ name, text }) => {
    if (!addressed.has(name)) return text;
    const value = (JSON.parse(fromBytes(asBytes(`{${text}}`))) as LooseMembers)[name];
    return asBytes(`${toBytes(JSON.stringify(name))}:${toBytes(JSON.stringify(strip(value)))}`);
  });
  return objectOf(members);
}

/** An endpoint without credentials; all headers are removed, since any of them may carry credentials. */
function strip(value: unknown): unknown {
  if (typeof value === 'string') return withoutLogin(value);
  if (typeof value !== 'object' || value === null) return value;
  const others = without(value as LooseMembers, 'headers', 'auth');
  const { url } = others;
  return typeof url === 'string' ? { ...others, url: withoutLogin(url) } : others;
}

type LooseMembers = Readonly<Record<string, unknown>>;
