/** Tuffet inside your own process: `createServer` and what it takes. */
export { createServer, type TuffetServer } from './server/create-server.js';
export type { ServerOptions } from './server/server-options.js';
export { StartupError } from './base/startup-error.js';
export type { Logger } from './base/logger.js';
