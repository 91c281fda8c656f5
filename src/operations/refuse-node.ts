import { StartupError } from '../base/startup-error.js';
import type { Catalogue } from '../node/catalogue.js';

/** Refuses to change the folder of a node of a cluster: its databases would no longer be those of the other nodes. */
export function refuseNode({ isOfCluster }: Catalogue, folder: string, advice: string): void {
  if (isOfCluster)
    throw new StartupError(
      `The data folder ${folder} belongs to a node of a cluster, and must not be changed alone. ${advice}`,
    );
}
