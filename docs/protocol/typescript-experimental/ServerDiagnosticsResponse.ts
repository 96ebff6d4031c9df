// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ServerDiagnosticsGauge } from "./ServerDiagnosticsGauge";
import type { ServerDiagnosticsProcess } from "./ServerDiagnosticsProcess";

/**
 * Result of `server/diagnostics`.
 */
export type ServerDiagnosticsResponse = {
/**
 * The numbers.
 */
gauges: Array<ServerDiagnosticsGauge>,
/**
 * The process.
 */
process: ServerDiagnosticsProcess, };
