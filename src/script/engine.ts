/** The engine that functions run in, as the package `@jitl/quickjs-wasmfile-release-sync` has it. */
export const engine = { name: 'quickjs', version: '2025-09-13' } as const;
