// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A number that says how the server does.
 */
export type ServerDiagnosticsGauge = {
/**
 * The name.
 */
name: string,
/**
 * The number.
 */
value: number, };
