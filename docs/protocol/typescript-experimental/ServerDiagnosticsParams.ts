// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `server/diagnostics`.
 */
export type ServerDiagnosticsParams = Record<symbol, never>;
