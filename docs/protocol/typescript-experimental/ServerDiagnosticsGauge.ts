// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A number in the diagnostics of the server.
 */
export type ServerDiagnosticsGauge = {
/**
 * Name of the number.
 */
name: string,
/**
 * The current value.
 */
value: number, };
