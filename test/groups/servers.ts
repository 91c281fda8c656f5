import type { HttpClient } from '../support/http-client.js';
import { startServer } from '../support/server.js';

/** Two servers to be sent the same: databases of one have a single group, those of the other three. */
export async function startServers(): Promise<{ one: HttpClient; three: HttpClient }> {
  delete process.env['TUFFET_GROUPS'];
  const one = await startServer();
  process.env['TUFFET_GROUPS'] = '3';
  const three = await startServer();
  delete process.env['TUFFET_GROUPS'];
  return { one, three };
}
