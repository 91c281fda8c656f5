import { badRequest } from '../base/errors.js';
import { StartupError } from '../base/startup-error.js';
import type { Admission } from '../http/connection/admission.js';
import type { Services } from '../http/services.js';
import type { DataFolder } from '../node/data-folder.js';
import { checkReachable } from './clustering.js';

/** How long requests under way may go on before a server that becomes a node is looked at. */
const settleMs = 5_000;

/** How a server that was started alone becomes a node of a cluster, if it can. */
export function becomingNode(
  services: Services,
  admission: Admission,
  folder: DataFolder | undefined,
  recreate: (() => void) | undefined,
): Pick<Services, 'becomeNode'> {
  if (folder === undefined || recreate === undefined || services.cluster !== undefined) return {};
  const check = async (settings: Record<string, string>): Promise<void> => {
    checkEmpty();
    try {
      await checkReachable(settings, services.logger);
    } catch (error) {
      if (error instanceof StartupError) throw badRequest(error.message);
      throw error;
    }
    // What would be written from now on could not be kept: requests wait for the restart, unless the server stays as it is.
    admission.pause();
    try {
      // The one that asks for it is under way too.
      await admission.settled(() => 1, settleMs);
      await services.batches.flush();
      checkEmpty();
    } catch (error) {
      admission.resume();
      throw error;
    }
  };
  const checkEmpty = (): void => {
    const saved = services.registry.membership.whatIsSaved();
    if (saved !== undefined)
      throw badRequest(`It has something in the database ${saved}: a node begins with an empty data folder.`);
  };
  // The answer to the one that has asked for it is sent first.
  const restart = (): void => void services.runtime.setTimer(recreate, 100);
  return { becomeNode: { check, cancel: () => admission.resume(), restart } };
}
