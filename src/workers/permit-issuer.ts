import { checkMember, requireServerAdmin } from '../auth/rights.js';
import { RequestError } from '../base/errors.js';
import { checkLogin } from '../http/request/login.js';
import type { Services } from '../http/services.js';
import { groupsOf } from '../node/catalogue.js';
import { eventsDatabase } from '../node/db-events.js';
import type { SharedVolumes } from '../node/volumes.js';
import type { EpochWriter } from './epochs.js';
import type { Granted, Permit, PermitRequest } from './messages.js';

/**
 * Decides, in the owner of the data folder, who may read which database in a worker. All rules are those of the routes: a
 * permit is what they have decided, for as long as nothing changes that they look at.
 */
export class PermitIssuer {
  /** Those of the registry that is open. */
  volumes: SharedVolumes | undefined;
  /** Folders of volumes that no worker may open at the moment. */
  readonly closedFolders = new Set<string>();

  constructor(
    private readonly services: Services,
    private readonly epochs: EpochWriter,
  ) {}

  /** Undefined where nothing can be said at the moment. */
  async grant(asked: PermitRequest): Promise<Granted | undefined> {
    // Whatever changes from here on makes the permit void.
    const epoch = this.epochs.epochOf(asked.database);
    try {
      const permit = await this.#permit(asked);
      if (permit !== undefined && this.#isClosed(permit)) return undefined;
      return permit === undefined ? { epoch } : { epoch, permit };
    } catch (error) {
      if (error instanceof RequestError) return { epoch };
      throw error;
    }
  }

  async #permit(asked: PermitRequest): Promise<Permit | undefined> {
    const { services } = this;
    const { authenticator, registry } = services;
    // Who is meant would depend on further headers.
    if (authenticator.handlers.includes('proxy')) return undefined;
    const identity = await authenticator.authenticate(requestInfoOf(asked));
    // Its answers carry a new cookie.
    if (authenticator.isDue(identity)) return undefined;
    const { user } = identity;
    checkLogin({ services, parts: [], method: 'GET' }, user);
    const database = registry.find(asked.database);
    if (database === undefined || registry.showFor(database, user) !== undefined) return undefined;
    if (database.name === eventsDatabase) requireServerAdmin(user);
    checkMember(user, database.security);
    const { record } = database;
    const groups = groupsOf(record);
    const slots = new Set(groups.map(({ slot }) => slot));
    const indexes = groups.map(({ group }) => [group, registry.views.backends.of(group).storeFolder]);
    return {
      user,
      until: identity.until ?? identity.renewFrom ?? null,
      record,
      folders: Object.fromEntries([...slots].map((slot) => [slot, this.volumes!.folderOf(slot)!])),
      indexes: Object.fromEntries(indexes.filter(([, folder]) => folder !== undefined)) as Permit['indexes'],
    };
  }

  #isClosed({ folders, indexes }: Permit): boolean {
    const all = [...Object.values(folders), ...Object.values(indexes)];
    return this.services.registry.isClosing || all.some((folder) => this.closedFolders.has(folder));
  }
}

const requestInfoOf = ({
  authorization,
  cookie,
  sender,
}: PermitRequest): Parameters<Services['authenticator']['authenticate']>[0] => ({
  header: (name) => (name === 'authorization' ? authorization : name === 'cookie' ? cookie : undefined),
  headers: () => [],
  sender,
});
