import { version } from './package-version.js';

/** The version of this package, as its `package.json` has it. */
export const packageVersion = (): string => version;
