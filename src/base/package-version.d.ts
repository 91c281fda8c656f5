/** Written by the build: the version in `package.json`. */
export declare const version: string;
