/** Written by the build: the value of `scopePrograms` in `inside/program.ts`, as text. */
export declare const scopePrograms: readonly string[];
