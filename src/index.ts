/** Tuffet inside your own process: `createServer` and what it takes. */
export { createServer, type ServerOptions, type TuffetServer } from './server/create-server.js';
export { StartupError } from './base/startup-error.js';
export type { Logger } from './base/logger.js';
